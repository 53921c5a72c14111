import CoreData
import Foundation
import TestSupport
import Testing

@testable import Pippin

private struct Tray: CoreModel, Equatable {
    let id: Int
    var name: String
    var weight: Int
    var maker: Potter?
    var jars: [Jar]

    static var schema: Schema<Tray> { Schema(.owns(\.jars)) }
}

private struct Potter: CoreModel, Equatable {
    let id: Int
    var name: String
}

private struct Jar: CoreModel, Equatable {
    let id: Int
    var size: Int
}

/// A block's questions see what it has changed, which nobody else does before it ends.
@Suite("The unsaved changes of a block", .ownThread)
struct UnsavedChangesTests {
    private let stores: BothWays

    init() throws { stores = try BothWays { PersistenceManager(models: Tray.self, store: $0) } }

    private static func tray(_ id: Int, _ name: String = "Oak", maker: Potter? = nil, jars: [Jar] = []) -> Tray {
        Tray(id: id, name: name, weight: id, maker: maker, jars: jars)
    }

    @Test("A block that saves, asks, updates and deletes saves once, as rows")
    func once() throws {
        let ann = Potter(id: 1, name: "Ann")
        let ways = try stores.goesAsRows { manager in
            try manager.writeAndWait { store in
                try store.save(Self.tray(1, maker: ann, jars: [Jar(id: 1, size: 1), Jar(id: 2, size: 2)]))
                #expect(try store.count(Jar.self) == 2)
                try store.save(Self.tray(2, maker: ann))
                try store.update(Tray.self, where: \.maker?.name == "Ann") { $0.add(10, to: \.weight) }
                #expect(try store.sum(Tray.self, \.weight) == 23)
                try store.update(Tray.self, where: \.id == 2) { $0.set(\.maker, to: nil) }
                #expect(try store.fetch(Tray.self, where: \.maker?.name == "Ann").map(\.id) == [1])
                try store.save(Self.tray(3))
                try store.delete(Tray.self, where: \.weight == 3)
                try store.delete(Tray.self, id: 2)
                #expect(try store.fetch(Tray.self).map(\.id) == [1])
            }
        }
        #expect(ways == [true])
        #expect(try plainNumber("SELECT COUNT(*) FROM ATRANSACTION", in: stores.file) == 1)
        #expect(try plainSQL("SELECT ZID, ZWEIGHT, Z_OPT FROM ZTRAY", in: stores.file) == ["1|11|1"])
        #expect(try plainSQL("SELECT ZID, Z_OPT FROM ZJAR ORDER BY 1", in: stores.file) == ["1|1", "2|1"])
    }

