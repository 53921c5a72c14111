import CoreData
import CoreDataPostgres
import Foundation
import PostgresEngine
import PostgresServer
import StoreEngine
import Testing

/// A unique index of PostgreSQL has NULL last; in an order of Core Data, nil comes first.
@Suite("The first objects in the order of a unique attribute", .needsPostgres)
struct FirstInOrderTests {
    private let database: TestDatabase
    private let context: NSManagedObjectContext
    private let engine: PostgresEngine
    private let model: NSManagedObjectModel

    init() throws {
        database = try TestDatabase()
        model = Bookshop.make(hasTags: true)
        let weight = NSAttributeDescription()
        (weight.name, weight.attributeType, weight.isOptional) = ("weight", .doubleAttributeType, true)
        model.entitiesByName["Book"]?.properties.append(weight)
        model.entitiesByName["Book"]?.uniquenessConstraints = [["weight"]]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        let store = try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: database.url(), options: nil)
        context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        engine = try #require(store.engine as? PostgresEngine)
    }

    private func request(_ format: String?, ascending: Bool, limit: Int) -> NSFetchRequest<NSManagedObject> {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.predicate = format.map { NSPredicate(format: $0) }
        request.sortDescriptors = [
            NSSortDescriptor(key: "weight", ascending: ascending), NSSortDescriptor(key: "title", ascending: false),
        ]
        request.fetchLimit = limit
        return request
    }

    @Test("are those with which the list of all of them begins, nil first", arguments: [true, false])
    func sameAsAll(ascending: Bool) throws {
        for number in 0..<30 {
            let book = context.insert("Book", ["title": "Title \(number % 7) \(number)"])
            if number % 3 > 0 { book.setValue(Double(number * 17 % 31), forKey: "weight") }
        }
        try context.save()
        for format in [nil, "weight > 5", "weight == nil OR title CONTAINS '2'", "title BEGINSWITH 'Title 3'"] {
            let all = try context.fetch(request(format, ascending: ascending, limit: 0)).map(\.objectID)
            for limit in [1, 3, 9, 10, 11, 15, 40] {
                let first = try context.fetch(request(format, ascending: ascending, limit: limit)).map(\.objectID)
                #expect(first == Array(all.prefix(limit)), "\(format ?? "all") \(limit)")
            }
        }
    }

    @Test("are found by the index, without reading the table", arguments: [true, false])
    func index(ascending: Bool) throws {
        try database.connect().execute(
            "INSERT INTO book (title, weight) SELECT 'Title ' || n, n FROM generate_series(1, 20000) n; ANALYZE")
        let layout = try #require(try model.compiledLayout().entityByName["Book"])
        var plan = FetchPlan(entity: layout)
        plan.limit = 20
        plan.sortDescriptors = request(nil, ascending: ascending, limit: 20).sortDescriptors ?? []
        plan.predicate = NSPredicate(format: "weight > 100")
        var statement = try engine.statement(of: plan)
        // The filter's value is a parameter, too.
        for number in (1...5).reversed() { statement = statement.replacing("$\(number)", with: "20") }
        let lines = try database.connect().query("EXPLAIN " + statement)
        let text = (0..<lines.count).map { lines.string($0, 0) }.joined(separator: "\n")
        #expect(text.contains("book_weight_unique"), "\(text)")
        #expect(!text.contains("Seq Scan"), "\(text)")
    }
}
