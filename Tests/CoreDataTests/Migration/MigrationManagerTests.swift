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

@Suite("Migration manager")
struct MigrationManagerTests {
    let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        try Town.makeStore(at: folder.store)
    }

    private var destination: URL { folder.url.appendingPathComponent("new.sqlite") }

    private func manager(_ change: (NSManagedObjectModel) -> Void = { _ in }) -> NSMigrationManager {
        let model = Town.model()
        change(model)
        return NSMigrationManager(sourceModel: Town.model(), destinationModel: model)
    }

    private func inferred(_ manager: NSMigrationManager) throws -> NSMappingModel {
        try NSMappingModel.inferredMappingModel(
            forSourceModel: manager.sourceModel, destinationModel: manager.destinationModel)
    }

    private func migrate(_ manager: NSMigrationManager, _ mapping: NSMappingModel) throws {
        try manager.migrateStore(
            from: folder.store, sourceType: NSSQLiteStoreType, options: nil, with: mapping,
            toDestinationURL: destination,
            destinationType: NSSQLiteStoreType, destinationOptions: nil)
    }

    private func failure(_ manager: NSMigrationManager, _ mapping: NSMappingModel) -> NSError? {
        do {
            try migrate(manager, mapping)
            return nil
        } catch { return error as NSError }
    }

    private static let people = """
        SELECT p.ZNAME, p.ZNICK, h.ZSTREET, t.ZNAME FROM ZPERSON p LEFT JOIN ZHOUSE h ON h.Z_PK = p.ZHOUSE \
        LEFT JOIN ZPET t ON t.Z_PK = p.ZPET ORDER BY 1
        """

    @Test(
        "An inferred mapping, object by object, gives the rows and relationships that SQL alone gives",
        arguments: [true, false])
    func both(usesSQL: Bool) throws {
        let manager = manager { model in
            model.attribute("Person", "nick").name = "alias"
            model.attribute("Person", "alias").renamingIdentifier = "nick"
        }
        manager.usesStoreSpecificMigrationManager = usesSQL
        try migrate(manager, inferred(manager))
        let people = Self.people.replacing("ZNICK", with: "ZALIAS")
        #expect(try plainSQL(people, in: destination) == ["Ann|A|Elm|Rex", "Bob|B|Elm|", "Cid|||"])
        let pairs =
            "SELECT p.ZNAME, t.ZLABEL FROM Z_4TAGS j JOIN ZPERSON p ON p.Z_PK = j.Z_4PEOPLE JOIN ZTAG t ON "
            + "t.Z_PK = j.Z_7TAGS ORDER BY 1, 2"
        #expect(try plainSQL(pairs, in: destination) == ["Ann|kind", "Ann|tall", "Bob|tall"])
        #expect(try plainSQL("SELECT ZLOUDNESS FROM ZLOG ORDER BY 1", in: destination) == ["", "", "11"])
        #expect(manager.migrationProgress == 1)
        #expect(try plainSQL(Self.people, in: folder.store).count == 3)
    }

    @Test("Value expressions read the source, call the manager and the policy by name, and compute")
    func expressions() throws {
        let manager = manager { model in
            model.add(makeAttribute("shout", .stringAttributeType), to: "Person")
            model.add(makeAttribute("half", .doubleAttributeType), to: "Person")
        }
        let mapping = try inferred(manager)
        let person = try #require(mapping.entityMappingsByName["IEM_Transform_Person"])
        person.entityMigrationPolicyClassName = "CoreDataTests.ShoutingPolicy"
        for property in person.attributeMappings ?? [] {
            switch property.name {
            case "shout":
                property.valueExpression = NSExpression(format: "FUNCTION($entityPolicy, 'shout:', $source.name)")
            case "half": property.valueExpression = NSExpression(format: "$source.age / 2.0")
            case "nick":
                property.valueExpression = NSExpression(format: "FUNCTION($source.house.street, 'uppercaseString')")
            default: break
            }
        }
        try migrate(manager, mapping)
        let rows = try plainSQL("SELECT ZNAME, ZSHOUT, ZHALF, ZNICK FROM ZPERSON WHERE Z_ENT = 4", in: destination)
        #expect(rows == ["Ann|ANN!|15.5|ELM"])
    }

    @Test(
        "The store's copy of its model names the classes of the entities, of which a migration makes no objects",
        arguments: [true, false])
    func classNames(usesSQL: Bool) throws {
        let manager = manager { model in
            model.entity("Tag").managedObjectClassName = "CoreDataTests.RefusingTag"
            model.add(makeAttribute("weight", .doubleAttributeType), to: "Pet")
        }
        manager.usesStoreSpecificMigrationManager = usesSQL
        manager.userInfo = ["calls": CallLog()]
        let mapping = try inferred(manager)
        if !usesSQL {
            let tags = try #require(mapping.entityMappingsByName["IEM_Copy_Tag"])
            tags.entityMigrationPolicyClassName = "CoreDataTests.ClassesPolicy"
        }
        try migrate(manager, mapping)
        let format = try #require(NSPersistentStoreCoordinator.migratableFormat(ofType: NSSQLiteStoreType))
        let stored = try format.sourceModel(of: destination, near: nil, options: nil)
        #expect(stored.entity("Tag").managedObjectClassName == "CoreDataTests.RefusingTag")
        #expect(stored.entity("Pet").managedObjectClassName == "NSManagedObject")
        let classes = Set((manager.userInfo?["calls"] as? CallLog)?.calls ?? [])
        #expect(classes == (usesSQL ? [] : ["NSManagedObject"]))
    }

    @Test("A fraction that is computed for a whole number is cut off, and true for a Boolean, as one that is copied")
    func computedFractions() throws {
        let manager = manager { model in
            model.add(makeAttribute("fifth", .integer32AttributeType), to: "Person")
            model.add(makeAttribute("debt", .integer64AttributeType), to: "Person")
            model.add(makeAttribute("aged", .booleanAttributeType), to: "Person")
        }
        let mapping = try inferred(manager)
        let person = try #require(mapping.entityMappingsByName["IEM_Transform_Person"])
        func compute(_ name: String, _ format: String) {
            person.attributeMappings?.first { $0.name == name }?.valueExpression = NSExpression(format: format)
        }
        compute("fifth", "$source.age * 0.2")
        compute("debt", "$source.age * -0.5")
        compute("aged", "$source.age / 100.0")
        try migrate(manager, mapping)
        let rows = try plainSQL("SELECT ZNAME, ZFIFTH, ZDEBT, ZAGED FROM ZPERSON WHERE Z_ENT = 4", in: destination)
        #expect(rows == ["Ann|6|-15|1"])
        compute("fifth", "$source.age * 3000000000.5")
        try FileManager.default.removeItem(at: destination)
        let refused = failure(manager, mapping)?.localizedDescription
        #expect(refused?.contains("fifth") == true, "what is out of the type's range is refused: \(refused ?? "")")
    }

    @Test("A source expression chooses what is migrated")
    func sourceExpression() throws {
        let manager = manager()
        let mapping = try inferred(manager)
        let logs = try #require(mapping.entityMappingsByName["IEM_Copy_Log"])
        logs.sourceExpression = NSExpression(
            format: "FETCH(FUNCTION($manager, 'fetchRequestForSourceEntityNamed:predicateString:', 'Log', "
                + "'message BEGINSWITH \"t\"'), $manager.sourceContext, NO)")
        try migrate(manager, mapping)
        #expect(try plainSQL("SELECT ZMESSAGE FROM ZLOG ORDER BY 1", in: destination) == ["fire", "two"])
    }

    @Test(
        "Of what an object becomes by several entity mappings, a relationship takes what it may lead to",
        arguments: [false, true])
    func severalMappings(inSubclass: Bool) throws {
        let model = Town.model()
        model.entities += [makeEntity("Badge", makeAttribute("label", .stringAttributeType))]
        let manager =
            inSubclass
            ? OtherManager(sourceModel: Town.model(), destinationModel: model)
            : NSMigrationManager(sourceModel: Town.model(), destinationModel: model)
        let mapping = try inferred(manager)
        // Tags become tags and, before these, badges.
        let badge = NSEntityMapping()
        badge.name = "TagToBadge"
        badge.mappingType = .customEntityMappingType
        badge.sourceEntityName = "Tag"
        badge.destinationEntityName = "Badge"
        mapping.entityMappings = [badge] + (mapping.entityMappings ?? [])
        try migrate(manager, mapping)
        let pairs =
            "SELECT p.ZNAME, t.ZLABEL FROM Z_5TAGS j JOIN ZPERSON p ON p.Z_PK = j.Z_5PEOPLE JOIN ZTAG t ON "
            + "t.Z_PK = j.Z_8TAGS ORDER BY 1, 2"
        #expect(try plainSQL(pairs, in: destination) == ["Ann|kind", "Ann|tall", "Bob|tall"])
        #expect(try plainSQL("SELECT COUNT(*) FROM ZBADGE", in: destination) == ["2"])
    }

    @Test("An object of an entity that a relationship does not lead to is an error")
    func otherEntity() throws {
        let manager = manager()
        let mapping = try inferred(manager)
        let person = try #require(mapping.entityMappingsByName["IEM_Copy_Person"])
        person.relationshipMappings?.first { $0.name == "tags" }?.valueExpression = NSExpression(
            format: "FUNCTION($manager, 'destinationInstancesForEntityMappingNamed:sourceInstances:', "
                + "'IEM_Copy_House', $source.house)")
        let failure = failure(manager, mapping)
        #expect(failure?.code == CoreDataErrorCode.migration)
        #expect(failure?.localizedDescription.contains("holds “Tag” objects, and the value has a “House”") == true)
    }

    @Test("A policy's hooks are called in Core Data's order")
    func hooks() throws {
        let manager = manager()
        manager.userInfo = ["calls": CallLog()]
        let mapping = try inferred(manager)
        for name in ["IEM_Copy_Log", "IEM_Copy_Tag"] {
            mapping.entityMappingsByName[name]?.entityMigrationPolicyClassName = "CoreDataTests.LoggingPolicy"
        }
        try migrate(manager, mapping)
        let calls = (manager.userInfo?["calls"] as? CallLog)?.calls
        #expect(
            calls == [
                "begin Log", "create Log", "create Log", "created Log",
                "begin Tag", "create Tag", "create Tag", "created Tag",
                "relate Log", "relate Log", "related Log", "relate Tag", "relate Tag", "related Tag",
                "validate Log", "end Log", "validate Tag", "end Tag",
            ])
    }

    @Test("What the destination model does not accept is not saved, and no destination is left")
    func validation() throws {
        let manager = manager { $0.attribute("Person", "nick").isOptional = false }
        manager.usesStoreSpecificMigrationManager = false
        #expect(failure(manager, try inferred(manager))?.code == 1570)
        #expect(!FileManager.default.fileExists(atPath: destination.path))
    }

    @Test("A migration that is cancelled throws the very error that it was cancelled with")
    func cancellation() throws {
        let manager = manager()
        manager.usesStoreSpecificMigrationManager = false
        manager.cancelMigrationWithError(NSError(domain: "Cancelling", code: 134120))
        let failure = try #require(failure(manager, try inferred(manager)))
        #expect(failure.domain == "Cancelling")
        #expect(failure.code == 134120)
        manager.reset()
        try migrate(manager, inferred(manager))
    }

    @Test("A policy that cancels ends the migration before the next object; progress stops, and nothing is left")
    func cancelledOnTheWay() throws {
        let manager = manager()
        manager.userInfo = ["calls": CallLog()]
        let mapping = try inferred(manager)
        mapping.entityMappingsByName["IEM_Copy_Log"]?.entityMigrationPolicyClassName = "CoreDataTests.LoggingPolicy"
        mapping.entityMappingsByName["IEM_Copy_Pet"]?.entityMigrationPolicyClassName = "CoreDataTests.CancellingPolicy"
        let ended = failure(manager, mapping)
        #expect(ended?.code == CocoaError.Code.userCancelled.rawValue)
        #expect(manager.migrationProgress > 0)
        #expect(manager.migrationProgress < 0.34)
        let calls = (manager.userInfo?["calls"] as? CallLog)?.calls
        #expect(calls == ["begin Log", "create Log", "create Log", "created Log", "cancelled"])
        #expect(!FileManager.default.fileExists(atPath: destination.path))
        #expect(try plainSQL(Self.people, in: folder.store).count == 3)
    }

    @Test("The objects of a migration are plain ones, whatever classes the models name")
    func plainObjects() throws {
        let manager = manager { $0.entity("Tag").managedObjectClassName = "CoreDataTests.RefusingTag" }
        let mapping = try inferred(manager)
        mapping.entityMappings[0].userInfo = ["changed": true]
        manager.usesStoreSpecificMigrationManager = false
        try migrate(manager, mapping)
        #expect(try plainSQL("SELECT ZLABEL FROM ZTAG ORDER BY 1", in: destination) == ["kind", "tall"])
    }

    @Test(
        "Errors name the mapping and what is wrong: a policy that is not there, a key, a source store of another version"
    )
    func errors() throws {
        let manager = manager()
        let mapping = try inferred(manager)
        mapping.entityMappings[0].entityMigrationPolicyClassName = "App.NoSuchPolicy"
        let missing = try #require(failure(manager, mapping))
        #expect(missing.userInfo["entityMigrationPolicyClassName"] as? String == "App.NoSuchPolicy")
        let wrong = try inferred(manager)
        wrong.entityMappingsByName["IEM_Copy_Tag"]?.attributeMappings?[0].valueExpression = NSExpression(
            format: "$source.colour")
        let unknown = try #require(failure(manager, wrong))
        #expect(unknown.userInfo["entityMapping"] as? String == "IEM_Copy_Tag")
        #expect(unknown.userInfo["property"] as? String == "label")
        let model = Town.model()
        model.removeProperty("nick", of: "Person")
        let other = NSMigrationManager(sourceModel: model, destinationModel: Town.model())
        other.usesStoreSpecificMigrationManager = false
        #expect(failure(other, try inferred(other))?.code == 134150)
    }

    @Test("A second pass adds to the destination of the first")
    func passes() throws {
        let manager = manager()
        let all = try inferred(manager)
        let first = NSMappingModel()
        first.entityMappings = all.entityMappings.filter { ["Log", "Alarm"].contains($0.sourceEntityName) }
        let second = NSMappingModel()
        second.entityMappings = all.entityMappings.filter { !["Log", "Alarm"].contains($0.sourceEntityName) }
        try migrate(manager, first)
        manager.reset()
        try migrate(manager, second)
        #expect(try plainSQL("SELECT COUNT(*) FROM ZLOG", in: destination) == ["3"])
        #expect(try plainSQL(Self.people, in: destination) == ["Ann|A|Elm|Rex", "Bob|B|Elm|", "Cid|||"])
    }

    @Test("A mapping model takes the store's place when it has migrated it")
    func replacement() throws {
        let model = Town.model()
        model.add(makeAttribute("shout", .stringAttributeType), to: "Person")
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: Town.model(), destinationModel: model)
        try MappedMigration(
            format: SQLiteFormat.self, url: folder.store, source: Town.model(), destination: model, mapping: mapping,
            configuration: nil,
            options: nil
        ).run()
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store)
        #expect(try plainSQL(Self.people, in: folder.store) == ["Ann|A|Elm|Rex", "Bob|B|Elm|", "Cid|||"])
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        #expect(!files.contains { $0.contains("migration") })
    }

    @Test("A compiled mapping model of Xcode's is read", .enabled(if: fixtures != nil, fixturesAreAbsent))
    func compiled() throws {
        let url = try #require(fixtures).appendingPathComponent("cars/V2toV3.cdm")
        let mapping = try #require(NSMappingModel(contentsOf: url))
        let person = try #require(mapping.entityMappingsByName["PersonToPerson"])
        #expect(person.mappingType == .copyEntityMappingType)
        #expect(
            person.sourceExpression?.description
                == "FETCH(FUNCTION($manager, \"fetchRequestForSourceEntityNamed:predicateString:\" , \"Person\", "
                + "\"TRUEPREDICATE\"), $manager.sourceContext, NO)")
        #expect(
            person.attributeMappings?.map { $0.valueExpression?.description } == [
                "$source.firstName", "$source.lastName", "$source.updatedAt",
            ])
        #expect(
            mapping.entityMappingsByName["CarToCar"]?.relationshipMappings?.map { $0.valueExpression?.description }
                == [
                    nil,
                    "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\" , \"PersonToPerson\", $source.owner)",
                    "FUNCTION($manager, \"destinationInstancesForEntityMappingNamed:sourceInstances:\" , \"PersonToPerson\", $source.owner)",
                ])
        #expect(mapping.entityMappingsByName["Maker"]?.mappingType == .addEntityMappingType)
    }

    @Test("A file that is not a mapping model is refused with its name")
    func damaged() throws {
        let url = folder.url.appendingPathComponent("Bad.cdm")
        try Data("nothing".utf8).write(to: url)
        #expect(NSMappingModel(contentsOf: url) == nil)
        do {
            _ = try NSMappingModel.mappings(at: url)
            Issue.record("a damaged file was read")
        } catch {
            #expect((error as NSError).localizedDescription.contains("Bad.cdm"))
        }
    }
}