    @Test("Nobody else sees them: neither another manager nor this one")
    func others() throws {
        let (manager, other) = (stores.rows, PersistenceManager(models: Tray.self, store: .file(stores.file)))
        other.container.persistentStoreDescriptions.first?.setOption(
            true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        try manager.writeAndWait { store in
            try store.save(Self.tray(1))
            for _ in 1...2 {
                #expect(try store.count(Tray.self) == 1)
                #expect(try other.readAndWait { try $0.count(Tray.self) } == 0)
                #expect(try manager.readAndWait { try $0.count(Tray.self) } == 0)
            }
            try store.save(Self.tray(2))
            #expect(try store.count(Tray.self) == 2)
        }
        #expect(try other.readAndWait { try $0.count(Tray.self) } == 2)
    }

    @Test("Another program saves while the block asks nothing, and the block runs again")
    func interrupted() throws {
        let other = PersistenceManager(models: Tray.self, store: .file(stores.file))
        other.container.persistentStoreDescriptions.first?.setOption(
            true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
        try stores.rows.writeAndWait { try $0.save(Self.tray(1)) }
        var (runs, time) = (0, Duration.zero)
        try stores.rows.writeAndWait { store in
            runs += 1
            try store.save(Self.tray(2))
            #expect(try store.count(Tray.self) == runs + 1)
            if runs == 1 {
                // On a thread of its own: a save of the block's own code would not be repeated.
                let done = DispatchSemaphore(value: 0)
                Thread.detachNewThread {
                    let saved = Result { try other.writeAndWait { try $0.save(Self.tray(3)) } }
                    #expect(throws: Never.self) { try saved.get() }
                    done.signal()
                }
                time = ContinuousClock().measure { done.wait() }
            }
            #expect(try store.count(Tray.self) == 3)
        }
        #expect(runs == 2)
        #expect(time < .seconds(5), "the other program waited for \(time)")
        #expect(try stores.rows.readAndWait { try $0.count(Tray.self) } == 3)
    }

    @Test("A block that throws leaves nothing, whatever it has asked")
    func thrown() throws {
        struct Stop: Error {}
        #expect(throws: Stop.self) {
            try stores.rows.writeAndWait { store in
                try store.save(Self.tray(1))
                _ = try store.count(Tray.self)
                throw Stop()
            }
        }
        #expect(try stores.rows.readAndWait { try $0.count(Tray.self) } == 0)
        try stores.rows.writeAndWait { try $0.save(Self.tray(2)) }
        #expect(try stores.rows.readAndWait { try $0.fetch(Tray.self).map(\.id) } == [2])
    }

    @Test("Questions and outcomes are those of objects", arguments: 1...BothWays.series)
    func random(seed: UInt64) throws {
        for manager in [stores.rows, stores.objects] { try manager.writeAndWait { try $0.save(Self.tray(0)) } }
        for step in 0..<8 {
            func run(_ manager: PersistenceManager, asRows: Bool) throws -> [String] {
                try manager.writeAndWait { store in
                    // A block may run again, and does the same then.
                    var numbers = SeededNumbers(seed: seed * 100 + UInt64(step))
                    store.access.savesRows = asRows
                    return try (0...numbers.next(below: 7)).map { _ in try Self.act(store, &numbers) }
                }
            }
            let (answers, expected) = (
                try run(stores.rows, asRows: true), try run(stores.objects, asRows: false)
            )
            #expect(answers == expected, "step \(step)")
            // A server has no file to look into.
            if ProcessInfo.processInfo.environment["PIPPIN_STORE"] != nil { continue }
            let versions =
                "SELECT 'tray', ZID, Z_OPT FROM ZTRAY UNION SELECT 'jar', ZID, Z_OPT FROM ZJAR "
                + "UNION SELECT 'potter', ZID, Z_OPT FROM ZPOTTER ORDER BY 1, 2"
            let (rows, objects) = (
                try plainSQL(versions, in: stores.file), try plainSQL(versions, in: stores.fileOfObjects)
            )
            #expect(rows == objects, "step \(step): \(answers)")
        }
    }

    /// One act of a block, and its answer.
    private static func act(_ store: WriteAccess, _ numbers: inout SeededNumbers) throws -> String {
        let id = numbers.next(below: 6)
        switch numbers.next(below: 12) {
        case ..<4:
            let maker = numbers.next(below: 4)
            let tray = Tray(
                id: id, name: "\(numbers.next(below: 3))", weight: numbers.next(below: 4),
                maker: maker == 0 ? nil : Potter(id: maker, name: "\(numbers.next(below: 2))"),
                jars: (0..<numbers.next(below: 4)).map {
                    Jar(id: (numbers.next(below: 8) == 0 ? 0 : id * 10) + $0, size: numbers.next(below: 3))
                })
            try store.save(tray)
            return "save \(id)"
        case 4: return "delete \(try store.delete(Tray.self, id: id))"
        case 5: return "delete \(try store.delete(Tray.self, where: \.weight == id))"
        case 6: return "delete \(try store.delete(Potter.self, id: id))"
        case 7:
            return "update \(try store.update(Tray.self, where: \.weight > id) { $0.add(1, to: \.weight) })"
        case 8:
            let potter = try store.find(Potter.self, id: 1)
            return "update \(try store.update(Tray.self, where: \.id < id) { $0.set(\.maker, to: potter) })"
        case 9: return "find \(try store.find(Tray.self, id: id).map { "\($0)" } ?? "none")"
        case 10:
            let heavy = try store.fetch(
                Tray.self, where: \.maker?.name == "1", sortedBy: [.descending(\.weight), .ascending(\.id)])
            return "fetch \(heavy)"
        default: return "sum \(try store.sum(Tray.self, \.weight) ?? -1) of \(try store.count(Jar.self))"
        }
    }
}
