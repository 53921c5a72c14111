import CoreDataPostgres
import Foundation
import PostgresServer
import Testing

@Suite("Values that are equal to the server and written differently", .needsPostgres)
struct EqualValueTests {
    private let database: TestDatabase
    private let model: NSManagedObjectModel

    init() throws {
        database = try TestDatabase()
        model = Bookshop.make(hasTags: true)
        let weight = NSAttributeDescription()
        (weight.name, weight.attributeType, weight.isOptional) = ("weight", .doubleAttributeType, true)
        model.entitiesByName["Book"]?.properties.append(weight)
        model.entitiesByName["Book"]?.uniquenessConstraints = [["price"], ["weight"]]
    }

    private func context() throws -> NSManagedObjectContext {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: database.url(), options: nil)
        let context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        return context
    }

    @Test("are found by merge policies: numbers with zeros at their end")
    func decimals() throws {
        let first = try context()
        _ = first.insert("Book", ["title": "a", "price": NSDecimalNumber(string: "1.5")])
        try first.save()
        try database.connect().execute("UPDATE book SET price = 1.50")
        let second = try context()
        _ = second.insert("Book", ["title": "b", "price": NSDecimalNumber(string: "1.5")])
        try second.save()
        #expect(try database.rows("SELECT title FROM book") == [["b"]])
    }

    @Test("are found by merge policies: zeros with a sign, also of new objects")
    func zeros() throws {
        let first = try context()
        _ = first.insert("Book", ["title": "a", "weight": -0.0])
        try first.save()
        let second = try context()
        _ = second.insert("Book", ["title": "b", "weight": 0.0])
        try second.save()
        #expect(try database.rows("SELECT title FROM book") == [["b"]])
        let third = try context()
        third.mergePolicy = NSMergePolicy.error
        for weight in [0.0, -0.0] { _ = third.insert("Book", ["title": "c", "weight": weight]) }
        let error = #expect(throws: NSError.self) { try third.save() }
        #expect(error?.code == NSManagedObjectConstraintMergeError)
    }

    @Test("No decimal number is less than NaN, or greater, as in memory")
    func notANumber() throws {
        let context = try context()
        _ = context.insert("Book", ["price": NSDecimalNumber(string: "1.5")])
        try context.save()
        for sign in ["<", ">", "<=", ">=", "=="] {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            request.predicate = NSPredicate(format: "price \(sign) %@", NSNumber(value: Double.nan))
            #expect(try context.count(for: request) == 0, "\(sign)")
        }
    }
}