final class CallLog: NSObject {
    var calls: [String] = []
}

final class CancellingPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        (manager.userInfo?["calls"] as? CallLog)?.calls.append("cancelled")
        manager.cancelMigrationWithError(CocoaError(.userCancelled))
    }
}

/// A class of the application's that must not act on objects that are only migrated.
final class RefusingTag: NSManagedObject {
    override func validateForInsert() throws { throw CocoaError(.userCancelled) }
}

/// Notes the classes of the objects that it makes.
final class ClassesPolicy: NSEntityMigrationPolicy {
    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        let made = manager.destinationInstances(
            forEntityMappingName: mapping.name ?? "", sourceInstances: [sInstance])
        (manager.userInfo?["calls"] as? CallLog)?.calls += made.map { "\(type(of: $0))" }
    }
}

final class ShoutingPolicy: NSEntityMigrationPolicy {
    override func callFunction(_ name: String, arguments: [Any?]) throws -> Any? {
        guard name == "shout:" else { return try super.callFunction(name, arguments: arguments) }
        return (arguments.first as? String).map { $0.uppercased() + "!" }
    }
}

final class LoggingPolicy: NSEntityMigrationPolicy {
    private func note(_ call: String, _ mapping: NSEntityMapping, _ manager: NSMigrationManager) {
        (manager.userInfo?["calls"] as? CallLog)?.calls.append("\(call) \(mapping.sourceEntityName ?? "")")
    }

    override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
        note("begin", mapping, manager)
    }

    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        note("create", mapping, manager)
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    }

    override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        note("created", mapping, manager)
    }

    override func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        note("relate", mapping, manager)
        try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
    }

    override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        note("related", mapping, manager)
    }

    override func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        note("validate", mapping, manager)
    }

    override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        note("end", mapping, manager)
    }
}

/// A subclass, which may define differently what an object became.
private final class OtherManager: NSMigrationManager {}
