import CoreData
import CoreDataPostgres
import Foundation
import PostgresServer
import Testing

private typealias NSExpression = CoreData.NSExpression

/// PostgreSQL computes with numbers of the width of their columns, memory and SQLite with those of 64 bits.
@Suite("Results that are wider than the columns that they are computed from", .needsPostgres)
struct WideResultTests {
    private let database: TestDatabase
    private let context: NSManagedObjectContext

    init() throws {
        database = try TestDatabase()
        let entity = NSEntityDescription()
        (entity.name, entity.managedObjectClassName) = ("Count", "NSManagedObject")
        for (name, type) in [
            ("few", NSAttributeType.integer16AttributeType), ("more", .integer32AttributeType),
            ("many", .integer64AttributeType),
        ] {
            let attribute = NSAttributeDescription()
            (attribute.name, attribute.attributeType, attribute.isOptional) = (name, type, true)
            entity.properties.append(attribute)
        }
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(
            ofType: NSPostgreSQLStoreType, configurationName: nil, at: database.url(), options: nil)
        context = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        _ = context.insert("Count", ["few": Int16.max, "more": Int32.max, "many": 1])
        try context.save()
    }

    @Test("are columns of dictionaries", arguments: [("few + few", 65_534.0), ("more + more", 4_294_967_294.0)])
    func columns(format: String, expected: Double) throws {
        let column = NSExpressionDescription()
        column.name = "result"
        column.expression = NSExpression(format: format)
        column.expressionResultType = .doubleAttributeType
        let request = NSFetchRequest<NSDictionary>(entityName: "Count")
        request.resultType = .dictionaryResultType
        request.propertiesToFetch = [column]
        #expect(try context.fetch(request).map { $0["result"] as? Double } == [expected])
    }

    private func update(_ key: String, to format: String) throws {
        let request = NSBatchUpdateRequest(entityName: "Count")
        request.propertiesToUpdate = [key: NSExpression(format: format)]
        try context.execute(request)
        context.reset()
    }

    @Test("are set by batch updates", arguments: [("few + few", 65_534), ("more + more", 4_294_967_294)])
    func updates(format: String, expected: Int) throws {
        try update("many", to: format)
        #expect(try context.fetch("Count").map { $0.value(forKey: "many") as? Int } == [expected])
    }

    @Test("are refused by batch updates of attributes that do not hold them, which are named")
    func refused() throws {
        let error = #expect(throws: NSError.self) { try update("few", to: "few + few") }
        #expect(error?.localizedDescription.contains("few") == true, "\(String(describing: error))")
        #expect(try context.fetch("Count").map { $0.value(forKey: "few") as? Int } == [32_767])
    }
}
