import CoreDataModel
import Foundation
import PostgresConnection
import PostgresEngine
import PostgresServer
import StoreEngine
import Testing

/// Notes with a text and stars, in folders.
enum Notes {
    static let model: NSManagedObjectModel = {
        let (note, folder) = (NSEntityDescription(), NSEntityDescription())
        (note.name, folder.name) = ("Note", "Folder")
        func attribute(_ name: String, _ type: NSAttributeType) -> NSAttributeDescription {
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
            return attribute
        }
        let text = attribute("text", .stringAttributeType)
        text.preservesValueInHistoryOnDeletion = true
        note.properties = [text, attribute("stars", .integer16AttributeType)]
        folder.properties = [attribute("name", .stringAttributeType)]
        let (notes, place) = (NSRelationshipDescription(), NSRelationshipDescription())
        (notes.name, notes.maxCount, notes.destinationEntity) = ("notes", 0, note)
        (place.name, place.maxCount, place.destinationEntity) = ("folder", 1, folder)
        (notes.deleteRule, place.deleteRule) = (.cascadeDeleteRule, .nullifyDeleteRule)
        folder.properties.append(notes)
        note.properties.append(place)
        (notes.inverseRelationship, place.inverseRelationship) = (place, notes)
        let model = NSManagedObjectModel()
        model.entities = [note, folder]
        return model
    }()

    static func entity(_ name: String) throws -> EntityLayout {
        try #require(model.compiledLayout().entityByName[name])
    }

    /// Rows to insert, of notes with a text and stars.
    static func changes(_ engine: PostgresEngine, _ texts: [String]) throws -> ChangeSet {
        let note = try entity("Note")
        let identifiers = try engine.makePermanentIdentifiers(for: texts.map { _ in note }, isSavedLater: false)
        var changes = ChangeSet()
        changes.inserted = zip(identifiers, texts).enumerated().map { index, pair in
            RowChange(
                objectID: pair.0, version: 0, values: [.string(pair.1), .integer(Int64(index % 6)), .null],
                changedSlots: [],
                toManyChanges: [])
        }
        return changes
    }

    /// A change of the text of rows.
    static func update(_ rows: some Sequence<Row>, to text: String) -> ChangeSet {
        var changes = ChangeSet()
        changes.updated = rows.map { row in
            var values = row.values
            values[0] = .string(text)
            return RowChange(
                objectID: row.objectID, version: row.version, values: values, changedSlots: [0], toManyChanges: [])
        }
        return changes
    }

    static func plan(_ format: String? = nil, sortedBy key: String? = nil) throws -> FetchPlan {
        var plan = FetchPlan(entity: try entity("Note"))
        plan.predicate = format.map { NSPredicate(format: $0) }
        plan.sortDescriptors = key.map { [NSSortDescriptor(key: $0, ascending: true)] } ?? []
        return plan
    }
}

@Suite("The engine of PostgreSQL", .needsPostgres)
struct EngineTests {
    let stores: PostgresStores
    let engine: PostgresEngine
    let url: URL

    init() throws {
        stores = try PostgresStores()
        url = stores.nextURL()
        engine = try stores.open(url, Notes.model, options: [NSPersistentHistoryTrackingKey: true])
    }

    private func texts(_ engine: PostgresEngine, _ format: String? = nil) throws -> [String] {
        try engine.fetchRows(Notes.plan(format, sortedBy: "text")).map { row in
            if case .string(let text) = row.values[0] { return text }
            return "-"
        }
    }

    @Test("evaluates itself what SQL does not say exactly, in the rows that the database leaves")
    func division() throws {
        _ = try engine.save(Notes.changes(engine, ["Äpfel", "apfel", "Birne", "STRASSE", "straße"]))
        #expect(try texts(engine, "text CONTAINS[cd] 'APF'") == ["apfel", "Äpfel"])
        #expect(try texts(engine, "text LIKE '*ra?e' AND stars > 1") == ["straße"])
        #expect(try texts(engine, "text ==[c] 'BIRNE' OR stars == 0") == ["Birne", "Äpfel"])
        #expect(try engine.fetchCount(Notes.plan("text MATCHES '[a-z]+'")) == 1)
    }

    @Test("evaluates itself what fails for a row in the database, also where rows are read in portions")
    func failing() throws {
        var changes = try Notes.changes(engine, ["a", "b"])
        changes.inserted[1] = RowChange(
            objectID: changes.inserted[1].objectID, version: 0, values: [.string("b"), .integer(-32768), .null],
            changedSlots: [], toManyChanges: [])
        _ = try engine.save(changes)
        // The database has no smallint for the result.
        let plan = try Notes.plan("-stars > 1")
        #expect(try engine.fetchRows(plan).map(\.values[0]) == [.string("b")])
        #expect(try engine.portions(plan).next(10).map(\.values[0]) == [.string("b")])
        var found: [StoredValue] = []
        try engine.forEachRow(plan) { row in
            if let value = try? row.value(at: 0) { found.append(value) }
            return true
        }
        #expect(found == [.string("b")])
    }

