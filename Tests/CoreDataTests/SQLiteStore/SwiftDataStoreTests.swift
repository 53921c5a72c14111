import Foundation
import SQLiteConnection
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import SQLGeneration
@testable import SQLiteEngine

/// Stores as SwiftData lays them out, made of plain SQL by what is known of them. None that SwiftData wrote itself is
/// used here.
@Suite("Look-alikes of SwiftData's stores")
struct SwiftDataStoreTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    // MARK: The store

    /// A drink with a `Codable` author, ingredients without inverse, and arrays that are kept as bytes.
    private func model(_ version: Int = 1) -> NSManagedObjectModel {
        let author = NSCompositeAttributeDescription()
        author.name = "author"
        author.isOptional = true
        author.elements = [
            makeAttribute("person", .stringAttributeType), makeAttribute("place", .stringAttributeType),
            makeAttribute("year", .stringAttributeType), makeAttribute("id", .UUIDAttributeType),
        ]
        let flavors = makeAttribute("flavors", .transformableAttributeType)
        flavors.valueTransformerName = "SomebodysCodableTransformer"
        let drink = makeEntity(
            "Drink", author, makeAttribute("drinkName", .stringAttributeType),
            makeAttribute("favorite", .booleanAttributeType), flavors, makeAttribute("id", .UUIDAttributeType),
            makeAttribute("instructions", .binaryDataAttributeType), makeToOne("title", "Title", inverse: nil),
            makeToMany("spec", "Ingredient", inverse: nil)
        ).with(constraint: "drinkName").with(index: "SwiftDataIndexOnBinarydrinkName", "drinkName")
        if version > 1 { drink.properties.append(makeAttribute("rating", .integer64AttributeType)) }
        return makeModel(
            drink,
            makeEntity(
                "Ingredient", makeAttribute("id", .UUIDAttributeType), makeAttribute("unit", .stringAttributeType),
                makeAttribute("value", .doubleAttributeType), makeToOne("ingredientBase", "Title", inverse: nil)),
            makeEntity("Title", makeAttribute("name", .stringAttributeType)))
    }

    private static let statements = [
        """
        CREATE TABLE ZDRINK ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZFAVORITE INTEGER, ZTITLE INTEGER, \
        ZPERSON VARCHAR, ZPLACE VARCHAR, ZYEAR VARCHAR, ZDRINKNAME VARCHAR, ZID BLOB, ZID1 BLOB, ZFLAVORS BLOB, \
        ZINSTRUCTIONS BLOB )
        """,
        """
        CREATE TABLE ZINGREDIENT ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZINGREDIENTBASE INTEGER, \
        Z1SPEC INTEGER, ZVALUE FLOAT, ZUNIT VARCHAR, ZID BLOB )
        """,
        "CREATE TABLE ZTITLE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR )",
        "CREATE INDEX ZDRINK_ZTITLE_INDEX ON ZDRINK (ZTITLE)",
        "CREATE INDEX Z_Drink_SwiftDataIndexOnBinarydrinkName ON ZDRINK (ZDRINKNAME COLLATE BINARY ASC)",
        "CREATE UNIQUE INDEX Z_Drink_UNIQUE_drinkName ON ZDRINK (ZDRINKNAME COLLATE BINARY ASC)",
        "CREATE INDEX ZINGREDIENT_ZINGREDIENTBASE_INDEX ON ZINGREDIENT (ZINGREDIENTBASE)",
        "CREATE INDEX ZINGREDIENT_Z1SPEC_INDEX ON ZINGREDIENT (Z1SPEC)",
        // What the mirroring to CloudKit adds, and a table of a module that is not there.
        "CREATE TABLE ANSCKEVENT ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZDOMAIN VARCHAR )",
        "INSERT INTO ANSCKEVENT VALUES (1, 16010, 1, 'setup')",
        """
        INSERT INTO ZDRINK VALUES (1, 1, 1, 1, 1, 'Ada', 'London', '1935', 'Mule', X'00112233445566778899AABBCCDDEEFF', \
        X'FF112233445566778899AABBCCDDEEFF', CAST('["sour","sweet"]' AS BLOB), CAST('["stir"]' AS BLOB))
        """,
        "INSERT INTO ZDRINK (Z_PK, Z_ENT, Z_OPT, ZFAVORITE, ZDRINKNAME) VALUES (2, 1, 1, 0, 'Water')",
        "INSERT INTO ZINGREDIENT VALUES (1, 2, 1, NULL, 1, 1.5, 'oz', NULL), (2, 2, 1, NULL, 1, 2, 'cl', NULL), (3, 2, 1, NULL, NULL, 3, 'l', NULL)",
        "INSERT INTO ZTITLE VALUES (1, 3, 1, 'Classic')",
    ]

    private func make() throws {
        let connection = try Connection(path: folder.store.path, mode: .create)
        for statement in Self.statements + StoreTables.bookkeeping + StoreTables.history {
            try connection.execute(statement)
        }
        try connection.execute(
            """
            INSERT INTO Z_PRIMARYKEY VALUES (1, 'Drink', 0, 2), (2, 'Ingredient', 0, 3), (3, 'Title', 0, 1), \
            (16001, 'CHANGE', 0, 0), (16002, 'TRANSACTION', 0, 0), (16003, 'TRANSACTIONSTRING', 0, 0), \
            (16010, 'NSCKEvent', 0, 1)
            """)
        // Hashes that nobody here can compute, as Apple's are.
        let hashes = ["Drink", "Ingredient", "Title"].map { ($0, Data(repeating: UInt8($0.count), count: 32)) }
        let metadata: [String: Any] = [
            NSStoreTypeKey: NSSQLiteStoreType, "NSPersistenceFrameworkVersion": 1344,
            NSStoreModelVersionHashesKey: Dictionary(hashes, uniquingKeysWith: { first, _ in first }),
            "NSStoreModelVersionHashesVersion": 3, NSStoreModelVersionIdentifiersKey: [""],
        ]
        let insert = try connection.prepare("INSERT INTO Z_METADATA VALUES (1, ?, ?)")
        try insert.bind("6E6F7468-696E-4720-6F66-205377696674", at: 1)
        try insert.bind(PropertyListSerialization.data(fromPropertyList: metadata, format: .binary, options: 0), at: 2)
        try insert.run()
        let cache = try connection.prepare("INSERT INTO Z_MODELCACHE VALUES (?)")
        try cache.bind(ModelCache.modelCacheData(for: model()), at: 1)
        try cache.run()
    }

    private func context(_ model: NSManagedObjectModel, migrates: Bool = false) throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        _ = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store,
            options: [
                NSPersistentHistoryTrackingKey: true, NSMigratePersistentStoresAutomaticallyOption: migrates,
                NSInferMappingModelAutomaticallyOption: migrates,
            ])
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private func drinks(
        _ context: NSManagedObjectContext, _ format: String? = nil, by key: String = "drinkName"
    ) throws -> [NSManagedObject] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Drink")
        request.predicate = format.map { NSPredicate(format: $0) }
        request.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
        return try context.fetch(request)
    }

    // MARK: Tests

    @Test("A store that we make has the same tables and indexes")
    func sameSchema() throws {
        let schema = SQLSchema(layout: try model().compiledLayout())
        let made = Set(try schema.creationStatements())
        let own = Self.statements.filter { $0.hasPrefix("CREATE") && !$0.contains("ANSCK") }
        #expect(own.filter { !made.contains($0) } == [])
    }

    @Test("Values are where SwiftData has them, and can be fetched by the elements of composites")
    func reading() throws {
        try make()
        let context = try context(model())
        try context.performAndWait {
            let drink = try #require(try drinks(context, "author.year == '1935'").first)
            let author = try #require(drink.value(forKey: "author") as? [String: Any])
            #expect(author["person"] as? String == "Ada")
            #expect(author["id"] as? UUID == UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF"))
            #expect(drink.value(forKey: "id") as? UUID == UUID(uuidString: "FF112233-4455-6677-8899-AABBCCDDEEFF"))
            #expect(drink.value(forKey: "flavors") as? Data == Data(#"["sour","sweet"]"#.utf8))
            #expect((drink.value(forKey: "spec") as? Set<NSManagedObject>)?.count == 2)
            #expect((drink.value(forKey: "title") as? NSManagedObject)?.value(forKey: "name") as? String == "Classic")
            #expect(
                try drinks(context, by: "author.person").map { $0.value(forKey: "drinkName") as? String } == [
                    "Water", "Mule",
                ])
        }
    }

    @Test("A save writes the same columns, and the history as SwiftData expects it")
    func saving() throws {
        try make()
        let context = try context(model())
        try context.performAndWait {
            context.transactionAuthor = "pippin"
            let drink = try #require(try drinks(context, "drinkName == 'Mule'").first)
            drink.setValue(["person": "Bea", "year": "1940"], forKey: "author")
            let gin = NSEntityDescription.insertNewObject(forEntityName: "Ingredient", into: context)
            gin.setValue("ml", forKey: "unit")
            let water = try #require(try drinks(context, "drinkName == 'Water'").first)
            water.setValue(Set([gin]), forKey: "spec")
            try context.save()
        }
        #expect(
            try plainSQL(
                "SELECT ZPERSON, ZPLACE, ZYEAR, ZID, ZDRINKNAME, ZFLAVORS FROM ZDRINK WHERE Z_PK = 1", in: folder.store)
                == ["Bea||1940||Mule|5B22736F7572222C227377656574225D"])
        #expect(
            try plainSQL("SELECT Z_PK, Z1SPEC FROM ZINGREDIENT ORDER BY Z_PK", in: folder.store) == [
                "1|1", "2|1", "3|", "4|2",
            ])
        #expect(
            try plainSQL("SELECT ZENTITY, ZENTITYPK, ZCHANGETYPE FROM ACHANGE ORDER BY 1, 2", in: folder.store)
                == ["1|1|1", "1|2|1", "2|4|0"])
        #expect(
            try plainSQL(
                "SELECT s.ZNAME FROM ATRANSACTION t JOIN ATRANSACTIONSTRING s ON s.Z_PK = t.ZAUTHORTS", in: folder.store
            )
                == ["pippin"])
    }

    @Test("A migration keeps everything, tables of others included")
    func migration() throws {
        try make()
        let context = try context(model(2), migrates: true)
        try context.performAndWait {
            let drink = try #require(try drinks(context, "author.place == 'London'").first)
            #expect((drink.value(forKey: "spec") as? Set<NSManagedObject>)?.count == 2)
            drink.setValue(5, forKey: "rating")
            try context.save()
        }
        #expect(
            try plainSQL("SELECT ZRATING, ZPERSON, ZID1 FROM ZDRINK ORDER BY Z_PK", in: folder.store)
                == ["5|Ada|FF112233445566778899AABBCCDDEEFF", "||"])
        #expect(try plainSQL("SELECT ZDOMAIN FROM ANSCKEVENT", in: folder.store) == ["setup"])
        #expect(
            try plainSQL("SELECT Z_NAME FROM Z_PRIMARYKEY WHERE Z_ENT > 16000 ORDER BY 1", in: folder.store)
                == ["CHANGE", "NSCKEvent", "TRANSACTION", "TRANSACTIONSTRING"])
        #expect(
            try plainSQL("SELECT name FROM sqlite_master WHERE name LIKE 'Z_Drink%' ORDER BY 1", in: folder.store)
                == ["Z_Drink_SwiftDataIndexOnBinarydrinkName", "Z_Drink_UNIQUE_drinkName"])
    }

    @Test("The history of an older system, which has no table of names, is read and written on")
    func olderHistory() throws {
        try make()
        do {
            let connection = try Connection(path: folder.store.path, mode: .readWrite)
            for statement in [
                "DROP TABLE ATRANSACTIONSTRING", "DROP TABLE ATRANSACTION",
                """
                CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZTIMESTAMP FLOAT, \
                ZAUTHOR VARCHAR, ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR )
                """,
                "INSERT INTO ATRANSACTION VALUES (1, 16002, 1, 5, 'Ann', 'app', NULL, '77')",
                "INSERT INTO ACHANGE (Z_PK, Z_ENT, ZCHANGETYPE, ZENTITY, ZENTITYPK, ZTRANSACTIONID) VALUES (1, 16001, 0, 1, 1, 1)",
                "UPDATE Z_PRIMARYKEY SET Z_MAX = 1 WHERE Z_ENT IN (16001, 16002)",
                "DELETE FROM Z_PRIMARYKEY WHERE Z_ENT = 16003",
            ] { try connection.execute(statement) }
        }
        let context = try context(model())
        try context.performAndWait {
            context.transactionAuthor = "Bea"
            try #require(try drinks(context).first).setValue(false, forKey: "favorite")
            try context.save()
            let result = try context.execute(
                NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?))
            let transactions = (result as? NSPersistentHistoryResult)?.result as? [NSPersistentHistoryTransaction] ?? []
            #expect(transactions.map(\.author) == ["Ann", "Bea"])
        }
    }
}
