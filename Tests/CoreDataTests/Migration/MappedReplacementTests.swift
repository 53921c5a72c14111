import CoreData
import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import MigrationPlans
@testable import SQLGeneration
@testable import SQLiteEngine
@testable import StoreEngine

@Suite("A store that is replaced by what a mapping model made of it")
struct MappedReplacementTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private static func model(_ version: Int) -> NSManagedObjectModel {
        let cover = makeAttribute("cover", .binaryDataAttributeType)
        cover.allowsExternalBinaryDataStorage = true
        let title = makeAttribute(version == 1 ? "title" : "name", .stringAttributeType)
        title.preservesValueInHistoryOnDeletion = true
        let colour = makeAttribute("colour", .stringAttributeType)
        colour.preservesValueInHistoryOnDeletion = true
        return makeModel(
            makeEntity("Author", makeAttribute("name", .stringAttributeType)),
            version == 1 ? makeEntity("Book", title, cover) : makeEntity("Book", title, cover, colour))
    }

    private static func mapping() throws -> NSMappingModel {
        let target = model(2)
        target.attribute("Book", "name").renamingIdentifier = "title"
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: model(1), destinationModel: target)
        let authors = mapping.entityMappings.first { $0.sourceEntityName == "Author" }
        authors?.attributeMappings?.first?.valueExpression = NSExpression(
            format: "FUNCTION($source.name, 'uppercaseString')")
        return mapping
    }

    private let tracking: [AnyHashable: Any] = [NSPersistentHistoryTrackingKey: true]

    /// A store of three books, of which one was changed and one deleted, with a history.
    private func makeStore(pragmas: [String: String] = [:]) throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model(1))
        let options = tracking.merging([NSSQLitePragmasOption: pragmas]) { $1 }
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store, options: options)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let books = ["A", "B", "C"].map { title -> NSManagedObject in
                let book = NSEntityDescription.insertNewObject(forEntityName: "Book", into: context)
                book.setValue(title, forKey: "title")
                book.setValue(Data(repeating: 7, count: 200_000), forKey: "cover")
                return book
            }
            let author = NSEntityDescription.insertNewObject(forEntityName: "Author", into: context)
            author.setValue("ann", forKey: "name")
            try context.save()
            books[0].setValue("A2", forKey: "title")
            context.delete(books[1])
            try context.save()
        }
        try coordinator.remove(store)
    }

    private func migrate(from source: NSManagedObjectModel = Self.model(1)) throws {
        try MappedMigration(
            format: SQLiteFormat.self, url: folder.store, source: source, destination: Self.model(2),
            mapping: Self.mapping(),
            configuration: nil, options: tracking
        ).run()
    }

    @Test("The history follows the objects to their new keys, and old keys are never used again")
    func history() throws {
        try makeStore()
        let transactions = try plainSQL("SELECT Z_PK, ZTIMESTAMP FROM ATRANSACTION ORDER BY 1", in: folder.store)
        let deleted = try plainSQL("SELECT ZENTITYPK FROM ACHANGE WHERE ZCHANGETYPE = 2", in: folder.store)
        let titles = try plainSQL("SELECT ZTITLE FROM ZBOOK ORDER BY 1", in: folder.store)
        try migrate()
        #expect(try plainSQL("SELECT ZNAME FROM ZBOOK ORDER BY 1", in: folder.store) == titles)
        #expect(try plainSQL("SELECT ZNAME FROM ZAUTHOR", in: folder.store) == ["ANN"])
        #expect(try plainSQL("SELECT MIN(Z_PK) > 3 FROM ZBOOK", in: folder.store) == ["1"])
        #expect(
            try plainSQL("SELECT Z_PK, ZTIMESTAMP FROM ATRANSACTION ORDER BY 1", in: folder.store) == transactions)
        let changes = """
            SELECT p.Z_NAME, c.ZCHANGETYPE, b.ZNAME, hex(c.ZCOLUMNS) FROM ACHANGE c JOIN Z_PRIMARYKEY p ON p.Z_ENT = c.ZENTITY \
            LEFT JOIN ZBOOK b ON b.Z_PK = c.ZENTITYPK AND p.Z_NAME = 'Book' WHERE c.ZCHANGETYPE > 0 ORDER BY 2
            """
        // An update of the name, which is the second property by its new name, and a deletion of no object that there
        // is.
        let found = try plainSQL(changes, in: folder.store)
        #expect(found == ["Book|1|A2|20", "Book|2||"])
        // What is kept of the deleted book: its name, now the second such attribute after the colour.
        let kept = "SELECT ZTOMBSTONE0, ZTOMBSTONE1 FROM ACHANGE WHERE ZCHANGETYPE = 2"
        #expect(try plainSQL(kept, in: folder.store) == ["|B"])
        #expect(
            try plainSQL("SELECT ZENTITYPK FROM ACHANGE WHERE ZCHANGETYPE = 2", in: folder.store) == deleted)
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model(2))
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store, options: tracking)
    }

    @Test("The history of an entity that Apple's migration left its former name in Z_PRIMARYKEY is taken along, too")
    func historyOfRenamedEntity() throws {
        try makeStore()
        try execute("UPDATE Z_PRIMARYKEY SET Z_NAME = 'Volume' WHERE Z_NAME = 'Book'", in: folder.store)
        let source = Self.model(1)
        source.entity("Book").renamingIdentifier = "Volume"
        try migrate(from: source)
        let changes = """
            SELECT p.Z_NAME, c.ZCHANGETYPE FROM ACHANGE c JOIN Z_PRIMARYKEY p ON p.Z_ENT = c.ZENTITY \
            WHERE c.ZCHANGETYPE > 0 ORDER BY 2
            """
        #expect(try plainSQL(changes, in: folder.store) == ["Book|1", "Book|2"])
    }

    @Test("Files of external data are those of the new store afterwards, and no others")
    func external() throws {
        try makeStore()
        let files = ExternalData(store: folder.store).folder
        let before = try FileManager.default.contentsOfDirectory(atPath: files.path)
        try migrate()
        let after = try FileManager.default.contentsOfDirectory(atPath: files.path)
        #expect(after.count == 2)
        #expect(Set(after).isDisjoint(with: before))
        let sizes = try after.map { try Data(contentsOf: files.appendingPathComponent($0)).count }
        #expect(sizes == [200_000, 200_000])
    }

    @Test("A store with pages of another size is replaced, too")
    func pageSize() throws {
        try makeStore(pragmas: ["page_size": "8192"])
        #expect(try plainSQL("PRAGMA page_size", in: folder.store) == ["8192"])
        try migrate()
        #expect(try plainSQL("SELECT ZNAME FROM ZAUTHOR", in: folder.store) == ["ANN"])
    }

    @Test("A failure names the versions and the step, and leaves the store as it was")
    func failure() throws {
        try makeStore()
        let before = try plainSQL("SELECT Z_PK, ZTITLE FROM ZBOOK ORDER BY 1", in: folder.store)
        let mapping = try Self.mapping()
        mapping.entityMappings.first { $0.sourceEntityName == "Book" }?.attributeMappings?.first?.valueExpression =
            NSExpression(format: "$source.colour")
        do {
            try MappedMigration(
                format: SQLiteFormat.self, url: folder.store, source: Self.model(1), destination: Self.model(2),
                mapping: mapping,
                configuration: nil, options: tracking
            ).run()
            Issue.record("the mapping was followed")
        } catch let error as NSError {
            #expect(error.localizedDescription.contains("The step by the mapping model failed"))
            #expect(error.localizedDescription.contains("colour"))
            #expect(error.localizedRecoverySuggestion != nil)
        }
        #expect(try plainSQL("SELECT Z_PK, ZTITLE FROM ZBOOK ORDER BY 1", in: folder.store) == before)
    }

    @Test("Two migrations of a store do not work at a time; the second finds it done")
    func twice() throws {
        try makeStore()
        try migrate()
        let keys = try plainSQL("SELECT Z_PK FROM ZBOOK", in: folder.store)
        try migrate()
        #expect(try plainSQL("SELECT Z_PK FROM ZBOOK", in: folder.store) == keys)
    }
}
