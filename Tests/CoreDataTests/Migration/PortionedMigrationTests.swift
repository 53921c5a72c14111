import CoreData
import Foundation
import SQLiteConnection
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import MigrationPlans
@testable import SQLGeneration
@testable import SQLiteEngine
@testable import StoreEngine

@Suite("Migrations that are saved in portions")
struct PortionedMigrationTests {
    let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        try Town.makeStore(at: folder.store)
    }

    private var destination: URL { folder.url.appendingPathComponent("new.sqlite") }

    /// A manager for another model of the town, which saves every few objects.
    private func manager(
        portion: Int, _ change: (NSManagedObjectModel) -> Void = { _ in }
    ) throws -> (NSMigrationManager, NSMappingModel) {
        let model = Town.model()
        change(model)
        let manager = NSMigrationManager(sourceModel: Town.model(), destinationModel: model)
        manager.usesStoreSpecificMigrationManager = false
        manager.portion = portion
        let mapping = try NSMappingModel.inferredMappingModel(
            forSourceModel: manager.sourceModel, destinationModel: model)
        return (manager, mapping)
    }

    private func migrate(_ manager: NSMigrationManager, _ mapping: NSMappingModel, to url: URL? = nil) throws {
        try manager.migrateStore(
            from: folder.store, type: .sqlite, mapping: mapping, to: url ?? destination, type: .sqlite)
    }

    private func failure(_ manager: NSMigrationManager, _ mapping: NSMappingModel) -> NSError? {
        do {
            try migrate(manager, mapping)
            return nil
        } catch { return error as NSError }
    }

    @Test(
        "Every kind of change, alone and in pairs: objects and relationships as the mapping says, an object a portion")
    func matrix() throws {
        for (index, changes) in ModelChange.combinations.enumerated() {
            let comment = Comment(rawValue: changes.map(\.name).joined(separator: "; "))
            let (manager, mapping) = try manager(portion: index % 3 + 1) { model in
                for change in changes { change.apply(model) }
            }
            let url = folder.url.appendingPathComponent("\(index).sqlite")
            try migrate(manager, mapping, to: url)
            let oracle = try MigrationOracle(
                from: Town.model(), at: folder.store, to: manager.destinationModel, at: url)
            #expect(try ObjectOracle(oracle).differences() == [], comment)
            #expect(try plainSQL("PRAGMA integrity_check", in: url) == ["ok"], comment)
        }
    }

    @Test("The rows are new ones, though they were written twice: their version is 1")
    func versions() throws {
        let (manager, mapping) = try manager(portion: 1)
        try migrate(manager, mapping)
        for table in ["ZPERSON", "ZHOUSE", "ZPET", "ZTAG", "ZLOG"] {
            #expect(try plainSQL("SELECT DISTINCT Z_OPT FROM \(table)", in: destination) == ["1"])
        }
    }

    @Test("The hooks come in Core Data's order, and find what was made of what, saved or not")
    func hooks() throws {
        let (manager, mapping) = try manager(portion: 1)
        manager.userInfo = ["calls": CallLog()]
        for name in ["IEM_Copy_Log", "IEM_Copy_Tag"] {
            mapping.entityMappingsByName[name]?.entityMigrationPolicyClassName = "CoreDataTests.LookingPolicy"
        }
        try migrate(manager, mapping)
        let calls = (manager.userInfo?["calls"] as? CallLog)?.calls
        #expect(
            calls == [
                "begin Log", "create Log", "create Log", "created Log 2 2", "begin Tag", "create Tag", "create Tag",
                "created Tag 2 2", "relate one from one", "relate two from two", "related Log", "relate tall from tall",
                "relate kind from kind", "related Tag", "validate Log", "end Log", "validate Tag", "end Tag",
            ])
    }

    @Test("An object that a policy keeps stays the one object of its row")
    func identity() throws {
        let (manager, mapping) = try manager(portion: 1)
        manager.userInfo = ["calls": CallLog()]
        mapping.entityMappingsByName["IEM_Copy_Tag"]?.entityMigrationPolicyClassName = "CoreDataTests.KeepingPolicy"
        try migrate(manager, mapping)
        #expect((manager.userInfo?["calls"] as? CallLog)?.calls == ["same tall", "same kind"])
        #expect(try plainSQL("SELECT ZLABEL FROM ZTAG ORDER BY 1", in: destination) == ["kind, kept", "tall, kept"])
    }

    @Test("What memory holds does not grow with the number of objects")
    func memory() throws {
        let rows = "WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)"
        let connection = try Connection(path: folder.store.path, mode: .readWrite)
        try connection.execute(
            "\(rows) INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZLABEL) SELECT i, (SELECT MAX(Z_ENT) FROM ZTAG), 1, 't' || i FROM n"
        )
        try connection.execute(
            "INSERT INTO Z_4TAGS SELECT (SELECT MAX(Z_PK) FROM ZPERSON), Z_PK FROM ZTAG WHERE Z_PK >= 100")
        let (manager, mapping) = try manager(portion: 100)
        let counter = ObjectCount()
        manager.userInfo = ["count": counter]
        mapping.entityMappingsByName["IEM_Copy_Tag"]?.entityMigrationPolicyClassName = "CoreDataTests.CountingPolicy"
        // The people have all tags, which takes as many objects at once: the tags have their people instead.
        for name in ["IEM_Copy_Person", "IEM_Copy_Employee"] {
            let person = mapping.entityMappingsByName[name]
            person?.relationshipMappings = person?.relationshipMappings?.filter { $0.name != "tags" }
        }
        try migrate(manager, mapping)
        #expect(try plainSQL("SELECT COUNT(*) FROM ZTAG", in: destination) == ["4903"])
        #expect(try plainSQL("SELECT COUNT(*) FROM Z_4TAGS", in: destination) == ["4904"])
        #expect(counter.calls == 9806)
        #expect(counter.greatest > 0)
        #expect(counter.greatest < 2500)
    }

    @Test("Progress grows with every portion of rows, and ends at 1")
    func progress() throws {
        let rows = "WITH RECURSIVE n(i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)"
        try Connection(path: folder.store.path, mode: .readWrite).execute(
            "\(rows) INSERT INTO ZPET (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT i, (SELECT MAX(Z_ENT) FROM ZPET), 1, 'p' FROM n"
        )
        let (manager, all) = try manager(portion: 500)
        let mapping = NSMappingModel()
        mapping.entityMappings = all.entityMappings.filter { ["Pet", "Person"].contains($0.sourceEntityName) }
        var parts: [Float] = []
        manager.progressed = { parts.append($0) }
        try migrate(manager, mapping)
        #expect(parts == parts.sorted())
        #expect(Set(parts).count > 12)
        #expect(parts.last == 1)
        #expect(parts.allSatisfy { $0 <= 1 })
    }

    // MARK: Checks

    @Test("What is not valid is found after the last portion: the error is that of a save, and no destination is left")
    func validation() throws {
        let (manager, mapping) = try manager(portion: 1) { $0.attribute("Person", "nick").isOptional = false }
        let refusal = try #require(failure(manager, mapping))
        #expect(refusal.code == 1570)
        #expect(refusal.userInfo[NSValidationKeyErrorKey] as? String == "nick")
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: folder.url.path).allSatisfy { !$0.hasPrefix("new") })
    }

    @Test("A relationship that must be there may be set in a later portion; one that nobody sets is missed")
    func requiredRelationships() throws {
        let (manager, mapping) = try manager(portion: 1) { model in
            model.relationship("Person", "house").isOptional = false
            model.relationship("House", "people").minCount = 1
            model.relationship("House", "people").isOptional = false
        }
        let refusal = try #require(failure(manager, mapping))
        // Cid lives nowhere, and nobody lives in Oak.
        #expect(refusal.code == 1570 || refusal.code == 1580)
        try execute(
            "DELETE FROM ZPERSON WHERE ZHOUSE IS NULL; DELETE FROM ZHOUSE WHERE ZSTREET = 'Oak'", in: folder.store)
        manager.reset()
        try migrate(manager, mapping)
        #expect(try plainSQL("SELECT COUNT(*) FROM ZPERSON WHERE ZHOUSE NOT NULL", in: destination) == ["2"])
    }

    @Test("A pass that fails leaves a destination that was there as it was")
    func existingDestination() throws {
        let (first, all) = try manager(portion: 1)
        let logs = NSMappingModel()
        logs.entityMappings = all.entityMappings.filter { ["Log", "Alarm"].contains($0.sourceEntityName) }
        try migrate(first, logs)
        let rest = NSMappingModel()
        rest.entityMappings = all.entityMappings.filter { !["Log", "Alarm"].contains($0.sourceEntityName) }
        rest.entityMappingsByName["IEM_Copy_Tag"]?.attributeMappings?[0].valueExpression = NSExpression(
            format: "$source.colour")
        first.reset()
        #expect(failure(first, rest)?.userInfo["property"] as? String == "label")
        #expect(try plainSQL("SELECT COUNT(*) FROM ZLOG", in: destination) == ["3"])
        for table in ["ZPERSON", "ZHOUSE", "ZPET", "ZTAG"] {
            #expect(try plainSQL("SELECT COUNT(*) FROM \(table)", in: destination) == ["0"])
        }
        let (second, again) = try manager(portion: 1)
        again.entityMappings = again.entityMappings.filter { !["Log", "Alarm"].contains($0.sourceEntityName) }
        try migrate(second, again)
        #expect(try plainSQL("SELECT COUNT(*) FROM ZPERSON", in: destination) == ["3"])
    }

    @Test("Values that must be unique stop the migration, as they stop a save")
    func constraints() throws {
        let (manager, mapping) = try manager(portion: 1) { _ = $0.entity("Person").with(constraint: "house") }
        #expect(failure(manager, mapping)?.code == CoreDataErrorCode.managedObjectConstraintMerge)
        #expect(!FileManager.default.fileExists(atPath: destination.path))
    }

    @Test("Rows made of rows that share values which must be unique stop the migration; the error tells which")
    func constraintsOfRows() throws {
        let (manager, mapping) = try manager(portion: 1) { _ = $0.entity("Log").with(constraint: "message") }
        let connection = try Connection(path: folder.store.path, mode: .readWrite)
        try connection.execute("UPDATE ZLOG SET ZMESSAGE = 'two' WHERE ZMESSAGE = 'one'")
        let refusal = try #require(failure(manager, mapping))
        #expect(refusal.code == CoreDataErrorCode.managedObjectConstraintMerge)
        #expect(
            refusal.localizedDescription
                == "There would be more than one Log with message = two. Change the values, or set the context's mergePolicy."
        )
        let conflicts = refusal.userInfo[NSPersistentStoreSaveConflictsErrorKey] as? [NSConstraintConflict]
        #expect(conflicts?.map(\.conflictingObjects.count) == [2])
        #expect(!FileManager.default.fileExists(atPath: destination.path))
        try connection.execute("UPDATE ZLOG SET ZMESSAGE = NULL WHERE ZMESSAGE = 'two'")
        manager.reset()
        try migrate(manager, mapping)
        #expect(try plainSQL("SELECT COUNT(*) FROM ZLOG", in: destination) == ["3"])
    }

    @Test("Values that must be unique may be shared until the policies have done their work")
    func constraintsBetweenPortions() throws {
        let (manager, mapping) = try manager(portion: 1) { _ = $0.entity("Tag").with(constraint: "label") }
        try execute("UPDATE ZTAG SET ZLABEL = 'same'", in: folder.store)
        let entity = mapping.entityMappingsByName["IEM_Transform_Tag"]
        entity?.entityMigrationPolicyClassName = "CoreDataTests.KeepingPolicy"
        manager.userInfo = ["suffixes": true]
        try migrate(manager, mapping)
        #expect(try plainSQL("SELECT ZLABEL FROM ZTAG ORDER BY 1", in: destination) == ["same, kept", "same, kept 1"])
    }

    @Test("The migration's merge policy resolves values that must be unique, as it does in a save")
    func mergePolicy() throws {
        let (manager, mapping) = try manager(portion: 1) { _ = $0.entity("Log").with(constraint: "message") }
        let entity = mapping.entityMappingsByName["IEM_Transform_Log"]
        entity?.entityMigrationPolicyClassName = "CoreDataTests.MergingPolicy"
        try execute("UPDATE ZLOG SET ZMESSAGE = 'two' WHERE ZMESSAGE = 'one'", in: folder.store)
        try migrate(manager, mapping)
        #expect(try plainSQL("SELECT ZMESSAGE FROM ZLOG ORDER BY 1", in: destination) == ["fire", "two"])
    }

    @Test("The new store has the indexes that the model asks for")
    func indexes() throws {
        let change: (NSManagedObjectModel) -> Void = { _ = $0.entity("Log").with(constraint: "message") }
        let (manager, mapping) = try manager(portion: 1, change)
        try migrate(manager, mapping)
        let fresh = folder.url.appendingPathComponent("fresh.sqlite")
        let model = Town.model()
        change(model)
        _ = try Library.stored(at: fresh, model)
        let query = "SELECT sql FROM sqlite_master WHERE type = 'index' AND sql NOT NULL ORDER BY sql"
        let expected = try plainSQL(query, in: fresh)
        #expect(expected.contains { $0.hasPrefix("CREATE UNIQUE INDEX") })
        #expect(try plainSQL(query, in: destination) == expected)
    }

    @Test("A policy that cancels in a later portion ends the migration, and nothing is left")
    func cancelled() throws {
        let (manager, mapping) = try manager(portion: 1)
        mapping.entityMappingsByName["IEM_Copy_Tag"]?.entityMigrationPolicyClassName = "CoreDataTests.CancellingPolicy"
        #expect(failure(manager, mapping)?.code == CocoaError.Code.userCancelled.rawValue)
        #expect(!FileManager.default.fileExists(atPath: destination.path))
    }
}

