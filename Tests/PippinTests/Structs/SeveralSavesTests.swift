import CoreData
import Foundation
import TestSupport
import Testing

@testable import Pippin

private struct Cup: CoreModel, Equatable {
    let id: Int
    var name: String
}

private struct Shelf: CoreModel, Equatable {
    let id: Int
    var name: String
    var maker: Maker?
    var boards: [Board]

    static var schema: Schema<Shelf> { Schema(.owns(\.boards)) }
}

private struct Maker: CoreModel, Equatable {
    let id: Int
    var name: String
}

private struct Board: CoreModel, Equatable {
    let id: Int
    var width: Int
}

/// A block that saves one model after the other saves them as one that saves them together, and as objects of a context
/// are saved.
@Suite("Several saves in a block")
struct SeveralSavesTests {
    private let stores: BothWays

    init() throws { stores = try BothWays { PersistenceManager(models: Shelf.self, Cup.self, store: $0) } }

    private static let cups = (1...50).map { Cup(id: $0, name: "Cup \($0)") }

    /// Runs a block in either store.
    private func inBoth(_ work: (WriteAccess) throws -> Void) throws {
        try stores.rows.writeAndWait { try work($0) }
        try stores.objects.writeAndWait { store in
            store.access.savesRows = false
            try work(store)
        }
        let (rows, objects) = (try stores.contentOfRows(), try stores.contentOfObjects())
        #expect(rows.difference(from: objects).isEmpty, "\(rows.difference(from: objects))")
    }

    private func shelves() throws -> [Shelf] {
        try stores.rows.readAndWait { try $0.fetch(Shelf.self, sortedBy: .ascending(\.id)) }
    }

    @Test("go to the store as rows, in one save")
    func asRows() throws {
        let ways = try stores.goesAsRows { manager in
            try manager.writeAndWait { store in for cup in Self.cups { try store.save(cup) } }
            try manager.writeAndWait { store in
                for cup in Self.cups { try store.save(Cup(id: cup.id, name: "Mug")) }
            }
            try manager.writeAndWait { store in
                for cup in Self.cups where try store.find(Cup.self, id: cup.id)?.name == "Mug" { try store.update(cup) }
            }
            try manager.writeAndWait { store in for id in 51...60 { try store.insert(Cup(id: id, name: "New")) } }
            try manager.writeAndWait { store in
                for id in 51...70 where try !store.exists(Cup.self, id: id) {
                    try store.insert(Cup(id: id, name: "Newer"))
                }
            }
        }
        #expect(ways == [true, true, true, true, true])
        #expect(try plainNumber("SELECT COUNT(*) FROM ATRANSACTION", in: stores.file) == 5)
        #expect(try plainNumber("SELECT COUNT(*) FROM ZCUP WHERE ZNAME = 'Newer'", in: stores.file) == 10)
        let cups = "SELECT COUNT(*) FROM ZCUP WHERE ZNAME LIKE 'Cup%' AND Z_OPT = 3"
        #expect(try plainNumber(cups, in: stores.file) == 50)
    }

    @Test("leave what saves of objects leave: rows, keys, versions, changes", arguments: 1...BothWays.series)
    func random(seed: UInt64) throws {
        var numbers = SeededNumbers(seed: seed)
        var known: [Int: Shelf] = [:]
        for step in 1...8 {
            let given = (0...numbers.next(below: 5)).map { _ in
                let maker = numbers.next(below: 4)
                let id = numbers.next(below: 6)
                return Shelf(
                    id: id, name: "\(numbers.next(below: 3))",
                    maker: maker == 0 ? nil : Maker(id: maker, name: "\(numbers.next(below: 3))"),
                    boards: (0..<numbers.next(below: 4)).map {
                        // Mostly its own, sometimes another shelf's.
                        Board(id: (numbers.next(below: 8) == 0 ? 0 : id * 10) + $0, width: numbers.next(below: 3))
                    })
            }
            try inBoth { store in for shelf in given { try store.save(shelf) } }
            for shelf in given {
                let (taken, maker) = (Set(shelf.boards.map(\.id)), shelf.maker)
                for id in known.keys {
                    known[id]?.boards.removeAll { taken.contains($0.id) }
                    if let maker, known[id]?.maker?.id == maker.id { known[id]?.maker = maker }
                }
                known[shelf.id] = shelf
            }
            #expect(try shelves() == known.values.sorted { $0.id < $1.id }, "step \(step)")
        }
    }

    @Test("are seen by what the block asks next")
    func questions() throws {
        try inBoth { store in
            try store.save(Self.cups[0])
            try store.save(Self.cups[1])
            #expect(try store.find(Cup.self, id: 3) == nil)
            #expect(try store.find(Cup.self, id: 2) == Self.cups[1])
            #expect(try store.exists(Cup.self, id: 2))
            #expect(try !store.exists(Cup.self, id: 3))
            #expect(try store.count(Cup.self) == 2)
            try store.save(Self.cups[2])
            #expect(try store.find(Cup.self, id: 3) == Self.cups[2])
        }
    }

    @Test("The last of several saves of one model counts")
    func repeated() throws {
        try inBoth { store in
            try store.save(Cup(id: 1, name: "first"))
            try store.save(Cup(id: 2, name: "other"))
            try store.save(Cup(id: 1, name: "last"))
        }
        #expect(try plainSQL("SELECT ZID, ZNAME FROM ZCUP ORDER BY 1", in: stores.file) == ["1|last", "2|other"])
    }

    @Test("refuse a model that the block has inserted before, and change one that it has")
    func modes() throws {
        try inBoth { store in
            try store.insert(Cup(id: 1, name: "new"))
            let error = #expect(throws: PersistenceError.self) { try store.insert(Cup(id: 1, name: "again")) }
            #expect(error?.code == .alreadyStored)
            try store.update(Cup(id: 1, name: "changed"))
            try store.insert(Cup(id: 2, name: "new"))
        }
        #expect(try plainSQL("SELECT ZID, ZNAME FROM ZCUP ORDER BY 1", in: stores.file) == ["1|changed", "2|new"])
    }

    @Test("Saves of several types, and after deletions, have the same outcome")
    func mixed() throws {
        try inBoth { store in
            try store.save(Self.cups[0])
            let shelf = Shelf(id: 1, name: "Oak", maker: Maker(id: 1, name: "Ann"), boards: [Board(id: 1, width: 2)])
            try store.save(shelf)
            try store.save(Self.cups[1])
            try store.delete(Self.cups[0])
            try store.save(Self.cups[2])
        }
        #expect(try plainSQL("SELECT ZID FROM ZCUP ORDER BY 1", in: stores.file) == ["2", "3"])
    }

    @Test("Saves that the block takes back by an error leave nothing")
    func failed() throws {
        struct Stop: Error {}
        #expect(throws: (any Error).self) {
            try stores.rows.writeAndWait { store in
                try store.save(Self.cups[0])
                try store.save(Self.cups[1])
                throw Stop()
            }
        }
        #expect(try stores.rows.readAndWait { try $0.count(Cup.self) } == 0)
    }
}
