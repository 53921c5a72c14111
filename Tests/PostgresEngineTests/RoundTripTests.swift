import CoreDataModel
import PostgresEngine
import PostgresServer
import StoreEngine
import Testing

/// How often the server is asked must not grow with what is read and written.
@Suite("PostgreSQL is asked as often for many objects as for a few", .needsPostgres)
struct RoundTripTests {
    static let counts = [3, 150, 60_000]

    let stores: PostgresStores
    let engine: PostgresEngine

    init() throws {
        stores = try PostgresStores()
        engine = try stores.open(stores.nextURL(), Notes.model)
        // Statements are prepared once.
        _ = try engine.save(Notes.changes(engine, ["warm"]))
        _ = try engine.save(Notes.update(engine.fetchRows(Notes.plan()), to: "warm"))
    }

    private func asked(_ body: () throws -> Void) rethrows -> Int {
        let before = engine.roundTrips
        try body()
        return engine.roundTrips - before
    }

    private func filled(_ count: Int) throws -> ContiguousArray<Row> {
        _ = try engine.save(Notes.changes(engine, (0..<count).map { "note \($0)" }))
        return try engine.fetchRows(Notes.plan("text BEGINSWITH 'note'"))
    }

    @Test(
        "Saving new ones takes the keys, and the transaction with its rows; many rows are copied before its end",
        arguments: counts)
    func inserting(count: Int) throws {
        let texts = (0..<count).map { "note \($0)" }
        var changes = ChangeSet()
        #expect(try asked { changes = try Notes.changes(engine, texts) } <= 2)
        #expect(try asked { _ = try engine.save(changes) } <= (count < 200 ? 1 : 4))
    }

    @Test("Changing them takes the transaction alone", arguments: counts)
    func changing(count: Int) throws {
        let rows = try filled(count)
        #expect(rows.count == count)
        #expect(try asked { _ = try engine.save(Notes.update(rows, to: "changed")) } == 1)
    }

    @Test("Changing and deleting one takes the transaction, also the first time")
    func one() throws {
        let rows = try filled(1)
        #expect(try asked { _ = try engine.save(Notes.update(rows, to: "changed")) } == 1)
        let changed = try engine.fetchRows(Notes.plan("text = 'changed'"))
        var changes = ChangeSet()
        changes.deleted = changed.map { RowDeletion(objectID: $0.objectID, version: $0.version) }
        #expect(try asked { _ = try engine.save(changes) } == 1)
    }

    @Test(
        "Fetching them, and finding them by identifier or by their values, takes two questions at most",
        arguments: counts)
    func reading(count: Int) throws {
        let rows = try filled(count)
        #expect(try asked { _ = try engine.fetchRows(Notes.plan("text BEGINSWITH 'note'")) } <= 2)
        #expect(try asked { _ = try engine.rows(for: rows.map(\.objectID)) } <= 2)
        var found = 0
        #expect(try asked { try engine.forEachRow(for: rows.map(\.objectID)) { _, _ in found += 1 } } <= 2)
        #expect(found == count)
        let note = try Notes.entity("Note")
        found = 0
        let times = try asked {
            try engine.forEachRow(of: note, where: 0, isAmong: rows.map { $0.values[0] }) { _ in found += 1 }
        }
        #expect(times <= 2)
        #expect(found == count)
    }

    @Test(
        "Handing them out one by one reads many in portions, which the server finds in advance", arguments: counts)
    func handingOut(count: Int) throws {
        _ = try filled(count)
        let plan = try Notes.plan("text BEGINSWITH 'note'")
        for _ in 0..<2 {
            var found = 0
            let times = try asked {
                try engine.forEachRow(plan) { _ in
                    found += 1
                    return true
                }
            }
            #expect(found == count)
            #expect(times <= 8 + count / 1024)
        }
    }

