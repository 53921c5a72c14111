import CoreDataPostgres
import Foundation
import PostgresConnection
import PostgresServer
import Testing

@Suite("Stores in PostgreSQL get another model", .needsPostgres)
struct ModelMigrationTests {
    let database: TestDatabase

    init() throws {
        database = try TestDatabase()
        let context = try Bookshop.container(database).viewContext
        let author = context.insert("Author", ["name": "Ada"])
        let book = context.insert("Book", ["title": "Notes", "isbn": "1", "pageCount": 65, "author": author])
        book.setValue(NSSet(array: [context.insert("Tag", ["name": "old"])]), forKey: "tags")
        try context.save()
    }

    private func changed(_ change: (NSManagedObjectModel) -> Void) throws -> NSManagedObjectModel {
        let model = Bookshop.make(hasTags: true)
        change(model)
        return model
    }

    private func open(_ model: NSManagedObjectModel) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: database.url(),
            options: [
                NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
            ])
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    @Test("work where the server reads backslashes in texts as escapes")
    func escapes() throws {
        try database.connect().execute("ALTER DATABASE \(database.name) SET standard_conforming_strings = off")
        let model = try changed { model in
            let path = NSAttributeDescription()
            (path.name, path.attributeType, path.isOptional) = ("path", .stringAttributeType, true)
            path.defaultValue = "C:\\temp"
            model.entitiesByName["Tag"]?.properties.append(path)
        }
        #expect(try open(model).fetch("Tag").map { $0.value(forKey: "path") as? String } == ["C:\\temp"])
    }

    @Test("keep all digits of numbers that become decimal ones, where the database shows fewer")
    func digits() throws {
        let numbers = [0.1 + 0.2, 1.0 / 3, 123456789.123456789]
        func model(_ type: NSAttributeType) throws -> NSManagedObjectModel {
            try changed { model in
                let weight = NSAttributeDescription()
                (weight.name, weight.attributeType, weight.isOptional) = ("weight", type, true)
                model.entitiesByName["Tag"]?.properties.append(weight)
            }
        }
        try database.connect().execute("ALTER DATABASE \(database.name) SET extra_float_digits = -15")
        let context = try open(model(.doubleAttributeType))
        for number in numbers { _ = context.insert("Tag", ["name": "\(number)", "weight": number]) }
        try context.save()
        let migrated = try open(model(.decimalAttributeType))
        let tags = try migrated.fetch("Tag").filter { $0.value(forKey: "weight") != nil }
        #expect(tags.count == 3)
        for tag in tags { #expect("\(tag.value(forKey: "weight") ?? "")" == tag.value(forKey: "name") as? String) }
    }

    @Test("keep their rows under a new name of an entity or an attribute, and convert those of another type")
    func renaming() throws {
        let model = try changed { model in
            let book = model.entitiesByName["Book"]
            book?.name = "Volume"
            book?.renamingIdentifier = "Book"
            let title = book?.attributesByName["title"]
            title?.name = "heading"
            title?.renamingIdentifier = "title"
            book?.attributesByName["pageCount"]?.attributeType = .integer64AttributeType
        }
        let context = try open(model)
        let found = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Volume"))
        #expect(found.map { $0.value(forKey: "heading") as? String } == ["Notes"])
        #expect(found.map { $0.value(forKey: "pageCount") as? Int } == [65])
        #expect((found.first?.value(forKey: "author") as? NSManagedObject)?.value(forKey: "name") as? String == "Ada")
        #expect((found.first?.value(forKey: "tags") as? Set<NSManagedObject>)?.count == 1)
        #expect(try database.rows("SELECT heading, page_count FROM public.volume") == [["Notes", "65"]])
    }

    @Test("lose nothing where a relationship to one becomes one to many")
    func relationships() throws {
        let model = try changed { model in
            model.entitiesByName["Book"]?.relationshipsByName["author"]?.maxCount = 0
        }
        let context = try open(model)
        let found = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: "Book")).first
        let authors = found?.value(forKey: "author") as? Set<NSManagedObject>
        #expect(authors?.compactMap { $0.value(forKey: "name") as? String } == ["Ada"])
    }

    @Test("lose the table of an entity that goes")
    func removing() throws {
        #expect(
            try open(Bookshop.make(hasTags: false)).count(for: NSFetchRequest<NSManagedObject>(entityName: "Book")) == 1
        )
        #expect(try database.rows("SELECT relname FROM pg_class WHERE relname LIKE '%tag%'").isEmpty)
    }

    @Test("have the same tables, indexes and references as a new store of the model")
    func likeNew() throws {
        let model = try changed { model in
            let (author, book) = (model.entitiesByName["Author"], model.entitiesByName["Book"])
            author?.attributesByName["name"]?.isOptional = true
            let added = NSAttributeDescription()
            (added.name, added.attributeType, added.isOptional) = ("subtitle", .stringAttributeType, true)
            book?.properties.append(added)
            book?.uniquenessConstraints = [["isbn"], ["id"]]
            book?.attributesByName["pageCount"]?.attributeType = .doubleAttributeType
            let writer = book?.relationshipsByName["author"]
            writer?.name = "writer"
            writer?.renamingIdentifier = "author"
            author?.relationshipsByName["books"]?.inverseRelationship = writer
        }
        _ = try open(model)
        let fresh = try TestDatabase()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: fresh.url())
        for question in [
            "SELECT table_name, column_name, data_type, column_default FROM information_schema.columns WHERE table_schema = 'public' ORDER BY 1, 2",
            "SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1",
            "SELECT conrelid::regclass::text AS t, pg_get_constraintdef(oid) AS d FROM pg_constraint WHERE contype IN ('f', 'u') ORDER BY 1, 2",
        ] { #expect(try database.rows(question) == fresh.rows(question)) }
    }

    @Test("stay as they were when a value stands in the way")
    func violation() throws {
        let model = try changed { model in
            model.entitiesByName["Book"]?.attributesByName["coverImage"]?.isOptional = false
        }
        let error = #expect(throws: NSError.self) { _ = try open(model) }
        #expect(error?.code == NSMigrationError)
        #expect(try Bookshop.container(database).viewContext.count(for: .init(entityName: "Book")) == 1)
    }

    @Test("are migrated object by object where a policy says how, and keep their history")
    func mapped() throws {
        let model = try changed { model in
            model.entitiesByName["Author"]?.attributesByName["name"]?.renamingIdentifier = nil
            let added = NSAttributeDescription()
            (added.name, added.attributeType, added.isOptional) = ("initial", .stringAttributeType, true)
            model.entitiesByName["Author"]?.properties.append(added)
        }
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: Bookshop.model, destinationModel: model)
        for entity in mapping.entityMappings ?? [] where entity.destinationEntityName == "Author" {
            entity.mappingType = .customEntityMappingType
            entity.entityMigrationPolicyClassName = NSStringFromClass(Initials.self)
        }
        let other = try TestDatabase()
        let manager = NSMigrationManager(sourceModel: Bookshop.model, destinationModel: model)
        manager.usesStoreSpecificMigrationManager = false
        try manager.migrateStore(
            from: database.url(), sourceType: NSPostgreSQLStoreType, options: nil, with: mapping,
            toDestinationURL: other.url(), destinationType: NSPostgreSQLStoreType, destinationOptions: nil)
        #expect(try other.rows("SELECT name, initial FROM public.author") == [["Ada", "A"]])
        #expect(
            try other.rows("SELECT b.title FROM public.book b JOIN public.author a ON a._id = b.author_id").count == 1)
    }
}

