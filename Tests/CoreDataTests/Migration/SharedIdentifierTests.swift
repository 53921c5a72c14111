import CoreData
import TestSupport
import Testing

@Suite("Several attributes that take the values of one by their renaming identifiers")
struct SharedIdentifierTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private static func model(_ attributes: (String, NSAttributeType, String?)...) -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        model.entities = [
            Library.entity(
                "Book",
                attributes.map { name, type, identifier in
                    let attribute = Library.attribute(name, type)
                    attribute.renamingIdentifier = identifier
                    return attribute
                })
        ]
        return model
    }

    private static func old() -> NSManagedObjectModel { model(("title", .stringAttributeType, nil)) }

    private static let versions: [String: NSManagedObjectModel] = [
        "beside it": model(
            ("title", .stringAttributeType, nil), ("label", .stringAttributeType, "title"),
            ("heading", .stringAttributeType, "title")),
        "without it": model(("label", .stringAttributeType, "title"), ("heading", .stringAttributeType, "title")),
    ]

    @Test("Each has the value", arguments: ["beside it", "without it"], [true, false])
    func copied(version: String, isInPlace: Bool) throws {
        let new = try #require(Self.versions[version])
        try with(Self.old(), "old") { context in
            context.make("Book", ["title": "Dune"])
            try context.save()
        }
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: Self.old(), destinationModel: new)
        let manager = NSMigrationManager(sourceModel: Self.old(), destinationModel: new)
        manager.usesStoreSpecificMigrationManager = isInPlace
        try manager.migrateStore(
            from: folder.file("old"), sourceType: NSSQLiteStoreType, options: nil, with: mapping,
            toDestinationURL: folder.file("new"), destinationType: NSSQLiteStoreType, destinationOptions: nil)
        try with(new, "new") { context in
            let book = try #require(try context.all("Book").first)
            #expect(book.entity.attributesByName.keys.allSatisfy { book.string($0) == "Dune" })
        }
    }

    @Test("One of another type cannot be inferred")
    func otherType() {
        let new = Self.model(("title", .stringAttributeType, nil), ("pages", .floatAttributeType, "title"))
        let error = #expect(throws: NSError.self) {
            try NSMappingModel.inferredMappingModel(forSourceModel: Self.old(), destinationModel: new)
        }
        #expect(error?.code == 134190)
        #expect(error?.userInfo["property"] as? String == "pages")
    }

    @Test("A new attribute under the first name of a renamed one starts without its values")
    func newUnderOldName() throws {
        let renamed = Self.model(("label", .stringAttributeType, "title"))
        let new = Self.model(("label", .stringAttributeType, "title"), ("title", .stringAttributeType, nil))
        try with(renamed, "old") { context in
            context.make("Book", ["label": "Dune"])
            try context.save()
        }
        try with(new, "old", isMigrating: true) { context in
            let book = try #require(try context.all("Book").first)
            #expect(book.string("label") == "Dune" && book.string("title") == nil)
        }
    }

    private func with(
        _ model: NSManagedObjectModel, _ name: String, isMigrating: Bool = false,
        _ work: (NSManagedObjectContext) throws -> Void
    ) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.file(name),
            options: [
                NSMigratePersistentStoresAutomaticallyOption: isMigrating,
                NSInferMappingModelAutomaticallyOption: isMigrating,
            ])
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait { try work(context) }
        try coordinator.remove(store)
    }
}
