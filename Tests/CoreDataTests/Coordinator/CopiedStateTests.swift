import CoreData
import Foundation
import Synchronization
import TestSupport
import Testing

/// Archives texts, and runs code once when it reads one. Each test has one of its own, since tests run at the same
/// time.
private final class Interrupting: ValueTransformer {
    let name = NSValueTransformerName("Interrupting \(UUID())")
    let interruption = Mutex<(@Sendable () -> Void)?>(nil)

    override class func transformedValueClass() -> AnyClass { NSData.self }

    override func transformedValue(_ value: Any?) -> Any? {
        interrupt()
        return (value as? String).map { Data($0.utf8) }
    }

    override func reverseTransformedValue(_ value: Any?) -> Any? {
        interrupt()
        return (value as? Data).map { String(decoding: $0, as: UTF8.self) }
    }

    private func interrupt() {
        let work = interruption.withLock { work in
            defer { work = nil }
            return work
        }
        work?()
    }
}

/// What `migratePersistentStore` copies.
@Suite("A store is copied in one state, as it is") struct CopiedStateTests {
    let folder: TestFolder
    private var file: URL { folder.file("a.sqlite") }

    init() throws { folder = try TestFolder() }

    private func coordinator(_ model: NSManagedObjectModel, _ url: URL, _ type: NSPersistentStore.StoreType = .sqlite)
        throws -> NSPersistentStoreCoordinator
    {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(type: type, at: url)
        return coordinator
    }

    private func fill(
        _ coordinator: NSPersistentStoreCoordinator, _ body: (NSManagedObjectContext) throws -> Void
    ) throws {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            try body(context)
            if context.hasChanges { try context.save() }
        }
    }

    @Test(
        "What another program saves meanwhile is copied as a whole or not at all",
        arguments: [NSPersistentStore.StoreType.sqlite, .xml])
    func oneState(type: NSPersistentStore.StoreType) throws {
        let transformer = Interrupting()
        ValueTransformer.setValueTransformer(transformer, forName: transformer.name)
        let model = Library.model()
        let note = Library.attribute("note", .transformableAttributeType)
        note.valueTransformerName = transformer.name.rawValue
        model.entitiesByName["Author"]?.properties.append(note)
        let coordinator = try coordinator(model, file)
        try fill(coordinator) { context in
            let ann = context.make("Author", ["name": "Ann", "note": "n"])
            context.make("Book", ["title": "First", "author": ann])
        }
        let file = file
        transformer.interruption.withLock {
            $0 = {
                do {
                    try execute(
                        """
                        INSERT INTO ZAUTHOR (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT 9, Z_ENT, 1, 'Late' FROM ZAUTHOR;
                        INSERT INTO ZBOOK (Z_PK, Z_ENT, Z_OPT, ZTITLE, ZAUTHOR) SELECT 9, Z_ENT, 1, 'Late', 9 FROM ZBOOK
                        """, in: file)
                } catch { Issue.record(error) }
            }
        }
        let store = try #require(coordinator.persistentStores.first)
        try coordinator.migratePersistentStore(store, to: folder.file("b"), type: type)
        #expect(try plainSQL("SELECT COUNT(*) FROM ZBOOK", in: file) == ["2"])
        try fill(coordinator) { context in
            let books = try context.all("Book").map { book in
                "\(book.string("title") ?? "") \((book.value(forKey: "author") as? NSManagedObject)?.string("name") ?? "")"
            }
            #expect(books == ["First Ann"])
            #expect(try context.all("Author").count == 1)
        }
    }

    @Test("Objects of a document that share a value which must be unique do not become rows: 133021, with the conflict")
    func shared() throws {
        let xml = folder.file("a.xml")
        let coordinator = try coordinator(BatchStore.uniqueModel(), xml, .xml)
        try fill(coordinator) { context in
            for code in ["once", "twice"] { context.make("Item", ["code": code]) }
        }
        let store = try #require(coordinator.persistentStores.first)
        try coordinator.remove(store)
        let text = try String(contentsOf: xml, encoding: .utf8)
        try text.replacingOccurrences(of: "twice", with: "once").write(to: xml, atomically: true, encoding: .utf8)
        let damaged = try coordinator.addPersistentStore(type: .xml, at: xml)
        let error = #expect(throws: NSError.self) {
            try coordinator.migratePersistentStore(damaged, to: folder.file("b.sqlite"), type: .sqlite)
        }
        #expect(error?.domain == NSCocoaErrorDomain)
        #expect(error?.code == 133021)
        #expect(error?.localizedDescription.contains("code") == true)
        #expect(coordinator.persistentStores == [damaged])
    }

    @Test("A derived attribute that says when its object was saved says so in the copy, too")
    func derived() throws {
        let note = Library.entity("Note", [Library.attribute("title", .stringAttributeType)])
        let stamp = NSDerivedAttributeDescription()
        (stamp.name, stamp.attributeType, stamp.isOptional) = ("stamp", .dateAttributeType, true)
        stamp.derivationExpression = NSExpression(format: "now()")
        let count = NSDerivedAttributeDescription()
        (count.name, count.attributeType, count.isOptional) = ("tagCount", .integer64AttributeType, true)
        count.derivationExpression = NSExpression(format: "tags.@count")
        note.properties += [stamp, count]
        let tag = Library.entity("Tag", [Library.attribute("name", .stringAttributeType)])
        Library.connect(note, "tags", toMany: true, tag, "notes", inverseToMany: true)
        let model = NSManagedObjectModel()
        model.entities = [note, tag]
        let coordinator = try coordinator(model, file)
        try fill(coordinator) { context in
            let tags = ["a", "b"].map { context.make("Tag", ["name": $0]) }
            context.make("Note", ["title": "old", "tags": Set(tags)])
        }
        try execute("UPDATE ZNOTE SET ZSTAMP = 86400.0", in: file)
        let store = try #require(coordinator.persistentStores.first)
        let new = folder.file("b.sqlite")
        try coordinator.migratePersistentStore(store, to: new, type: .sqlite)
        #expect(try plainSQL("SELECT ZSTAMP, ZTAGCOUNT, Z_OPT FROM ZNOTE", in: new) == ["86400|2|1"])
        let triggers = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name"
        #expect(try plainSQL(triggers, in: new) == plainSQL(triggers, in: file))
        // From now on, the copy computes them itself.
        try fill(coordinator) { context in
            let note = try #require(context.all("Note").first)
            note.setValue("new", forKey: "title")
            note.setValue(Set<NSManagedObject>(), forKey: "tags")
        }
        #expect(try plainSQL("SELECT ZSTAMP > 86400.0, ZTAGCOUNT FROM ZNOTE", in: new) == ["1|0"])
    }
}