/// Gives authors the first letter of their name.
final class Initials: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource source: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: source, in: mapping, manager: manager)
        let made = manager.destinationInstances(forEntityMappingName: mapping.name ?? "", sourceInstances: [source])
        for author in made {
            author.setValue((source.value(forKey: "name") as? String)?.first.map(String.init), forKey: "initial")
        }
    }
}

@Suite("Passwords", .needsPostgres)
struct PasswordTests {
    @Test("appear in no error when they are typed into a URL, whoever throws it")
    func hidden() throws {
        let url = try #require(
            URL(string: "postgresql://app:s3cr3t@localhost:1/books?sslpassword=s3cr3t&connect_timeout=1"))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Bookshop.model)
        let attempts: [() throws -> Void] = [
            { try coordinator.addPersistentStore(ofType: NSPostgreSQLStoreType, configurationName: nil, at: url) },
            { _ = try NSPersistentStoreCoordinator.metadataForPersistentStore(ofType: NSPostgreSQLStoreType, at: url) },
            { try coordinator.destroyPersistentStore(at: url, ofType: NSPostgreSQLStoreType) },
            { try coordinator.addPersistentStore(ofType: "Nonsense", configurationName: nil, at: url) },
            { try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url) },
        ]
        for attempt in attempts {
            let error = #expect(throws: NSError.self) { try attempt() }
            let text = "\(String(describing: error)) \(error?.userInfo ?? [:])"
            #expect(!text.contains("s3cr3t"), "\(text)")
        }
    }
}
