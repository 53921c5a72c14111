import CoreData
import CoreDataPostgres
import Foundation
import PostgresServer
import Testing

@Suite("The history of a store in PostgreSQL goes along with a migration", .needsPostgres)
struct MappedHistoryTests {
    private let database: TestDatabase

    init() throws { database = try TestDatabase() }

    private func attribute(_ name: String, from former: String? = nil) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        (attribute.name, attribute.attributeType, attribute.isOptional) = (name, .stringAttributeType, true)
        attribute.preservesValueInHistoryOnDeletion = true
        attribute.renamingIdentifier = former
        return attribute
    }

    private func model(_ entities: [String: [NSAttributeDescription]]) -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        model.entities = entities.sorted { $0.key < $1.key }.map { name, attributes in
            let entity = NSEntityDescription()
            (entity.name, entity.properties) = (name, attributes)
            return entity
        }
        return model
    }

    private var source: NSManagedObjectModel {
        model(["Book": ["first", "second", "title"].map { attribute($0) }])
    }

    private func open(_ model: NSManagedObjectModel, infers: Bool = false) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: database.url(),
            options: [
                NSPersistentHistoryTrackingKey: true, NSMigratePersistentStoresAutomaticallyOption: infers,
                NSInferMappingModelAutomaticallyOption: infers,
            ])
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// Makes three books and changes one attribute of each; the third is deleted.
    private func fill() throws {
        let context = try open(source)
        let books = try ["A", "B", "C"].map { title in
            let book = context.insert("Book", ["title": title, "first": "1", "second": "2"])
            try context.save()
            return book
        }
        for (book, key) in zip(books, ["first", "second", "title"]) {
            book.setValue("new", forKey: key)
            try context.save()
        }
        context.delete(books[2])
        try context.save()
    }

    private func migrate(
        to target: NSManagedObjectModel, _ change: (NSMappingModel) -> Void = { _ in }
    ) throws -> [NSPersistentHistoryChange] {
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: source, destinationModel: target)
        change(mapping)
        try StoreMigration(of: NSPostgreSQLStoreType, at: database.url(), to: target, mapping: mapping).run()
        return try changes(open(target))
    }

    private func changes(_ context: NSManagedObjectContext) throws -> [NSPersistentHistoryChange] {
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
        let result = try context.execute(request) as? NSPersistentHistoryResult
        return (result?.result as? [NSPersistentHistoryTransaction] ?? []).flatMap { $0.changes ?? [] }
    }

    private func updated(_ changes: [NSPersistentHistoryChange]) -> [[String]] {
        changes.filter { $0.changeType == .update }.map { ($0.updatedProperties ?? []).map(\.name).sorted() }
    }

    @Test("each change has its properties where an attribute comes before the others")
    func places() throws {
        try fill()
        let found = try migrate(
            to: model(["Book": ["added", "first", "second", "title"].map { attribute($0) }]))
        #expect(updated(found) == [["first"], ["second"], ["title"]])
        #expect(found.last?.changeType == .delete)
        #expect(found.last?.tombstone?["title"] as? String == "new")
    }

    @Test("changes and tombstones have the names to which the mapping's expressions give the values")
    func names() throws {
        try fill()
        let target = model([
            "Book": [
                attribute("first", from: "second"), attribute("heading", from: "title"),
                attribute("second", from: "first"),
            ]
        ])
        let found = try migrate(to: target)
        #expect(updated(found) == [["second"], ["first"], ["heading"]])
        let tombstone = found.last?.tombstone
        #expect(tombstone?["heading"] as? String == "new")
        #expect(tombstone?["first"] as? String == "2" && tombstone?["second"] as? String == "1")
        #expect(tombstone?.count == 3)
    }

    @Test("changes are those of the entity that each object became")
    func split() throws {
        try fill()
        let target = model([
            "Book": ["first", "second", "title"].map { attribute($0) }, "Essay": [attribute("second")],
        ])
        let found = try migrate(to: target) { mapping in
            let essays = NSEntityMapping()
            (essays.name, essays.mappingType) = ("Essays", .customEntityMappingType)
            (essays.sourceEntityName, essays.destinationEntityName) = ("Book", "Essay")
            essays.sourceExpression = NSExpression(
                format: "FETCH(FUNCTION($manager, 'fetchRequestForSourceEntityNamed:predicateString:', 'Book', "
                    + "'title == \"B\"'), $manager.sourceContext, NO)")
            let second = NSPropertyMapping()
            (second.name, second.valueExpression) = ("second", NSExpression(format: "$source.second"))
            essays.attributeMappings = [second]
            let books = mapping.entityMappings.filter { $0.sourceEntityName == "Book" }
            books.first?.sourceExpression = NSExpression(
                format: "FETCH(FUNCTION($manager, 'fetchRequestForSourceEntityNamed:predicateString:', 'Book', "
                    + "'title != \"B\"'), $manager.sourceContext, NO)")
            mapping.entityMappings = books + [essays]
        }
        let updates = found.filter { $0.changeType == .update }
        #expect(updates.map { $0.changedObjectID.entity.name } == ["Book", "Essay", "Book"])
        #expect(updated(found) == [["first"], ["second"], ["title"]])
        let essay = try #require(try open(target).fetch("Essay").first)
        #expect(
            updates.count == 3 && updates[1].changedObjectID.uriRepresentation() == essay.objectID.uriRepresentation())
    }

    @Test("tombstones follow two attributes that exchange their names in a lightweight migration")
    func exchangedNames() throws {
        try fill()
        // The exchange alone would be no other version.
        let target = model([
            "Book": [
                attribute("added"), attribute("first", from: "second"), attribute("second", from: "first"),
                attribute("title"),
            ]
        ])
        let tombstone = try changes(open(target, infers: true)).last?.tombstone
        #expect(tombstone?["first"] as? String == "2" && tombstone?["second"] as? String == "1")
        #expect(tombstone?["title"] as? String == "new")
    }

    @Test("tombstones lose the value of an attribute that is gone, and whose name another one has got")
    func takenName() throws {
        try fill()
        let target = model(["Book": [attribute("first", from: "second"), attribute("title")]])
        let tombstone = try changes(open(target, infers: true)).last?.tombstone
        #expect(tombstone?["first"] as? String == "2")
    }
}