    @Test("changes rows in the order of their keys, so that programs do not block one another")
    func order() throws {
        _ = try engine.save(Notes.changes(engine, ["a", "b", "c"]))
        let rows = try engine.fetchRows(Notes.plan(sortedBy: "text"))
        _ = try engine.save(Notes.update(rows.reversed(), to: "d"))
        let schema = quotedName(try StorePlace(url, nil).schema)
        let keys = try stores.database.rows("SELECT _id::text FROM \(schema).note ORDER BY ctid").map { $0[0] }
        #expect(keys == rows.map { "\($0.objectID.key)" })
    }

    @Test("keeps the order of a save whose keys, versions and rows another program changes at the same moment")
    func conflict() throws {
        _ = try engine.save(Notes.changes(engine, ["a", "b"]))
        let rows = try engine.fetchRows(Notes.plan(sortedBy: "text"))
        let other = try stores.open(url, Notes.model)
        _ = try other.save(Notes.update(rows.prefix(1), to: "other"))
        let refusal = #expect(throws: SaveRefusal.self) { _ = try engine.save(Notes.update(rows, to: "mine")) }
        guard case .optimisticLocking(let conflicts)? = refusal else {
            Issue.record("\(String(describing: refusal))")
            return
        }
        #expect(conflicts.map(\.objectID) == [rows[0].objectID])
        #expect(conflicts.first?.current?.values.first == .string("other"))
        #expect(try texts(engine) == ["b", "other"])
    }

    @Test("reads a former state while others write")
    func pinning() throws {
        _ = try engine.save(Notes.changes(engine, ["a"]))
        let generation = try #require(try engine.pinning?.pinGeneration())
        _ = try stores.open(url, Notes.model).save(Notes.changes(engine, ["b"]))
        #expect(try texts(engine) == ["a", "b"])
        engine.readGeneration = generation
        #expect(try texts(engine) == ["a"])
        #expect(try texts(engine, "text LIKE[c] '*'") == ["a"])
        engine.readGeneration = nil
        #expect(try texts(engine) == ["a", "b"])
    }

    @Test("hears of what others save, and not of what it saves itself")
    func news() async throws {
        let listening = try stores.open(
            url, Notes.model, options: [NSPersistentStoreRemoteChangeNotificationPostOptionKey: true])
        let (heard, continuation) = AsyncStream<Void>.makeStream()
        listening.changeNotifications?.observeChanges(whileIdle: { $0() }, handler: { continuation.yield() })
        _ = try listening.save(Notes.changes(listening, ["own"]))
        _ = try engine.save(Notes.changes(engine, ["other"]))
        var iterator = heard.makeAsyncIterator()
        await iterator.next()
        #expect(try texts(listening) == ["other", "own"])
    }

    @Test("keeps a history of saves and batches, numbered in the order in which they are visible")
    func history() throws {
        var changes = try Notes.changes(engine, ["a", "b"])
        (changes.author, changes.contextName) = ("Ada", "main")
        _ = try engine.save(changes)
        let rows = try engine.fetchRows(Notes.plan(sortedBy: "text"))
        _ = try engine.save(Notes.update(rows, to: "c"))
        _ = try engine.batches?.deleteBatch(BatchDeletePlan(rows: Notes.plan("stars == 0")))
        let history = try #require(engine.history)
        #expect(try history.historyTransactions(after: nil).map(\.number) == [1, 2, 3])
        #expect(try history.historyTransactions(after: nil).first?.author == "Ada")
        let found = try history.historyChanges(after: .transaction(1))
        #expect(found.map(\.kind) == [.update, .update, .delete])
        #expect(found.map(\.changedNames) == [["text"], ["text"], nil])
        #expect(found.last?.tombstone == ["text": .string("c")])
        // Programs that do not ask for a history write it down, too, once one has asked.
        let other = try stores.open(url, Notes.model)
        _ = try other.save(Notes.changes(other, ["d"]))
        #expect(try history.latestTransaction() == 4)
        try history.deleteHistory(before: .transaction(4))
        #expect(try history.oldestKeptTransaction() == 4)
        try history.deleteHistory(before: nil)
        #expect(try history.latestTransaction() == 4)
        #expect(try history.oldestKeptTransaction() == 5)
    }

    @Test("tries again what was in the way of another transaction")
    func deadlock() async throws {
        _ = try engine.save(Notes.changes(engine, ["a", "b"]))
        let url = url
        let stores = stores
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    let engine = try stores.open(url, Notes.model)
                    var saved = 0
                    while saved < 25 {
                        var rows = Array(try engine.fetchRows(Notes.plan()))
                        if writer % 2 == 0 { rows.reverse() }
                        do {
                            _ = try engine.save(Notes.update(rows, to: "\(writer) \(saved)"))
                            saved += 1
                        } catch is SaveRefusal { continue }
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try engine.fetchRows(Notes.plan()).map(\.version) == [101, 101])
    }
}
