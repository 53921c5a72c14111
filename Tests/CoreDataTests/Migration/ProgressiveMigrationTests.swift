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

@Suite("Migration over several versions")
struct ProgressiveMigrationTests {
    let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        try Town.makeStore(at: folder.store)
    }

    /// The town: version 2 has a nickname in capitals instead of the nickname, version 3 houses with numbers, version 4
    /// pets that are named by a date, which no inference gets to from a text.
    private static func model(_ version: Int) -> NSManagedObjectModel {
        let model = Town.model()
        if version >= 2 {
            model.removeProperty("nick", of: "Person")
            model.add(makeAttribute("shout", .stringAttributeType), to: "Person")
        }
        if version >= 3 { model.add(makeAttribute("number", .integer16AttributeType), to: "House") }
        if version >= 4 { model.attribute("Pet", "name").attributeType = .dateAttributeType }
        model.versionIdentifiers = ["\(version)"]
        return model
    }

    private static func version(_ number: Int) -> KnownVersion {
        KnownVersion(name: "Town \(number)", model: model(number))
    }

    /// By this mapping model version 1 becomes version 2.
    private static func shouting() throws -> NamedMapping {
        let mapping = try NSMappingModel.inferredMappingModel(forSourceModel: model(1), destinationModel: model(2))
        for entity in mapping.entityMappings {
            entity.attributeMappings?.first { $0.name == "shout" }?.valueExpression = NSExpression(
                format: "FUNCTION($source.nick, 'uppercaseString')")
        }
        return NamedMapping(name: "Shouting", mapping: mapping)
    }

    private static func known(_ numbers: ClosedRange<Int> = 1...3) throws -> KnownVersions {
        KnownVersions(numbers.map(version), mappings: [try shouting()])
    }

    private func migration(to version: Int, over known: KnownVersions) throws -> ProgressiveMigration {
        try ProgressiveMigration(at: folder.store, to: Self.model(version), over: known)
    }

    private func failure(_ body: () throws -> Void) -> NSError? {
        do {
            try body()
            return nil
        } catch { return error as NSError }
    }

    private func fits(_ version: Int) throws -> Bool {
        try SQLiteFormat.version(of: folder.store, options: nil).fits(Self.model(version), configuration: nil)
    }

    @Test("A store goes by the mapping model and an inferred step to the latest version, and keeps its UUID")
    func chain() throws {
        let uuid = try plainSQL("SELECT Z_UUID FROM Z_METADATA", in: folder.store)
        let migration = try migration(to: 3, over: Self.known())
        #expect(
            migration.description == """
                1. “Town 1” to “Town 2”, by the mapping model “Shouting”
                2. “Town 2” to “Town 3”, inferred
                """)
        try migration.run()
        #expect(try fits(3))
        let people =
            "SELECT p.ZNAME, p.ZSHOUT, h.ZSTREET, h.ZNUMBER FROM ZPERSON p LEFT JOIN ZHOUSE h ON h.Z_PK = p.ZHOUSE ORDER BY 1"
        #expect(try plainSQL(people, in: folder.store) == ["Ann|A|Elm|", "Bob|B|Elm|", "Cid|||"])
        #expect(try plainSQL("SELECT Z_UUID FROM Z_METADATA", in: folder.store) == uuid)
        let files = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
        #expect(!files.contains { $0.contains("migration") })
        #expect(try self.migration(to: 3, over: Self.known()).steps.isEmpty)
    }

    @Test("Where nothing orders the versions, no step goes over one that lacks what the store and its new version have")
    func detour() throws {
        // A text becomes a date by no inference. Over a version without it, the texts would be deleted.
        let old = Self.model(1)
        old.removeProperty("name", of: "Pet")
        let versions = [Self.version(1), KnownVersion(name: "Village", model: old), Self.version(4)]
        let unordered = KnownVersions(versions, isOrdered: false, mappings: [])
        #expect(failure { _ = try migration(to: 4, over: unordered) }?.code == 134140)
        // In the order in which they were made, the text was given up on the way.
        #expect(try migration(to: 4, over: KnownVersions(versions)).steps.count == 2)
    }

    @Test("Where nothing orders the versions, no step goes over one in which a relationship leads elsewhere")
    func detourOfRelationship() throws {
        func town(ownersAre entity: String) -> NSManagedObjectModel {
            let model = Self.model(1)
            let owner = model.relationship("Pet", "owner")
            model.relationship("Person", "pet").inverseRelationship = nil
            owner.inverseRelationship = nil
            owner.destinationEntity = model.entity(entity)
            return model
        }
        // A person who is an employee could stay the owner; inference cannot say who is. Over houses, no owner stays.
        let end = KnownVersion(name: "Company", model: town(ownersAre: "Employee"))
        let versions = [Self.version(1), KnownVersion(name: "Kennels", model: town(ownersAre: "House")), end]
        let unordered = KnownVersions(versions, isOrdered: false, mappings: [])
        let refusal = failure { _ = try ProgressiveMigration(at: folder.store, to: end.model, over: unordered) }
        #expect(refusal?.code == 134140)
        #expect(
            try ProgressiveMigration(at: folder.store, to: end.model, over: KnownVersions(versions)).steps.count == 2)
    }

    @Test("Progress grows over the whole chain, and names the steps")
    func progress() throws {
        let seen = Seen()
        try migration(to: 3, over: Self.known()).run { seen.all.append($0) }
        let fractions = seen.all.map(\.fractionCompleted)
        #expect(fractions == fractions.sorted())
        #expect(fractions.last == 1)
        #expect(Set(seen.all.map(\.step)) == [1, 2])
        #expect(seen.all.first?.destination == "Town 2")
        #expect(seen.all.last?.destination == "Town 3")
        #expect(seen.all.contains { $0.fractionCompleted > 0 && $0.fractionCompleted < 0.5 })
    }

    private final class Seen {
        var all: [MigrationProgress] = []
    }

    @Test("A step of a plan may be completed by code over the old and the new objects")
    func code() throws {
        let first = try ChainStep(inferringFrom: Self.version(1), to: Self.version(2)) { old, new in
            for person in try new.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")) {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Person")
                request.predicate = NSPredicate(format: "name == %@", person.value(forKey: "name"))
                let nick = try old.fetch(request).first?.value(forKey: "nick") as? String
                person.setValue(nick.map { $0 + "!" }, forKey: "shout")
            }
        }
        let second = try ChainStep(inferringFrom: Self.version(2), to: Self.version(3))
        let migration = try ProgressiveMigration(at: folder.store, along: [first, second])
        try migration.run()
        #expect(try fits(3))
        #expect(try plainSQL("SELECT ZSHOUT FROM ZPERSON ORDER BY ZNAME", in: folder.store) == ["A!", "B!", ""])
        // From the second version on, only what is left of the plan.
        #expect(try ProgressiveMigration(at: folder.store, along: [first, second]).steps.isEmpty)
    }

    @Test("Code that fails in the last step leaves the store as it was before the first")
    func failingCode() throws {
        let before = try Data(contentsOf: folder.store)
        let first = try ChainStep(inferringFrom: Self.version(1), to: Self.version(2))
        let second = try ChainStep(inferringFrom: Self.version(2), to: Self.version(3)) { _, new in
            try new.fetch(NSFetchRequest<NSManagedObject>(entityName: "Person")).first?.setValue(nil, forKey: "name")
        }
        let failure = try #require(
            failure { try ProgressiveMigration(at: folder.store, along: [first, second]).run() })
        #expect(failure.code == CocoaError.Code.validationMissingMandatoryProperty.rawValue)
        #expect(failure.localizedDescription.contains("Step 2 of 2 (“Town 2” to “Town 3”, inferred, and code) failed"))
        #expect(failure.localizedDescription.contains("from the version “Town 1” to “Town 3”"))
        #expect(failure.userInfo["step"] as? Int == 2)
        #expect(failure.localizedRecoverySuggestion != nil)
        #expect(try fits(1))
        #expect(try Data(contentsOf: folder.store) == before)
        #expect(
            try !FileManager.default.contentsOfDirectory(atPath: folder.url.path).contains { $0.contains("migration") })
    }

    @Test("Why a step failed is told, and once that the store is as it was", arguments: [1, 2])
    func failingStep(steps: Int) throws {
        let strict = Self.model(2)
        let name = makeAttribute("title", .stringAttributeType)
        name.isOptional = false
        strict.add(name, to: "Person")
        let versions = steps == 1 ? [Self.version(1)] : [Self.version(1), Self.version(2)]
        let known = KnownVersions(
            versions + [KnownVersion(name: "Strict", model: strict)], mappings: steps == 1 ? [] : [try Self.shouting()])
        let migration = try ProgressiveMigration(at: folder.store, to: strict, over: known)
        #expect(migration.steps.count == steps)
        let text = try #require(failure { try migration.run() }).localizedDescription
        #expect(text.contains("Step \(steps) of \(steps)"))
        #expect(text.contains("“Person.title”"))
        #expect(text.hasSuffix(" The store is as it was."))
        #expect(text.components(separatedBy: "as it was").count == 2, "\(text)")
        #expect(try fits(1))
    }

    @Test("Steps that do not join, and a store that is of none of their versions, are refused")
    func plans() throws {
        let first = try ChainStep(inferringFrom: Self.version(1), to: Self.version(2))
        let gap = try ChainStep(inferringFrom: Self.version(1), to: Self.version(3))
        #expect(failure { _ = try ProgressiveMigration(at: folder.store, along: [first, gap]) }?.code == 134140)
        let later = try ChainStep(inferringFrom: Self.version(2), to: Self.version(3))
        #expect(failure { _ = try ProgressiveMigration(at: folder.store, along: [later]) }?.code == 134130)
    }

    @Test("Without a way, the versions, the obstacle and what to do are named: 134140")
    func noWay() throws {
        let failure = try #require(failure { _ = try migration(to: 4, over: Self.known(1...4)) })
        #expect(failure.code == 134140)
        let text = failure.localizedDescription
        #expect(text.contains("from “Town 1” to “Town 4”"))
        #expect(text.contains("mapping models: Shouting"))
        #expect(text.contains("The known versions are “Town 1”, "))
        #expect(text.contains("“Pet.name”"))
        #expect((failure.userInfo[NSUnderlyingErrorKey] as? NSError)?.code == 134190)
        #expect(failure.localizedRecoverySuggestion != nil)
    }

    @Test("A store of a newer application is told by its version: later than the wanted one, or unknown")
    func newer() throws {
        try migration(to: 3, over: Self.known()).run()
        let backward = try #require(failure { _ = try migration(to: 2, over: Self.known()) })
        #expect(backward.code == 134506)
        #expect(backward.localizedDescription.contains("“Town 3”, which is later than “Town 2”"))
        let unknown = try #require(failure { _ = try migration(to: 2, over: Self.known(1...2)) })
        #expect(unknown.code == 134130)
        #expect(unknown.localizedDescription.contains("version “3”"))
        #expect(unknown.localizedDescription.contains("“Town 1”, “Town 2”"))
    }

    @Test("A mapping model that does not fit is refused before anything is touched")
    func unfitting() throws {
        let mapping = try Self.shouting()
        let person = mapping.mapping.entityMappings.first { $0.destinationEntityName == "Person" }
        person?.attributeMappings?.first { $0.name == "shout" }?.name = "whisper"
        let failure = try #require(
            failure { _ = try ChainStep(from: Self.version(1), to: Self.version(2), by: mapping) })
        #expect(failure.code == 134110)
        #expect(failure.localizedDescription.contains("“whisper”"))
        person?.destinationEntityName = "Ghost"
        let ghost = self.failure { _ = try ChainStep(from: Self.version(1), to: Self.version(2), by: mapping) }
        #expect(ghost?.localizedDescription.contains("no entity “Ghost”") == true)
    }

    @Test("Who wants to write while a new store is made waits, and nothing of what is written before or after is lost")
    func concurrentWriter() throws {
        let url = folder.store
        let insertion = "INSERT INTO ZTAG (Z_PK, Z_ENT, Z_OPT, ZLABEL) SELECT 99, Z_ENT, 1, 'new' FROM ZTAG LIMIT 1"
        let step = try ChainStep(inferringFrom: Self.version(1), to: Self.version(2)) { _, _ in
            let refused = #expect(throws: SQLiteError.self) {
                try Connection(path: url.path, mode: .readWrite, busyTimeout: 0).execute(insertion)
            }
            #expect(refused?.isBusy == true)
        }
        try ProgressiveMigration(at: url, along: [step]).run()
        #expect(try fits(2))
        try Connection(path: url.path, mode: .readWrite, busyTimeout: 0).execute(insertion)
        #expect(try plainSQL("SELECT ZLABEL FROM ZTAG WHERE Z_PK = 99", in: url) == ["new"])
    }

    @Test("The option makes a coordinator go over the versions")
    func option() throws {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model(3))
        let options: [AnyHashable: Any] = [
            NSMigratePersistentStoresAutomaticallyOption: true, PippinProgressiveMigrationOptionKey: try Self.known(),
        ]
        let store = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store, options: options)
        try coordinator.remove(store)
        #expect(try plainSQL("SELECT ZSHOUT FROM ZPERSON ORDER BY ZNAME", in: folder.store) == ["A", "B", ""])
    }

    @Test("What a killed migration left is removed when the store is next opened for migration")
    func leftovers() throws {
        let left = MigrationWorkspace.folder(of: folder.store)
        try FileManager.default.createDirectory(
            at: left.appendingPathComponent("1"), withIntermediateDirectories: true)
        try Data("half".utf8).write(to: left.appendingPathComponent("1/store.sqlite"))
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: Self.model(1))
        try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store,
            options: [NSMigratePersistentStoresAutomaticallyOption: true])
        #expect(!FileManager.default.fileExists(atPath: left.path))
    }
}
