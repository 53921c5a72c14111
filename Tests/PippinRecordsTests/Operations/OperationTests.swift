import PippinRecords
import Testing

@Suite("Operations")
struct OperationTests {
    private let shelf: Shelf
    private var manager: PersistenceManager { shelf.manager }
    private let queue = OperationQueue()
    struct Refused: Error {}

    init() throws {
        shelf = try Shelf()
        try shelf.save([.ada, .blaise])
    }

    private func run(_ operations: Operation...) { queue.addOperations(operations, waitUntilFinished: true) }
    private func names() throws -> [String] { try shelf.strings("SELECT ZNAME FROM ZPERSONRECORD ORDER BY ZID") }

    @Test("save what they change up to the store, and have a result")
    func custom() throws {
        let operation = DataOperation(manager: manager) { context, _ in
            let people = try PersonRecord.all(in: context)
            for person in people { person.setValue("X", forKey: "name") }
            return people.count
        }
        #expect(operation.result == nil)
        run(operation)
        #expect(try operation.result?.get() == 2)
        #expect(operation.progress.isFinished)
        #expect(try names() == ["X", "X"])
    }

    @Test("save nothing where they throw or are cancelled")
    func failing() throws {
        let throwing = DataOperation<Int>(manager: manager) { context, _ in
            try PersonRecord.deleteAll(in: context)
            throw Refused()
        }
        let cancelled = DataOperation<Int>(manager: manager) { context, progress in
            progress.cancel()
            return try PersonRecord.deleteAll(in: context)
        }
        run(throwing, cancelled)
        #expect(throws: Refused.self) { try throwing.result?.get() }
        #expect(throws: CancellationError.self) { try cancelled.result?.get() }
        #expect(try names() == ["Ada", "Blaise"])
    }

    @Test("are subclassed, and say so where there is nothing to do")
    func subclass() throws {
        final class Counting: DataOperation<Int>, @unchecked Sendable {
            override func performWork(in context: NSManagedObjectContext) throws -> Int {
                try PersonRecord.count(in: context)
            }
        }
        let counting = Counting(manager: manager)
        let empty = ChangesetOperation(manager: manager)
        run(counting, empty)
        #expect(try counting.result?.get() == 2)
        #expect(throws: PersistenceError.noWork(operation: "ChangesetOperation")) { try empty.result?.get() }
    }

    @Test("tell what they changed")
    func changeset() throws {
        let operation = ChangesetOperation(manager: manager) { context in
            try PersonRecord.insertOrUpdate(uid: "c", in: context) { $0.setValue("Carl", forKey: "name") }
            try PersonRecord.insertOrUpdate(uid: "a", in: context) { $0.setValue("Lovelace", forKey: "name") }
            try PersonRecord.deleteAll(where: NSPredicate(format: "id == 'b'"), in: context)
        }
        run(operation)
        let changes = try #require(try operation.result?.get())
        #expect(changes.inserted.count == 1)
        #expect(changes.updated.count == 1)
        #expect(changes.deleted.count == 1)
        let new = try #require(changes.inserted.first)
        let context = manager.newWorkerContext()
        let name = try context.performAndWait { try context.existingObject(with: new).value(forKey: "name") as? String }
        #expect(name == "Carl")
        #expect(try names() == ["Lovelace", "Carl"])
    }

    @Test("import one model, and many in batches, counting them")
    func imports() throws {
        let one = ImportOperation(manager: manager, entity: PersonRecord.self, model: .carl)
        let many = ImportOperation(
            manager: manager, entity: PersonRecord.self,
            models: (0..<10).map { Person(uid: "\($0)", name: "N") } + [Person(uid: "a", name: "A")], batchSize: 4)
        run(one, many)
        #expect(try one.result?.get().inserted.count == 1)
        #expect(try many.result?.get().inserted.count == 10)
        #expect(try many.result?.get().updated.count == 1)
        #expect(many.progress.completedUnitCount == 11)
        #expect(try shelf.number("SELECT count(*) FROM ZPERSONRECORD") == 13)
    }

    @Test("import what another operation brings")
    func chained() throws {
        let exporting = ExportOperation(
            manager: manager, entity: PersonRecord.self, sortDescriptors: [NSSortDescriptor(key: "id", ascending: true)]
        )
        let importing = ImportOperation(manager: manager, entity: PersonRecord.self) {
            try (exporting.result?.get() ?? []).map { Person(uid: "\($0.uid)2", name: $0.name) }
        }
        importing.addDependency(exporting)
        run(exporting, importing)
        #expect(try exporting.result?.get() == [.ada, .blaise])
        #expect(exporting.progress.completedUnitCount == 2)
        #expect(try shelf.strings("SELECT ZID FROM ZPERSONRECORD ORDER BY ZID") == ["a", "a2", "b", "b2"])
    }

    @Test("leave whole batches if they are cancelled")
    func cancelledImport() throws {
        let people = (0..<10).map { Note(uid: Note.ID("\($0)"), novelId: UUID(), content: $0 == 6 ? "refuse me" : "") }
        let operation = ImportOperation(manager: manager, entity: NoteRecord.self, models: people, batchSize: 4)
        run(operation)
        #expect(throws: NoteRecord.Refused.self) { try operation.result?.get() }
        #expect(try shelf.number("SELECT count(*) FROM ZNOTERECORD") == 4)
    }

    @Test("update and delete in one statement, and tell the contexts that stay")
    func batches() throws {
        let staying = manager.backgroundContext()
        let ada = try staying.performAndWait {
            let ada = try #require(try PersonRecord.first(where: NSPredicate(format: "id == 'a'"), in: staying))
            #expect(ada.value(forKey: "name") as? String == "Ada")
            return ada
        }
        let updating = BatchUpdateOperation(
            manager: manager, entity: PersonRecord.self, predicate: NSPredicate(format: "age < 38"),
            values: ["name": "Countess"])
        run(updating)
        #expect(try updating.result?.get() == 1)
        #expect(try names() == ["Countess", "Blaise"])
        staying.performAndWait { #expect(ada.value(forKey: "name") as? String == "Countess") }
        let deleting = BatchDeleteOperation(
            manager: manager, entity: PersonRecord.self, predicate: NSPredicate(format: "id == 'a'"))
        run(deleting)
        #expect(try deleting.result?.get() == 1)
        #expect(try names() == ["Blaise"])
        staying.performAndWait { #expect(ada.isDeleted || ada.managedObjectContext == nil) }
    }
}