    @Test("Handing out all of them copies them where they were many the last time", arguments: counts)
    func copying(count: Int) throws {
        _ = try filled(count)
        for _ in 0..<2 {
            var texts: Set<String> = []
            let times = try asked {
                try engine.forEachRow(Notes.plan()) { row in
                    if let text = row.string(at: 0) { texts.insert(text) }
                    return true
                }
            }
            #expect(texts.count == count + 1)
            #expect(times <= 2)
        }
        // Each once, with what it holds.
        #expect(try engine.fetchCount(Notes.plan()) == count + 1)
    }

    @Test("Reading what is in them takes the same few questions", arguments: counts)
    func members(count: Int) throws {
        let (folder, note) = (try Notes.entity("Folder"), try Notes.entity("Note"))
        let folders = try engine.makePermanentIdentifiers(
            for: Array(repeating: folder, count: max(count / 10, 1)), isSavedLater: false)
        let notes = try engine.makePermanentIdentifiers(for: Array(repeating: note, count: count), isSavedLater: false)
        var changes = ChangeSet()
        changes.inserted = folders.map {
            RowChange(objectID: $0, version: 0, values: [.string("folder")], changedSlots: [], toManyChanges: [])
        }
        for (number, identifier) in notes.enumerated() {
            changes.inserted.append(
                RowChange(
                    objectID: identifier, version: 0,
                    values: [.string("note"), .null, .identifier(folders[number % folders.count])], changedSlots: [],
                    toManyChanges: []))
        }
        _ = try engine.save(changes)
        let relationship = try #require(folder.relationship(named: "notes"))
        var owners: [Int] = []
        let times = try asked {
            try engine.forEachDestination(of: relationship, for: folders) { place, row in
                owners.append(place)
                let text = try row.value(at: 0)
                #expect(text == .string("note"))
            }
        }
        #expect(times <= 2)
        #expect(owners.count == count)
        #expect(owners == owners.sorted())
        #expect(try asked { _ = try engine.destinations(of: relationship, for: folders) } <= 2)
    }

    @Test("Inserting them as a batch takes one COPY, whatever is asked of the store in between", arguments: counts)
    func batch(count: Int) throws {
        let plan = BatchInsertPlan(entity: try Notes.entity("Note"))
        var next = 0
        let times = try asked {
            let outcome = try engine.insertBatch(plan) { row in
                guard next < count else { return false }
                row.values[0] = .string("note \(next)")
                next += 1
                return true
            }
            #expect(outcome.count == count)
        }
        #expect(times <= 5)
        #expect(try engine.fetchCount(Notes.plan("text BEGINSWITH 'note'")) == count)
    }

    @Test("Later rows have higher keys than those of a batch")
    func keys() throws {
        var plan = BatchInsertPlan(entity: try Notes.entity("Note"))
        for (text, wantsIdentifiers) in [("first", false), ("second", true)] {
            plan.wantsIdentifiers = wantsIdentifiers
            var isFirst = true
            _ = try engine.insertBatch(plan) { row in
                defer { isFirst = false }
                row.values[0] = .string(text)
                return isFirst
            }
        }
        _ = try engine.save(Notes.changes(engine, ["third"]))
        let rows = try engine.fetchRows(Notes.plan("text IN {'first', 'second', 'third'}", sortedBy: "text"))
        #expect(rows.map(\.objectID.key) == rows.map(\.objectID.key).sorted())
    }

    @Test("A batch may ask for what it has inserted so far")
    func asking() throws {
        let plan = BatchInsertPlan(entity: try Notes.entity("Note"))
        var next = 0
        _ = try engine.insertBatch(plan) { row in
            guard next < 30_000 else { return false }
            row.values[0] = .string("a longer text of note \(next)")
            next += 1
            guard next % 10_000 == 0 else { return true }
            let soFar = try engine.fetchCount(Notes.plan("text CONTAINS 'longer'"))
            #expect(soFar > 0)
            return true
        }
        #expect(try engine.fetchCount(Notes.plan("text CONTAINS 'longer'")) == 30_000)
    }
}
