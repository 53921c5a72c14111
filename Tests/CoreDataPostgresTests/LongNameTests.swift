import CoreDataPostgres
import Foundation
import PostgresServer
import Testing

@Suite("Tables whose names begin alike, and are long", .needsPostgres)
struct LongNameTests {
    private let database: TestDatabase
    /// The first 59 characters are the same.
    private let entities = ["1", "2"].map { "L" + String(repeating: "ong", count: 19) + "a" + $0 }
    private var tables: [String] { entities.map { $0.lowercased() } }

    init() throws { database = try TestDatabase() }

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

    /// Two entities, the first of which owns objects of the second.
    private func model(partitions: String? = nil) -> NSManagedObjectModel {
        let (first, second) = (NSEntityDescription(), NSEntityDescription())
        (first.name, second.name) = (entities[0], entities[1])
        for entity in [first, second] {
            let number = NSAttributeDescription()
            (number.name, number.attributeType, number.isOptional) = ("number", .integer64AttributeType, true)
            entity.properties = [number]
            entity.userInfo = partitions.map { ["PippinPartitions": $0] }
            entity.versionHashModifier = partitions
        }
        let (owned, owner) = (NSRelationshipDescription(), NSRelationshipDescription())
        (owned.name, owned.maxCount, owned.destinationEntity, owned.isOptional) = ("owned", 0, second, true)
        (owner.name, owner.maxCount, owner.destinationEntity, owner.isOptional) = ("owner", 1, first, true)
        (owned.deleteRule, owner.deleteRule) = (.cascadeDeleteRule, .nullifyDeleteRule)
        first.properties.append(owned)
        second.properties.append(owner)
        (owned.inverseRelationship, owner.inverseRelationship) = (owner, owned)
        let model = NSManagedObjectModel()
        model.entities = [first, second]
        return model
    }

    private func numbers(_ table: String) throws -> [String] {
        try database.rows("SELECT number FROM \(table) ORDER BY 1").map { $0[0] }
    }

    @Test("lose the rows that a batch deletion takes, and no others")
    func deletion() throws {
        let context = try open(model())
        let owner = context.insert(entities[0], ["number": 1])
        for number in [2, 3] { _ = context.insert(entities[0], ["number": number]) }
        try context.save()
        for number in 1...3 {
            let object = context.insert(entities[1], ["number": number])
            if number == 3 { object.setValue(owner, forKey: "owner") }
            try context.save()
        }
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: entities[0])
        request.predicate = NSPredicate(format: "number == 1")
        try context.execute(NSBatchDeleteRequest(fetchRequest: request))
        #expect(try numbers(tables[0]) == ["2", "3"])
        #expect(try numbers(tables[1]) == ["1", "2"])
    }

    @Test("have parts of their own")
    func parts() throws {
        let context = try open(model(partitions: "hash 12"))
        for entity in entities { for number in 0..<20 { _ = context.insert(entity, ["number": number]) } }
        try context.save()
        #expect(try database.rows("SELECT count(*) FROM pg_class WHERE relispartition AND relkind = 'r'") == [["24"]])
        #expect(try numbers(tables[1]).count == 20)
    }

    @Test("are migrated together, without mistaking one for another")
    func migration() throws {
        let context = try open(model())
        for (number, entity) in entities.enumerated() { _ = context.insert(entity, ["number": number]) }
        try context.save()
        // Tables that are divided are made anew.
        _ = try open(model(partitions: "hash 3"))
        #expect(try numbers(tables[0]) == ["0"])
        #expect(try numbers(tables[1]) == ["1"])
    }
}
