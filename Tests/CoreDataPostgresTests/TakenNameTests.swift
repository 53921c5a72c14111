import CoreDataPostgres
import Foundation
import PostgresServer
import Testing

@Suite("Names of tables that something else has already", .needsPostgres)
struct TakenNameTests {
    private let database: TestDatabase

    init() throws { database = try TestDatabase() }

    private func open(
        _ model: NSManagedObjectModel, migrates: Bool = true, ignoresVersions: Bool = false
    ) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: database.url(),
            options: [
                NSMigratePersistentStoresAutomaticallyOption: migrates,
                NSInferMappingModelAutomaticallyOption: migrates,
                NSIgnorePersistentStoreVersioningOption: ignoresVersions,
            ])
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private func entity(
        _ name: String, _ attributes: [String], subentities: [NSEntityDescription] = []
    ) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.properties = attributes.map { name in
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, .stringAttributeType, true)
            return attribute
        }
        entity.subentities = subentities
        return entity
    }

    private func model(_ entities: NSEntityDescription...) -> NSManagedObjectModel {
        let model = NSManagedObjectModel()
        model.entities = entities.flatMap { [$0] + $0.subentities }
        return model
    }

    private func refuses(_ body: () throws -> Void, _ place: SourceLocation = #_sourceLocation) {
        let error = #expect(throws: NSError.self, sourceLocation: place) { try body() }
        #expect(error?.code == NSPersistentStoreIncompatibleVersionHashError, "\(String(describing: error))")
    }

    @Test("keep a program of before from writing pairs into a new entity's table")
    func joinTable() throws {
        let old = try open(Bookshop.make(hasTags: true))
        let newer = Bookshop.make(hasTags: true)
        newer.entities.append(entity("BookTags", ["note"]))
        _ = try open(newer)
        #expect(try database.rows("SELECT count(*) FROM book_tags_2") == [["0"]])
        let book = old.insert("Book", ["isbn": "1"])
        book.setValue(NSSet(array: [old.insert("Tag", ["name": "t"])]), forKey: "tags")
        refuses { try old.save() }
        #expect(try database.rows("SELECT count(*) FROM book_tags") == [["0"]])
        refuses { _ = try open(Bookshop.make(hasTags: true), migrates: false) }
    }

    @Test("keep a program that ignores versions from opening the store and from migrating it back")
    func ignoringVersions() throws {
        let newer = Bookshop.make(hasTags: true)
        newer.entities.append(entity("BookTags", ["note"]))
        let context = try open(newer)
        _ = context.insert("BookTags", ["note": "n"])
        try context.save()
        let error = #expect(throws: NSError.self) { _ = try open(Bookshop.make(hasTags: true), ignoresVersions: true) }
        #expect(error?.code == NSPersistentStoreIncompatibleSchemaError)
        #expect(try database.rows("SELECT note FROM book_tags") == [["n"]])
    }

    @Test("give no object to a new entity that is written alike")
    func entityTable() throws {
        let old = try open(model(entity("Url", ["text"])))
        _ = try open(model(entity("Url", ["text"]), entity("URL", ["text"])))
        #expect(try database.rows("SELECT table_name FROM pippin.entities WHERE name = 'Url'") == [["url_2"]])
        _ = old.insert("Url", ["text": "a"])
        refuses { try old.save() }
        #expect(try database.rows("SELECT count(*) FROM url") == [["0"]])
    }

    @Test("give no value to an attribute of a new subentity")
    func column() throws {
        func make(_ isNewer: Bool) -> NSManagedObjectModel {
            let zebra = entity("Zebra", ["URL"])
            return model(
                entity("Animal", ["name"], subentities: isNewer ? [entity("Ape", ["url"]), zebra] : [zebra]))
        }
        let old = try open(make(false))
        _ = try open(make(true))
        _ = old.insert("Zebra", ["URL": "a"])
        refuses { try old.save() }
        #expect(try database.rows("SELECT count(*) FROM animal") == [["0"]])
    }

    @Test("A program of before goes on where its names stay")
    func goesOn() throws {
        let old = try open(Bookshop.make(hasTags: true))
        let newer = Bookshop.make(hasTags: true)
        newer.entities.append(entity("Shop", ["note"]))
        _ = try open(newer)
        let book = old.insert("Book", ["isbn": "1"])
        book.setValue(NSSet(array: [old.insert("Tag", ["name": "t"])]), forKey: "tags")
        try old.save()
        #expect(try database.rows("SELECT count(*) FROM book_tags") == [["1"]])
    }

    private func order(withLine: Bool) throws -> NSManagedObjectModel {
        let order = entity("Order", ["number", "title"])
        let number = try #require(order.propertiesByName["number"])
        order.indexes = [
            NSFetchIndexDescription(
                name: "line", elements: [NSFetchIndexElementDescription(property: number, collationType: .binary)])
        ]
        order.uniquenessConstraints = [["title"]]
        return withLine ? model(order, entity("OrderLine", ["text"]), entity("OrderTitleUnique", [])) : model(order)
    }

    @Test("make an index get another name", arguments: [false, true])
    func index(migrates: Bool) throws {
        if migrates { try _ = open(order(withLine: false)) }
        let context = try open(order(withLine: true))
        _ = context.insert("Order", ["number": "1", "title": "t"])
        _ = context.insert("OrderLine", ["text": "a"])
        try context.save()
        #expect(try database.rows("SELECT text FROM order_line") == [["a"]])
        let found = try database.rows(
            "SELECT indexname::text FROM pg_indexes WHERE schemaname = 'public' AND indexname NOT LIKE '%pkey' ORDER BY 1"
        )
        #expect(found == [["order_line_2"], ["order_title_unique_2"]])
    }
}
