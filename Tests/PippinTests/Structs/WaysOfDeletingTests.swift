import Foundation
import TestSupport
import Testing

@testable import Pippin

private struct Gallery: CoreModel, Equatable {
    let id: Int
    var name: String
    var shelves: [Rack]
    var guide: Reference<Penman>?

    static var schema: Schema<Gallery> { Schema(.owns(\.shelves)) }
}

private struct Rack: CoreModel, Equatable {
    let id: Int
    var label: String?
    var volumes: [Folio]

    static var schema: Schema<Rack> { Schema(.owns(\.volumes)) }
}

private struct Folio: CoreModel, Equatable {
    let id: Int
    var title: String
    var topics: [Motif]
    var writer: Reference<Penman>?
}

private struct Motif: CoreModel, Equatable {
    let id: String
    var weight: Int
}

private struct Penman: CoreModel, Equatable {
    let id: Int
    var name: String
    var born: Realm?
}

private struct Realm: CoreModel, Equatable {
    let id: String
}

private struct Lending: CoreModel, Equatable {
    let id: Int
    var writer: Reference<Penman>
}

@Suite("Deleting models as rows, and as objects of a context")
struct WaysOfDeletingTests {
    private let stores: BothWays

    init() throws {
        stores = try BothWays { PersistenceManager(models: Gallery.self, Penman.self, Lending.self, store: $0) }
        try stores.save((0..<5).map { Penman(id: $0, name: "w\($0)", born: Realm(id: "c\($0 % 2)")) })
        try stores.save((0..<6).map { hall($0) })
    }

    private func hall(_ id: Int, shelves: ClosedRange<Int> = 0...2) -> Gallery {
        Gallery(
            id: id, name: "hall",
            shelves: shelves.map { shelf in
                Rack(
                    id: id * 10 + shelf, label: shelf == 1 ? nil : "s",
                    volumes: (0..<shelf + 1).map { volume in
                        let number = id * 100 + shelf * 10 + volume
                        return Folio(
                            id: number, title: "v",
                            topics: (0..<number % 3).map { Motif(id: "t\((number + $0) % 4)", weight: 1) },
                            writer: number % 2 == 0 ? Reference(id: number % 5) : nil)
                    })
            }, guide: id % 2 == 0 ? Reference(id: id % 5) : nil)
    }

    /// Changes both stores, one by rows and one by objects, and says what the first save wrote.
    private func changeBoth<Result: Equatable>(
        sourceLocation: SourceLocation = #_sourceLocation, _ work: (WriteAccess) throws -> Result
    ) throws {
        var byRows: Result?
        let isRows = try stores.goesAsRows { manager in byRows = try manager.writeAndWait(work) }
        let byObjects = try stores.objects.writeAndWait { store in
            store.access.savesRows = false
            return try work(store)
        }
        #expect(byRows == byObjects, sourceLocation: sourceLocation)
        #expect(isRows == [true], sourceLocation: sourceLocation)
        let (rows, objects) = (try stores.contentOfRows(), try stores.contentOfObjects())
        #expect(rows == objects, sourceLocation: sourceLocation)
    }

    private func saveBoth(_ galleries: Gallery..., sourceLocation: SourceLocation = #_sourceLocation) throws {
        try changeBoth(sourceLocation: sourceLocation) { store -> Int in
            try store.save(galleries)
            return galleries.count
        }
    }

    @Test("leave the same behind: what is owned goes along, others lose what is gone")
    func deletions() throws {
        try changeBoth { try $0.delete(Folio.self, id: 0) }
        try changeBoth { try $0.delete(Penman.self, ids: [1, 2, 2, 77]) }
        try changeBoth { try $0.delete(Motif.self, where: \.id == "t1") }
        try changeBoth { try $0.delete(Gallery.self, ids: [1, 3]) }
        try changeBoth { store -> [Bool] in
            // Deleted one by one: what was deleted along is not found any more.
            [
                try store.delete(Rack.self, id: 21), try store.delete(Gallery.self, id: 2),
                try store.delete(Rack.self, id: 20),
            ]
        }
        try changeBoth { try $0.deleteAll(Gallery.self) }
        #expect(try plainNumber("SELECT count(*) FROM ZFOLIO", in: stores.file) == 0)
    }

    @Test("leave the same behind where a save takes models out of their owners, to another one or for good")
    func leaving() throws {
        var (first, second) = (hall(1), hall(2))
        first.shelves.removeLast()
        try saveBoth(first)
        // A shelf moves to another hall, which is saved with the one that it leaves, or alone.
        second.shelves.insert(first.shelves.removeFirst(), at: 1)
        try saveBoth(first, second)
        var third = hall(3)
        third.shelves.append(second.shelves.removeFirst())
        try saveBoth(third)
        third.shelves[0].volumes.append(contentsOf: third.shelves[1].volumes.dropFirst())
        third.shelves[1].volumes = []
        third.shelves[0].volumes.swapAt(0, 1)
        try saveBoth(third)
        #expect(try stores.rows.readAndWait { try $0.find(Gallery.self, id: 3) } == third)
        #expect(try stores.rows.readAndWait { try $0.find(Gallery.self, id: 2) } == second)
    }

    @Test("leave the same behind where all other models of a type go")
    func replacing() throws {
        try changeBoth { store -> Int in
            try store.replaceAll(with: [hall(1, shelves: 1...2), hall(9)])
            return 0
        }
        try changeBoth { store -> Int in
            try store.replaceAll(with: [1, 9].map { Penman(id: $0, name: "new", born: nil) })
            return 0
        }
        try changeBoth { store -> Int in
            try store.replaceAll(with: [Gallery]())
            return 0
        }
        #expect(try plainNumber("SELECT count(*) FROM ZRACK", in: stores.file) == 0)
    }

    @Test("see what the block has deleted before, in whatever it asks and does next")
    func laterQuestions() throws {
        try changeBoth { store -> [Int] in
            let deleted = try store.delete(Gallery.self, id: 1) ? 1 : 0
            return [deleted, try store.count(Rack.self), try store.fetch(Folio.self).count]
        }
        try changeBoth { store in
            try store.delete(Gallery.self, id: 2)
            try store.save(hall(7))
            return [try store.delete(Rack.self, where: \.label == nil)]
        }
    }

    @Test("are refused in the same words for a model that another one requires, with nothing deleted")
    func required() throws {
        try stores.save([Lending(id: 1, writer: Reference(id: 3))])
        let before = try stores.contentOfRows()
        func error(_ manager: PersistenceManager, _ isRows: Bool) -> PersistenceError? {
            #expect(throws: PersistenceError.self) {
                try manager.writeAndWait { store in
                    store.access.savesRows = isRows
                    try store.delete(Penman.self, ids: [0, 3])
                }
            }
        }
        let (rows, objects) = (error(stores.rows, true), error(stores.objects, false))
        #expect(rows?.code == .invalid)
        #expect(rows?.message == objects?.message)
        #expect(try stores.contentOfRows() == before)
        try changeBoth { store in
            [try store.delete(Penman.self, id: 3), try store.delete(Lending.self, id: 1)]
        }
    }
}
