import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import MigrationPlans
@testable import SQLGeneration
@testable import SQLiteEngine
@testable import StoreEngine

@Suite("Migration of XML and binary stores")
struct DocumentMigrationTests {
    static let types = [NSXMLStoreType, NSBinaryStoreType]
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private var url: URL { folder.file("shelf") }

    private func model(_ change: (NSManagedObjectModel) -> Void = { _ in }) -> NSManagedObjectModel {
        let title = makeAttribute("title", .stringAttributeType)
        let model = makeModel(
            makeEntity(
                "Book", title, makeAttribute("pages", .integer32AttributeType),
                makeToOne("shelf", "Shelf", inverse: "books")
            ),
            makeEntity(
                "Shelf", makeAttribute("room", .stringAttributeType), makeToMany("books", "Book", inverse: "shelf")))
        change(model)
        return model
    }

    /// The next version: titles are called names, and pages are counted, from 1.
    private func next() -> NSManagedObjectModel {
        model { model in
            let title = model.attribute("Book", "title")
            (title.name, title.renamingIdentifier) = ("name", "title")
            let pages = model.attribute("Book", "pages")
            (pages.isOptional, pages.defaultValue) = (false, 1)
        }
    }

    private func open(
        _ type: String, _ model: NSManagedObjectModel, options: [AnyHashable: Any] = [:]
    ) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url, options: options)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// Makes a store with two books on a shelf; tells its UUID.
    @discardableResult private func makeStore(_ type: String) throws -> String? {
        let context = try open(type, model())
        let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
        context.persistentStoreCoordinator?.setMetadata(
            context.persistentStoreCoordinator?.metadata(for: store).merging(["note": "mine"]) { $1 }, for: store)
        try context.performAndWait {
            let shelf = context.make("Shelf", ["room": "attic"])
            _ = context.make("Book", ["title": "Walden", "shelf": shelf])
            _ = context.make("Book", ["title": "Emma", "pages": 9, "shelf": shelf])
            try context.save()
        }
        return store.identifier
    }

    private func options(
        _ versions: [NSManagedObjectModel], infers: Bool = true, _ mappings: [NSMappingModel] = []
    ) -> [AnyHashable: Any] {
        let known = KnownVersions(
            versions.enumerated().map { KnownVersion(name: "\($0)", model: $1) },
            mappings: mappings.map { NamedMapping(name: "mapping", mapping: $0) })
        return [
            NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: infers,
            PippinProgressiveMigrationOptionKey: known,
        ]
    }

    private func refusal(_ type: String, _ model: NSManagedObjectModel, _ options: [AnyHashable: Any]) -> NSError? {
        do {
            _ = try open(type, model, options: options)
            return nil
        } catch { return error as NSError }
    }

    @Test(
        "A store of a former version is migrated when it is added; values, relationships, UUID and metadata stay",
        arguments: types)
    func migrated(type: String) throws {
        let uuid = try makeStore(type)
        let context = try open(type, next(), options: options([model(), next()]))
        try context.performAndWait {
            let books = try context.all("Book").sorted { $0.string("name") ?? "" < $1.string("name") ?? "" }
            #expect(books.map { $0.string("name") } == ["Emma", "Walden"])
            #expect(books.map { $0.value(forKey: "pages") as? Int } == [9, 1])
            let shelf = try #require(try context.all("Shelf").first)
            #expect(shelf.value(forKey: "books") as? Set<NSManagedObject> == Set(books))
        }
        let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
        #expect(store.identifier == uuid)
        #expect(store.metadata["note"] as? String == "mine")
        #expect(try FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path) == ["shelf"])
        let again = try open(type, next())
        #expect(try again.performAndWait { try again.all("Book").count } == 2)
    }

    @Test("The URI of an object leads to no other one after a migration", arguments: types)
    func formerIdentifiers(type: String) throws {
        try makeStore(type)
        let old = try open(type, model())
        let identifiers = try old.performAndWait {
            try (old.all("Book") + old.all("Shelf")).map { $0.objectID.uriRepresentation() }
        }
        // The greatest number was given to an object that is gone.
        let last = try old.performAndWait {
            let book = old.make("Book", ["title": "Last"])
            try old.save()
            let identifier = book.objectID.uriRepresentation()
            old.delete(book)
            try old.save()
            return identifier
        }
        let context = try open(type, next(), options: options([model(), next()]))
        let coordinator = try #require(context.persistentStoreCoordinator)
        try context.performAndWait {
            #expect(try context.all("Book").count == 2)
            for identifier in identifiers + [last] {
                let known = coordinator.managedObjectID(forURIRepresentation: identifier)
                #expect(known.flatMap { try? context.existingObject(with: $0) } == nil, "\(identifier)")
            }
            let new = context.make("Book", ["name": "New", "pages": 1])
            try context.save()
            #expect(!(identifiers + [last]).contains(new.objectID.uriRepresentation()))
        }
    }

    @Test("A mapping model goes before an inferred one", arguments: types)
    func mapped(type: String) throws {
        try makeStore(type)
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: model(), destinationModel: next())
        mapping.entityMappingsByName["IEM_Transform_Book"]?.attributeMappings?
            .first { $0.name == "pages" }?.valueExpression = NSExpression(forConstantValue: 77)
        let context = try open(type, next(), options: options([model()], infers: false, [mapping]))
        #expect(
            try context.performAndWait { try context.all("Book").map { $0.value(forKey: "pages") as? Int } } == [
                77, 77,
            ])
    }

    @Test("Without its model there is no migration: the error says so, and the file is as it was", arguments: types)
    func missingModel(type: String) throws {
        try makeStore(type)
        let before = try Data(contentsOf: url)
        let error = refusal(type, next(), options([]))
        #expect(error?.code == CoreDataErrorCode.migrationMissingSourceModel)
        #expect(error?.localizedDescription.contains("“shelf”") == true)
        #expect(try Data(contentsOf: url) == before)
    }

    @Test("Without a mapping model, and without leave to infer one, there is no migration", arguments: types)
    func notInferred(type: String) throws {
        try makeStore(type)
        #expect(
            refusal(type, next(), options([model()], infers: false))?.code
                == CoreDataErrorCode.migrationMissingMappingModel)
    }

    @Test("Objects that are not valid end the migration, and the file is as it was", arguments: types)
    func invalid(type: String) throws {
        try makeStore(type)
        let before = try Data(contentsOf: url)
        let strict = model { $0.attribute("Book", "pages").isOptional = false }
        let error = refusal(type, strict, options([model()]))
        #expect(error?.code == CoreDataErrorCode.validationMissingMandatoryProperty)
        #expect(error?.localizedDescription.contains("as it was") == true)
        #expect(try Data(contentsOf: url) == before)
        #expect(try FileManager.default.contentsOfDirectory(atPath: url.deletingLastPathComponent().path) == ["shelf"])
    }

    @Test("A store that is only read is not migrated", arguments: types)
    func readOnly(type: String) throws {
        try makeStore(type)
        let options = options([model()]).merging([NSReadOnlyPersistentStoreOption: true]) { $1 }
        #expect(
            refusal(type, next(), options)?.code == CoreDataErrorCode.persistentStoreIncompatibleVersionHash)
    }

    @Test("A store that holds one configuration is migrated, too", arguments: types)
    func configuration(type: String) throws {
        func version(_ more: NSAttributeDescription...) -> NSManagedObjectModel {
            let note = makeEntity("Note", makeAttribute("text", .stringAttributeType))
            note.properties += more
            let model = makeModel(note, makeEntity("Tag", makeAttribute("name", .stringAttributeType)))
            model.setEntities([note], forConfigurationName: "Notes")
            model.setEntities(model.entities.filter { $0 !== note }, forConfigurationName: "Tags")
            return model
        }
        func open(_ model: NSManagedObjectModel, _ options: [AnyHashable: Any]?) throws -> NSManagedObjectContext {
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
            try coordinator.addPersistentStore(
                ofType: type, configurationName: "Notes", at: url, options: options)
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            return context
        }
        let context = try open(version(), nil)
        try context.performAndWait {
            _ = context.make("Note", ["text": "Buy milk"])
            try context.save()
        }
        let migrated = try open(version(makeAttribute("pages", .integer32AttributeType)), options([version()]))
        try migrated.performAndWait {
            let notes = try migrated.all("Note")
            #expect(notes.map { $0.string("text") } == ["Buy milk"])
        }
    }
}
