import CoreDataPostgres
import Foundation
import PostgresServer
import Testing

@Suite("Copies between files and servers", .needsPostgres)
struct CopyTests {
    let database: TestDatabase
    private let file = FileManager.default.temporaryDirectory.appendingPathComponent(
        "pippin-copy-\(UUID().uuidString).sqlite")

    init() throws { database = try TestDatabase() }

    private func coordinator(_ model: NSManagedObjectModel, _ url: URL, _ type: String) throws
        -> NSPersistentStoreCoordinator
    {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: type, configurationName: nil, at: url)
        return coordinator
    }

    private func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    /// What is stored, in words: values, the books of each author in their order, the tags of each book.
    private func content(_ coordinator: NSPersistentStoreCoordinator) throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.sortDescriptors = [NSSortDescriptor(key: "isbn", ascending: true)]
        let context = context(coordinator)
        return try context.fetch(request).map { book in
            let tags = (book.value(forKey: "tags") as? Set<NSManagedObject> ?? []).compactMap {
                $0.value(forKey: "name") as? String
            }
            let author = (book.value(forKey: "author") as? NSManagedObject)?.value(forKey: "name") as? String
            let price = (book.value(forKey: "price") as? NSDecimalNumber)?.stringValue ?? ""
            return "\(book.value(forKey: "title") ?? "") \(price) \(author ?? "") \(tags.sorted())"
        }
    }

    private func fill(_ coordinator: NSPersistentStoreCoordinator) throws {
        let context = context(coordinator)
        let tags = (0..<3).map { context.insert("Tag", ["name": "tag \($0)"]) }
        for number in 0..<50 {
            let author = context.insert("Author", ["name": "Author \(number)"])
            for book in 0..<3 {
                let made = context.insert(
                    "Book",
                    [
                        "title": "Book \(number).\(book)", "isbn": "\(number).\(book)", "author": author,
                        "price": NSDecimalNumber(string: "\(number).5"),
                    ])
                made.setValue(NSSet(array: Array(tags.prefix(book))), forKey: "tags")
            }
        }
        try context.save()
    }

    @Test("keep values, relationships and the identifiers of objects, from a file to a server and back")
    func bothWays() throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let coordinator = try coordinator(Bookshop.model, file, NSSQLiteStoreType)
        try fill(coordinator)
        let before = try content(coordinator)
        let identifiers = try context(coordinator).fetch(NSFetchRequest<NSManagedObject>(entityName: "Author"))
            .map { $0.objectID.uriRepresentation().lastPathComponent }
        let store = try #require(coordinator.persistentStores.first)
        let onServer = try coordinator.migratePersistentStore(
            store, to: database.url(), options: nil, withType: NSPostgreSQLStoreType)
        #expect(try content(coordinator) == before)
        #expect(try database.rows("SELECT title FROM public.book").count == 150)
        let now = try context(coordinator).fetch(NSFetchRequest<NSManagedObject>(entityName: "Author"))
            .map { $0.objectID.uriRepresentation().lastPathComponent }
        #expect(Set(now) == Set(identifiers))
        // New objects get new keys.
        let writer = context(coordinator)
        _ = writer.insert("Author", ["name": "New"])
        try writer.save()

        let back = FileManager.default.temporaryDirectory.appendingPathComponent(
            "pippin-copy-\(UUID().uuidString).sqlite")
        defer { try? FileManager.default.removeItem(at: back) }
        _ = try coordinator.migratePersistentStore(onServer, to: back, options: nil, withType: NSSQLiteStoreType)
        #expect(try content(coordinator) == before)
    }

    @Test("keep the order of relationships that have one")
    func order() throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let model = try #require(Bookshop.model.copy() as? NSManagedObjectModel)
        model.entitiesByName["Author"]?.relationshipsByName["books"]?.isOrdered = true
        let coordinator = try coordinator(model, file, NSSQLiteStoreType)
        let context = context(coordinator)
        let author = context.insert("Author", ["name": "Ann"])
        let books = ["c", "a", "b"].map { context.insert("Book", ["title": $0, "isbn": $0]) }
        author.setValue(NSOrderedSet(array: books), forKey: "books")
        try context.save()
        let store = try #require(coordinator.persistentStores.first)
        _ = try coordinator.migratePersistentStore(
            store, to: database.url(), options: nil, withType: NSPostgreSQLStoreType)
        let reader = self.context(coordinator)
        let found = try reader.fetch(NSFetchRequest<NSManagedObject>(entityName: "Author")).first
        let titles = (found?.value(forKey: "books") as? NSOrderedSet)?.compactMap {
            ($0 as? NSManagedObject)?.value(forKey: "title") as? String
        }
        #expect(titles == ["c", "a", "b"])
    }

    @Test("go on counting where the store was, so that no key is given out again")
    func counters() throws {
        defer { try? FileManager.default.removeItem(at: file) }
        let coordinator = try coordinator(Bookshop.model, file, NSSQLiteStoreType)
        /// The key of an author who is gone at once.
        func key() throws -> Int {
            let context = context(coordinator)
            let author = context.insert("Author", ["name": "Ann"])
            try context.save()
            let key = author.objectID.uriRepresentation().lastPathComponent.dropFirst()
            context.delete(author)
            try context.save()
            return try #require(Int(key))
        }
        let back = file.appendingPathExtension("back")
        defer { try? FileManager.default.removeItem(at: back) }
        var last = try key()
        for (place, type) in [(database.url(), NSPostgreSQLStoreType), (back, NSSQLiteStoreType)] {
            let store = try #require(coordinator.persistentStores.first)
            _ = try coordinator.migratePersistentStore(store, to: place, options: nil, withType: type)
            let next = try key()
            #expect(next > last)
            last = next
        }
    }

    @Test("are refused where there is a store already")
    func occupied() throws {
        defer { try? FileManager.default.removeItem(at: file) }
        _ = try Bookshop.container(database)
        let coordinator = try coordinator(Bookshop.model, file, NSSQLiteStoreType)
        let store = try #require(coordinator.persistentStores.first)
        #expect(throws: NSError.self) {
            try coordinator.migratePersistentStore(
                store, to: database.url(), options: nil, withType: NSPostgreSQLStoreType)
        }
    }

    @Test("are made of the store in the schema that the options of the source name")
    func sourceSchema() throws {
        let backup = try #require(URL(string: database.uri() + "&schema=backup"))
        try fill(coordinator(Bookshop.model, backup, NSPostgreSQLStoreType))
        _ = try Bookshop.container(database)
        try NSPersistentStoreCoordinator(managedObjectModel: Bookshop.model).replacePersistentStore(
            at: database.url(), destinationOptions: [NSPostgreSQLSchemaOption: "copy"],
            withPersistentStoreFrom: database.url(), sourceOptions: [NSPostgreSQLSchemaOption: "backup"],
            ofType: NSPostgreSQLStoreType)
        #expect(try database.rows("SELECT count(*) FROM copy.book") == [["150"]])
    }

    @Test("can take the place of a store in another database")
    func replacing() throws {
        let source = try coordinator(Bookshop.model, database.url(), NSPostgreSQLStoreType)
        try fill(source)
        let other = try TestDatabase()
        try NSPersistentStoreCoordinator(managedObjectModel: Bookshop.model).replacePersistentStore(
            at: other.url(), destinationOptions: nil, withPersistentStoreFrom: database.url(), sourceOptions: nil,
            ofType: NSPostgreSQLStoreType)
        #expect(
            try content(coordinator(Bookshop.model, other.url(), NSPostgreSQLStoreType)) == content(source))
    }

    @Test("A migration into another schema of the same database leaves the source as it is")
    func migrationBesideIt() throws {
        let old = Bookshop.make(hasTags: false)
        let source = try coordinator(old, database.url(), NSPostgreSQLStoreType)
        let context = context(source)
        _ = context.insert("Author", ["name": "Ada"])
        try context.save()
        for store in source.persistentStores { try source.remove(store) }
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: old, destinationModel: Bookshop.model)
        try NSMigrationManager(sourceModel: old, destinationModel: Bookshop.model).migrateStore(
            from: database.url(), sourceType: NSPostgreSQLStoreType, options: nil, with: mapping,
            toDestinationURL: database.url(), destinationType: NSPostgreSQLStoreType,
            destinationOptions: [NSPostgreSQLSchemaOption: "archive"])
        #expect(try database.rows("SELECT name FROM archive.author") == [["Ada"]])
        #expect(try database.rows("SELECT name FROM public.author") == [["Ada"]])
        let tables = "SELECT schemaname FROM pg_tables WHERE tablename = 'tag'"
        #expect(try database.rows(tables) == [["archive"]])
        _ = try coordinator(old, database.url(), NSPostgreSQLStoreType)
    }
}
