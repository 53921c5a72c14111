import CoreData
import Foundation
import TestSupport
import Testing

@testable import CoreData

@Suite("The history of an entity whose objects become objects of several")
struct SplitHistoryTests {
    private let folder: TestFolder
    private let source = Self.model(["Book": ["first", "second", "title"]])

    init() throws { folder = try TestFolder() }

    private static func model(_ entities: [String: [String]]) -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        model.entities = entities.sorted { $0.key < $1.key }.map { name, attributes in
            let entity = makeEntity(name)
            entity.properties = attributes.map { makeAttribute($0, .stringAttributeType) }
            return entity
        }
        return model
    }

    private func open(_ model: NSManagedObjectModel) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store,
            options: [NSPersistentHistoryTrackingKey: true])
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// Makes three books and changes one attribute of each.
    private func fill() throws {
        let context = try open(source)
        let books = ["A", "B", "C"].map { context.make("Book", ["title": $0, "first": "1", "second": "2"]) }
        try context.save()
        for (book, key) in zip(books, ["first", "second", "title"]) {
            book.setValue("new", forKey: key)
            try context.save()
        }
        for store in context.persistentStoreCoordinator?.persistentStores ?? [] {
            try context.persistentStoreCoordinator?.remove(store)
        }
    }

    /// A mapping of the books with some titles, which takes the attributes of one name.
    private func mapping(_ name: String, to destination: String, titles: String, _ keys: String...) -> NSEntityMapping {
        let mapping = NSEntityMapping()
        (mapping.name, mapping.mappingType) = (name, .customEntityMappingType)
        (mapping.sourceEntityName, mapping.destinationEntityName) = ("Book", destination)
        mapping.sourceExpression = NSExpression(
            format: "FETCH(FUNCTION($manager, 'fetchRequestForSourceEntityNamed:predicateString:', 'Book', "
                + "'\(titles)'), $manager.sourceContext, NO)")
        mapping.attributeMappings = keys.map { key in
            let property = NSPropertyMapping()
            (property.name, property.valueExpression) = (key, NSExpression(format: "$source.\(key)"))
            return property
        }
        return mapping
    }

    private func migrated(
        to target: NSManagedObjectModel, by mappings: NSEntityMapping...
    ) throws -> [NSPersistentHistoryChange] {
        let mapping = NSMappingModel()
        mapping.entityMappings = mappings
        try StoreMigration(at: folder.store, to: target, mapping: mapping).run()
        let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
        let result = try open(target).execute(request) as? NSPersistentHistoryResult
        return (result?.result as? [NSPersistentHistoryTransaction] ?? []).flatMap { $0.changes ?? [] }.filter {
            $0.changeType == .update
        }
    }

    @Test("has the properties of the entity that each object became")
    func split() throws {
        try fill()
        let found = try migrated(
            to: Self.model(["Book": ["first", "second", "title"], "Essay": ["added", "second", "third"]]),
            by: mapping("Books", to: "Book", titles: "title != \"B\"", "first", "second", "title"),
            mapping("Essays", to: "Essay", titles: "title == \"B\"", "second"))
        #expect(found.map { $0.changedObjectID.entity.name } == ["Book", "Essay", "Book"])
        #expect(found.map { ($0.updatedProperties ?? []).map(\.name) } == [["first"], ["second"], ["title"]])
    }
}
