import CoreData
import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import MigrationPlans

@Suite("Expressions of mapping models, and the hooks around them")
struct MappingExpressionTests {
    let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        try Town.makeStore(at: folder.store)
    }

    private var destination: URL { folder.url.appendingPathComponent("new.sqlite") }

    private func migrate(
        portion: Int = NSMigrationManager.usualPortion, _ change: (NSMappingModel, NSMigrationManager) throws -> Void
    ) throws {
        let manager = NSMigrationManager(sourceModel: Town.model(), destinationModel: Town.model())
        manager.usesStoreSpecificMigrationManager = false
        manager.portion = portion
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: manager.sourceModel, destinationModel: manager.destinationModel)
        try change(mapping, manager)
        try manager.migrateStore(
            from: folder.store, sourceType: NSSQLiteStoreType, options: nil, with: mapping,
            toDestinationURL: destination, destinationType: NSSQLiteStoreType, destinationOptions: nil)
    }

    /// What becomes of Ann's nickname by an expression.
    private func nickname(_ format: String) throws -> String? {
        try migrate { mapping, manager in
            let person = try #require(mapping.entityMappingsByName["IEM_Copy_Person"])
            person.attributeMappings?.first { $0.name == "nick" }?.valueExpression = NSExpression(format: format)
            manager.userInfo = ["word": "hello"]
        }
        return try plainSQL("SELECT ZNICK FROM ZPERSON WHERE ZNAME = 'Ann'", in: destination).first
    }

    @Test(
        "read the mappings, and choose by predicates that read the source",
        arguments: [
            "$entityMapping.name": "IEM_Copy_Person", "$propertyMapping.name": "nick",
            "$manager.currentEntityMapping.sourceEntityName": "Person", "$manager.userInfo.word": "hello",
            "TERNARY($source.age > 30, 'old', 'young')": "old",
            "TERNARY($source.nick == nil, 'none', $source.nick)": "A",
            "TERNARY(SUBQUERY($source.tags, $tag, $tag.label == 'tall' AND $source.age == 31).@count == 1, 'y', 'n')":
                "y",
            "TERNARY(ANY $source.tags.label == 'kind', 'kind', 'no')": "kind",
        ])
    func keys(format: String, value: String) throws {
        #expect(try nickname(format) == value)
    }

    @Test(
        "fail with an error that names the keys, if there are none such",
        arguments: [
            "$entityMapping.title", "$propertyMapping.title", "$manager.title", "$source.title", "$source.name.title",
            "$source.tags.title", "$source.house.title", "$source.house.title.@count",
            "TERNARY($source.title == 'x', 'y', 'n')",
            "TERNARY(SUBQUERY($source.tags, $tag, $tag.title == 'x').@count > 0, 'y', 'n')",
            "FUNCTION($source, 'valueForKey:', 'title')", "FUNCTION($source.name, 'valueForKey:', 'title')",
        ])
    func unknownKeys(format: String) throws {
        let error = #expect(throws: NSError.self) { try nickname(format) }
        #expect(error?.code == 134110)
        #expect(error?.localizedDescription.contains("title") == true)
    }

    @Test("fail if they call for a key without naming one", arguments: ["''", "3"])
    func noKey(argument: String) throws {
        let error = #expect(throws: NSError.self) { try nickname("FUNCTION($source, 'valueForKey:', \(argument))") }
        #expect(error?.code == 134110)
    }

    @Test("A migration can be cancelled until its last hook has returned", arguments: ["validate", "end"])
    func cancelledAtTheEnd(hook: String) throws {
        let error = #expect(throws: NSError.self) {
            try migrate { mapping, manager in
                mapping.entityMappings.last?.entityMigrationPolicyClassName = "CoreDataTests.LateCancellingPolicy"
                manager.userInfo = ["hook": hook]
            }
        }
        #expect(error?.code == CocoaError.Code.userCancelled.rawValue)
        #expect(!FileManager.default.fileExists(atPath: destination.path))
    }

    @Test("Objects of entities that become one are connected and reported once", arguments: [1, 2, 2000])
    func merged(portion: Int) throws {
        let log = CallLog()
        try migrate(portion: portion) { mapping, manager in
            mapping.entityMappings = mapping.entityMappings.filter { $0.name == "IEM_Copy_Person" }
            let person = try #require(mapping.entityMappings.first)
            person.entityMigrationPolicyClassName = "CoreDataTests.GatheringPolicy"
            person.sourceExpression = NSExpression(
                format:
                    "FETCH(FUNCTION($manager, 'fetchRequestForSourceEntityNamed:predicateString:includesSubentities:', "
                    + "'Person', 'TRUEPREDICATE', 1), $manager.sourceContext, NO)")
            manager.userInfo = ["calls": log]
        }
        #expect(log.calls == ["3 sources, 1 destination", "relate All"])
        #expect(try plainSQL("SELECT ZNAME, ZAGE FROM ZPERSON", in: destination) == ["All|3"])
    }
}

/// Cancels in one of the hooks of the last stage.
final class LateCancellingPolicy: NSEntityMigrationPolicy {
    override func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        cancel(manager, in: "validate")
    }

    override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws { cancel(manager, in: "end") }

    private func cancel(_ manager: NSMigrationManager, in hook: String) {
        guard manager.userInfo?["hook"] as? String == hook else { return }
        manager.cancelMigrationWithError(CocoaError(.userCancelled))
    }
}

/// Makes one person of all.
final class GatheringPolicy: NSEntityMigrationPolicy {
    private var all: NSManagedObject?

    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        let person =
            all ?? NSEntityDescription.insertNewObject(forEntityName: "Person", into: manager.destinationContext)
        all = person
        person.setValue("All", forKey: "name")
        person.setValue((person.value(forKey: "age") as? Int ?? 0) + 1, forKey: "age")
        manager.associate(sourceInstance: sInstance, withDestinationInstance: person, for: mapping)
    }

    override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        let sources = manager.sourceInstances(forEntityMappingName: mapping.name, destinationInstances: nil)
        let destinations = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: nil)
        note("\(sources.count) sources, \(destinations.count) destination", manager)
    }

    override func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        note("relate \(dInstance.value(forKey: "name") as? String ?? "")", manager)
    }

    private func note(_ call: String, _ manager: NSMigrationManager) {
        (manager.userInfo?["calls"] as? CallLog)?.calls.append(call)
    }
}