/// Notes the hooks, and what they find.
final class LookingPolicy: NSEntityMigrationPolicy {
    private func note(_ call: String, _ manager: NSMigrationManager) {
        (manager.userInfo?["calls"] as? CallLog)?.calls.append(call)
    }

    private func name(_ object: NSManagedObject?) -> String {
        let key = object?.entity.name == "Tag" ? "label" : "message"
        return object?.value(forKey: key) as? String ?? "nothing"
    }

    override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
        note("begin \(mapping.sourceEntityName ?? "")", manager)
    }

    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        note("create \(mapping.sourceEntityName ?? "")", manager)
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    }

    override func endInstanceCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: nil)
        let sources = manager.sourceInstances(forEntityMappingName: mapping.name, destinationInstances: made)
        note("created \(mapping.sourceEntityName ?? "") \(made.count) \(sources.count)", manager)
    }

    override func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        let sources = manager.sourceInstances(forEntityMappingName: mapping.name, destinationInstances: [dInstance])
        let back = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: sources)
        guard back.count == 1, back[0] === dInstance else { throw CocoaError(.featureUnsupported) }
        note("relate \(name(dInstance)) from \(name(sources.first))", manager)
        try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
    }

    override func endRelationshipCreation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        note("related \(mapping.sourceEntityName ?? "")", manager)
    }

    override func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        note("validate \(mapping.sourceEntityName ?? "")", manager)
    }

    override func end(_ mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        note("end \(mapping.sourceEntityName ?? "")", manager)
    }
}

