import CoreData
import CoreDataPostgres
import Foundation
import PostgresServer
import StoreEngine
import Testing

@testable import PostgresEngine

/// The database does not fold case and diacritics as Core Data does: such conditions are evaluated by the program.
@Suite("The first objects that satisfy a condition which the program evaluates", .needsPostgres)
struct FirstEvaluatedTests {
    private let database: TestDatabase
    private let context: NSManagedObjectContext

    init() throws {
        database = try TestDatabase()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Bookshop.make(hasTags: true))
        try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: database.url(), options: nil)
        context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        for number in 0..<2000 {
            _ = context.insert("Book", ["title": number % 100 == 99 ? "Äpfel \(number)" : "Title \(number)"])
        }
        try context.save()
        context.reset()
    }

    private func titles(_ format: String, limit: Int = 0, offset: Int = 0, ascending: Bool = true) throws -> [String] {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
        request.predicate = NSPredicate(format: format)
        request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: ascending)]
        (request.fetchLimit, request.fetchOffset) = (limit, offset)
        return try context.fetch(request).compactMap { $0.value(forKey: "title") as? String }
    }

    @Test(
        "are those with which the list of all of them begins",
        arguments: ["title LIKE[cd] '*apf?l*'", "title MATCHES '.*[36]99'", "title LIKE[c] 'nothing*here'"])
    func sameAsAll(format: String) throws {
        for ascending in [true, false] {
            let all = try titles(format, ascending: ascending)
            for (limit, offset) in [(1, 0), (3, 2), (5, 19), (500, 0), (4, 500)] {
                let first = try titles(format, limit: limit, offset: offset, ascending: ascending)
                #expect(first == Array(all.dropFirst(offset).prefix(limit)), "\(limit) from \(offset)")
            }
        }
    }

    @Test("are read in portions, each twice as large as the one before, until there are enough")
    func portions() throws {
        let store = try #require(context.persistentStoreCoordinator?.persistentStores.first)
        let database = try #require((store.engine as? PostgresEngine)?.opened)
        let book = try #require(
            context.persistentStoreCoordinator?.managedObjectModel.compiledLayout().entityByName["Book"])
        var portions: [Int] = []
        let rows = try database.snapshot {
            let statement = try database.candidateStatement(FetchPlan(entity: book), [], sortedBy: [])
            return try database.firstRows(3, of: statement) { rows in
                portions.append(rows.count)
                return ContiguousArray(rows.prefix(1))
            }
        }
        #expect(portions == [256, 512, 1024])
        #expect(rows?.count == 3)
    }
}
