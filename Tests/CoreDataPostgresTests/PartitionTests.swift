import CoreDataPostgres
import Foundation
import MigrationPlans
import PostgresConnection
import PostgresEngine
import PostgresServer
import StoreEngine
import Testing

@Suite("Tables that are divided as the model says", .needsPostgres)
struct PartitionTests {
    private let database: TestDatabase

    init() throws { database = try TestDatabase() }

    private func open(_ model: NSManagedObjectModel) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: database.url(),
            options: [
                NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true,
                NSPersistentHistoryTrackingKey: true,
            ])
        return coordinator
    }

    private func context(_ coordinator: NSPersistentStoreCoordinator) -> NSManagedObjectContext {
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private func date(_ year: Int) -> Date {
        DateComponents(calendar: Calendar(identifier: .gregorian), timeZone: .gmt, year: year, month: 6).date ?? Date()
    }

    /// Sales of three years, with a line and a tag each.
    private func fill(_ context: NSManagedObjectContext, count: Int = 30) throws {
        let tag = context.insert("Tag", ["name": "new"])
        for number in 0..<count {
            let sale = context.insert(
                "Sale",
                ["number": number, "placed": date(2024 + number % 3), "region": ["north", "south"][number % 2]])
            _ = context.insert("Line", ["position": 1, "sale": sale])
            sale.setValue(NSSet(object: tag), forKey: "tags")
        }
        try context.save()
    }

    private func parts(_ schema: String = "public") throws -> [String: Int] {
        let rows = try database.rows("SELECT tableoid::regclass::text AS part, count(*) AS n FROM sale GROUP BY 1")
        return Dictionary(uniqueKeysWithValues: rows.map { ($0[0], Int($0[1]) ?? -1) })
    }

    private let byYear = "range placed 2025-01-01 2026-01-01"

    // MARK: Making

    @Test("keep their rows by ranges of dates where they belong, and read only what a filter leaves")
    func ranges() throws {
        try fill(context(open(Sales.model(byYear, unique: []))))
        #expect(try parts() == ["sale_part_0": 10, "sale_part_1": 10, "sale_part_2": 10])
        let plan = try database.connect().query(
            "EXPLAIN SELECT * FROM sale WHERE placed >= '2025-02-01+00' AND placed < '2025-12-01+00'")
        let text = (0..<plan.count).map { plan.string($0, 0) }.joined(separator: "\n")
        #expect(
            text.contains("sale_part_1") && !text.contains("sale_part_0") && !text.contains("sale_part_2"), "\(text)")
    }

    @Test("are read by the statements of fetches with fewer parts, too")
    func pruning() throws {
        let coordinator = try open(Sales.model(byYear, unique: []))
        let context = context(coordinator)
        try fill(context)
        let plan = try plan(of: "placed >= %@ AND placed < %@", [date(2025), date(2026)], context)
        #expect(plan.contains("sale_part_1") && !plan.contains("sale_part_0"), "\(plan)")
        #expect(try context.fetch("Sale", "number == 7").count == 1)
    }

    /// What PostgreSQL does for the statement of a fetch.
    private func plan(of format: String, _ dates: [Date], _ context: NSManagedObjectContext) throws -> String {
        let coordinator = try #require(context.persistentStoreCoordinator)
        let layout = try coordinator.managedObjectModel.compiledLayout()
        var plan = FetchPlan(entity: try #require(layout.entityByName["Sale"]))
        plan.predicate = NSPredicate(format: format, argumentArray: dates)
        var sql = try #require(try coordinator.session.statement(of: plan))
        for (number, date) in dates.enumerated() {
            sql = sql.replacingOccurrences(of: "$\(number + 1)", with: "'\(ISO8601DateFormatter().string(from: date))'")
        }
        let result = try database.connect().query("EXPLAIN " + sql)
        return (0..<result.count).map { result.string($0, 0) }.joined(separator: "\n")
    }

    @Test(
        "have as many parts as they should, by the rows' keys or by an attribute",
        arguments: ["hash 4", "hash region 4"])
    func hashes(_ partitions: String) throws {
        let unique = partitions == "hash 4" ? [] : ["region", "number"]
        try fill(context(open(Sales.model(partitions, unique: unique))))
        #expect(try parts().values.reduce(0, +) == 30)
        #expect(try database.rows("SELECT count(*) FROM pg_inherits WHERE inhparent = 'sale'::regclass") == [["4"]])
        #expect(try parts().count >= 2)
    }

    // MARK: Working

    @Test("keep values unique, conflicts of two programs, and the history", arguments: ["hash 4", "hash region 3"])
    func working(_ partitions: String) throws {
        let unique = partitions == "hash 4" ? [] : ["region", "number"]
        let model = Sales.model(partitions, unique: unique)
        let coordinator = try open(model)
        let (first, second) = (context(coordinator), context(try open(model)))
        try fill(first)
        // Both change one row.
        let (mine, theirs) = (try first.fetch("Sale", "number == 3")[0], try second.fetch("Sale", "number == 3")[0])
        theirs.setValue("theirs", forKey: "note")
        try second.save()
        mine.setValue("mine", forKey: "note")
        let conflict = #expect(throws: NSError.self) { try first.save() }
        #expect(conflict?.code == 133_020)
        first.rollback()
        if !unique.isEmpty {
            _ = second.insert("Sale", ["number": 3, "region": "south", "placed": Date()])
            let error = #expect(throws: NSError.self) { try second.save() }
            #expect(error?.code == 133_021)
            second.rollback()
            // Merged into the one that is there.
            second.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            _ = second.insert("Sale", ["number": 3, "region": "south", "note": "merged"])
            try second.save()
            #expect(try database.rows("SELECT note FROM sale WHERE number = 3") == [["merged"]])
        }
        // What divides changes: the row moves.
        let moved = try second.fetch("Sale", "number == 4")[0]
        moved.setValue("elsewhere", forKey: "region")
        try second.save()
        #expect(try first.fetch("Sale", "region == 'elsewhere' AND number == 4").count == 1)
        first.delete(try first.fetch("Sale", "number == 5")[0])
        try first.save()
        #expect(try database.rows("SELECT count(*) FROM line") == [["29"]])
        #expect(try database.rows("SELECT count(*) FROM sale_tags") == [["29"]])
        let history = try database.rows(
            "SELECT c.kind, count(*) FROM pippin.changes c JOIN pippin.entities e ON e.number = c.entity AND e.name = 'Sale' "
                + "GROUP BY 1 ORDER BY 1")
        #expect(history.first == ["0", "30"] && history.last == ["2", "1"], "\(history)")
    }

    @Test("take batches: rows that are inserted find their parts, are updated, and deleted with what hangs on them")
    func batches() throws {
        let context = context(try open(Sales.model("hash region 4")))
        try fill(context, count: 10)
        let rows = (100..<400).map { ["number": $0, "region": "region \($0 % 7)", "placed": Date()] as [String: Any] }
        _ = try context.execute(NSBatchInsertRequest(entityName: "Sale", objects: rows))
        let update = NSBatchUpdateRequest(entityName: "Sale")
        update.predicate = NSPredicate(format: "number >= 300")
        update.propertiesToUpdate = ["region": "far"]
        _ = try context.execute(update)
        #expect(try database.rows("SELECT count(*) FROM sale WHERE region = 'far'") == [["100"]])
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Sale")
        request.predicate = NSPredicate(format: "number < 200")
        _ = try context.execute(NSBatchDeleteRequest(fetchRequest: request))
        #expect(try database.rows("SELECT count(*) FROM sale") == [["200"]])
        #expect(try database.rows("SELECT count(*) FROM line") == [["0"]])
        #expect(try database.rows("SELECT count(DISTINCT _id) FROM sale") == [["200"]])
    }

    @Test("let rows trade unique values")
    func trading() throws {
        let context = context(try open(Sales.model("hash region 4")))
        try fill(context)
        let pair = try context.fetch("Sale", "number IN {1, 3}")
        let numbers = pair.compactMap { $0.value(forKey: "number") as? Int }
        for (sale, number) in zip(pair, numbers.reversed()) { sale.setValue(number, forKey: "number") }
        try context.save()
        #expect(try database.rows("SELECT count(*) FROM sale WHERE number IN (1, 3)") == [["2"]])
    }

    @Test("are copied to another database, divided as they are")
    func copied() throws {
        let coordinator = try open(Sales.model("hash region 4"))
        try fill(context(coordinator))
        let other = try TestDatabase()
        let store = try #require(coordinator.persistentStores.first)
        _ = try coordinator.migratePersistentStore(
            store, to: other.url(), options: nil, withType: NSPostgreSQLStoreType)
        #expect(try other.rows("SELECT count(*) FROM pg_inherits WHERE inhparent = 'sale'::regclass") == [["4"]])
        #expect(try other.rows("SELECT count(*) FROM sale") == [["30"]])
    }

    @Test("are put in the place of another store, or of their own, with all rows", arguments: [true, false])
    func replaced(isSuccessor: Bool) throws {
        try fill(context(open(Sales.model("hash region 4"))))
        var place = database
        if isSuccessor {
            // As mapping models and plans do it: a store beside takes the place of the former one.
            try PostgresFormat.succeed(database.url(), options: nil, failing: { $0 }) { places in
                let next = try places.place(step: 0)
                try places.copy(database.url(), to: next)
                return next
            }
        } else {
            place = try TestDatabase()
            let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Sales.model("hash region 4"))
            try coordinator.replacePersistentStore(
                at: place.url(), destinationOptions: nil, withPersistentStoreFrom: database.url(), sourceOptions: nil,
                ofType: NSPostgreSQLStoreType)
        }
        #expect(try place.rows("SELECT count(*) FROM pg_inherits WHERE inhparent = 'public.sale'::regclass") == [["4"]])
        #expect(try place.rows("SELECT count(*) FROM sale") == [["30"]])
        #expect(try place.rows("SELECT count(*) FROM sale_tags") == [["30"]])
        let schemas = "SELECT DISTINCT relnamespace::regnamespace::text AS n FROM pg_class WHERE relname LIKE 'sale%'"
        #expect(try place.rows(schemas) == [["public"]])
    }

    // MARK: Another model

    @Test("are made of tables that are not divided, divided otherwise, and made whole again, by migrations")
    func migration() throws {
        try fill(context(open(Sales.model(nil))))
        #expect(try database.rows("SELECT count(*) FROM pg_inherits WHERE inhparent = 'sale'::regclass") == [["0"]])
        for (partitions, count) in [("hash region 4", 4), ("hash region 6", 6), ("range region m", 2), (nil, 0)] {
            let context = context(try open(Sales.model(partitions)))
            #expect(
                try database.rows("SELECT count(*) FROM pg_inherits WHERE inhparent = 'sale'::regclass") == [
                    ["\(count)"]
                ])
            #expect(try context.fetch("Sale").count == 30)
            #expect(try context.fetch("Line", "sale.number == 7").count == 1)
            #expect(try context.fetch("Sale", "ANY tags.name == 'new'").count == 30)
            // New keys come after the old ones.
            let sale = context.insert("Sale", ["number": 1000 + count, "region": "north"])
            try context.save()
            context.delete(sale)
            try context.save()
        }
        // Whole again, with its references.
        #expect(
            try database.rows("SELECT count(*) FROM pg_constraint WHERE contype = 'f' AND confrelid = 'sale'::regclass")
                == [["2"]])
    }

    @Test("stay as they are when something else of the model changes")
    func otherChange() throws {
        try fill(context(open(Sales.model("hash region 4"))))
        let parts = try parts()
        let model = Sales.model("hash region 4")
        let extra = NSAttributeDescription()
        (extra.name, extra.attributeType, extra.isOptional) = ("weight", .integer32AttributeType, true)
        model.entitiesByName["Sale"]?.properties.append(extra)
        model.entitiesByName["Sale"]?.attributesByName["number"]?.attributeType = .integer32AttributeType
        let context = context(try open(model))
        #expect(try self.parts() == parts)
        #expect(try context.fetch("Sale", "weight == nil").count == 30)
    }

    // MARK: What is refused

    @Test(
        "are refused where PostgreSQL could not keep what the model asks for",
        arguments: [
            ("hash region 4", ["number"], "number must be unique"), ("hash 4", ["number"], "number must be unique"),
            ("hash note 4", [], "“note” is optional"), ("hash nothing 4", [], "not an attribute"),
            ("list region 4", [], "neither hash nor range"), ("hash region 0", [], "number of parts"),
            ("range placed", [], "says too little|no bounds"),
        ])
    func refused(_ partitions: String, _ unique: [String], _ reason: String) throws {
        let error = #expect(throws: NSError.self) { _ = try open(Sales.model(partitions, unique: unique)) }
        let text = error?.localizedDescription ?? ""
        #expect(reason.split(separator: "|").contains { text.contains($0) }, "\(text)")
        #expect(error?.code == 134_020)
        #expect(try database.rows("SELECT count(*) FROM pg_tables WHERE tablename = 'sale'") == [["0"]])
    }

    @Test("are refused by a migration, too, which leaves everything as it was")
    func refusedMigration() throws {
        try fill(context(open(Sales.model(nil, unique: ["number"]))))
        let error = #expect(throws: NSError.self) { _ = try open(Sales.model("hash region 4", unique: ["number"])) }
        let text = "\(error?.userInfo ?? [:]) \(error?.localizedDescription ?? "")"
        #expect(text.contains("must be unique"), "\(text)")
        #expect(try database.rows("SELECT count(*) FROM sale") == [["30"]])
    }
}