/// Keeps what it makes, and changes it at last.
final class KeepingPolicy: NSEntityMigrationPolicy {
    private var kept: [NSManagedObject] = []

    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
        kept += manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: [sInstance])
    }

    override func performCustomValidation(forMapping mapping: NSEntityMapping, manager: NSMigrationManager) throws {
        let made = manager.destinationInstances(forEntityMappingName: mapping.name, sourceInstances: nil)
        for object in kept {
            guard made.contains(where: { $0 === object }), let label = object.value(forKey: "label") as? String else {
                throw CocoaError(.featureUnsupported)
            }
            (manager.userInfo?["calls"] as? CallLog)?.calls.append("same \(label)")
            let number = manager.userInfo?["suffixes"] != nil && object !== kept.first ? " 1" : ""
            object.setValue("\(label), kept\(number)", forKey: "label")
        }
    }
}

/// Has the objects of the migration win over what is saved.
final class MergingPolicy: NSEntityMigrationPolicy {
    override func begin(_ mapping: NSEntityMapping, with manager: NSMigrationManager) throws {
        manager.destinationContext.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
    }
}

final class ObjectCount: NSObject {
    var calls = 0
    var greatest = 0
}

/// Counts the objects that the contexts hold while it is at work.
final class CountingPolicy: NSEntityMigrationPolicy {
    private func count(_ manager: NSMigrationManager) {
        guard let counter = manager.userInfo?["count"] as? ObjectCount else { return }
        counter.calls += 1
        // Now and then is enough.
        guard counter.calls % 64 == 0 else { return }
        let held = manager.sourceContext.registeredObjects.count + manager.destinationContext.registeredObjects.count
        counter.greatest = max(counter.greatest, held)
    }

    override func createDestinationInstances(
        forSource sInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        count(manager)
        try super.createDestinationInstances(forSource: sInstance, in: mapping, manager: manager)
    }

    override func createRelationships(
        forDestination dInstance: NSManagedObject, in mapping: NSEntityMapping, manager: NSMigrationManager
    ) throws {
        count(manager)
        try super.createRelationships(forDestination: dInstance, in: mapping, manager: manager)
    }
}
