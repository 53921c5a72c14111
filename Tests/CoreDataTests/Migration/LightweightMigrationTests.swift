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

@Suite("Lightweight migration")
struct LightweightMigrationTests {
    let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private var options: [AnyHashable: Any] {
        [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
    }

    private func add(
        _ model: NSManagedObjectModel, at url: URL, _ options: [AnyHashable: Any]? = nil
    ) throws -> NSPersistentStoreCoordinator {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: nil, at: url, options: options)
        return coordinator
    }

    /// Closes the stores, so that the file can be read alone.
    private func close(_ coordinator: NSPersistentStoreCoordinator) throws {
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    private func error(of body: () throws -> Void) -> NSError? {
        do {
            try body()
            return nil
        } catch { return error as NSError }
    }

    private func copy(_ name: String) throws -> URL {
        let copy = folder.url.appendingPathComponent(name)
        for suffix in ["", "-wal"] where FileManager.default.fileExists(atPath: folder.store.path + suffix) {
            try FileManager.default.copyItem(atPath: folder.store.path + suffix, toPath: copy.path + suffix)
        }
        return copy
    }

    @Test(
        "Every kind of change, alone and in pairs, keeps all rows and relationships, and leaves a store like a new one")
    func matrix() throws {
        try Town.makeStore(at: folder.store)
        for (index, changes) in ModelChange.combinations.enumerated() {
            let model = Town.model()
            for change in changes { change.apply(model) }
            let name = changes.map(\.name).joined(separator: "; ")
            let comment = Comment(rawValue: name)
            let url = try copy("\(index).sqlite")
            let failure = error { try close(try add(model, at: url, options)) }
            #expect(failure == nil, comment)
            guard failure == nil else { continue }
            let oracle = try MigrationOracle(from: Town.model(), at: folder.store, to: model, at: url)
            #expect(try oracle.differences() == [], comment)
            let new = folder.url.appendingPathComponent("\(index)-new.sqlite")
            try close(try add(model, at: new))
            let (structure, expected) = (try MigrationOracle.structure(of: url), try MigrationOracle.structure(of: new))
            #expect(structure == expected, comment)
            #expect(try plainSQL("PRAGMA integrity_check", in: url) == ["ok"], comment)
            try close(try add(model, at: url))
        }
    }

    /// Expects as many objects of entities, and nothing in their to-many relationships.
    private func expectNoMembers(_ keys: [(entity: String, key: String, count: Int)], _ model: NSManagedObjectModel)
        throws
    {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = try add(model, at: folder.store)
        try context.performAndWait {
            for (entity, key, count) in keys {
                let objects = try context.fetch(NSFetchRequest<NSManagedObject>(entityName: entity))
                #expect(objects.count == count)
                for object in objects { #expect((object.value(forKey: key) as? NSSet)?.count == 0) }
            }
        }
    }

    @Test("Relationships that lead to a new subentity of their former destination are empty, at both ends")
    func newSubentity() throws {
        try Town.makeStore(at: folder.store)
        let model = Town.model()
        // Persons have houses and tags; only lodgers will.
        let lodger = makeEntity(
            "Lodger", makeToOne("house", "House", inverse: "people"), makeToMany("tags", "Tag", inverse: "people"))
        model.entity("Person").subentities += [lodger]
        model.entities += [lodger]
        model.removeProperty("house", of: "Person")
        model.removeProperty("tags", of: "Person")
        model.relationship("House", "people").destinationName = "Lodger"
        model.relationship("Tag", "people").destinationName = "Lodger"
        // A pet may belong to a keeper.
        let keeper = makeEntity("Keeper", makeToOne("pet", "Pet", inverse: "owner"))
        model.entity("Person").subentities += [keeper]
        model.entities += [keeper]
        model.removeProperty("pet", of: "Person")
        model.relationship("Pet", "owner").destinationName = "Keeper"
        try close(try add(model, at: folder.store, options))
        #expect(try plainSQL("SELECT COUNT(*), COUNT(ZHOUSE), COUNT(ZPET) FROM ZPERSON", in: folder.store) == ["3|0|0"])
        #expect(try plainSQL("SELECT COUNT(*), COUNT(ZOWNER) FROM ZPET", in: folder.store) == ["2|0"])
        try expectNoMembers([("House", "people", 2), ("Tag", "people", 2)], model)
    }

    @Test("Relationships that lead to another entity than before are empty, at both ends, and keep no keys")
    func otherDestination() throws {
        try Town.makeStore(at: folder.store)
        let model = Town.model()
        // To-one, with and without a new inverse.
        model.removeProperty("pet", of: "Person")
        model.removeProperty("owner", of: "Pet")
        model.add(makeToOne("owner", "House", inverse: "pets"), to: "Pet")
        model.add(makeToMany("pets", "Pet", inverse: "owner"), to: "House")
        model.add(makeToOne("pet", "Tag", inverse: nil), to: "Person")
        // One-to-many.
        model.removeProperty("people", of: "House")
        model.removeProperty("house", of: "Person")
        model.add(makeToMany("people", "Log", inverse: "house"), to: "House")
        model.add(makeToOne("house", "House", inverse: "people"), to: "Log")
        // Many-to-many.
        model.removeProperty("tags", of: "Person")
        model.removeProperty("people", of: "Tag")
        model.add(makeToMany("tags", "Pet", inverse: "people"), to: "Person")
        model.add(makeToMany("people", "Person", inverse: "tags"), to: "Pet")
        try close(try add(model, at: folder.store, options))
        #expect(try plainSQL("SELECT COUNT(*), COUNT(ZOWNER) FROM ZPET", in: folder.store) == ["2|0"])
        #expect(try plainSQL("SELECT COUNT(*), COUNT(ZPET) FROM ZPERSON", in: folder.store) == ["3|0"])
        try expectNoMembers(
            [("House", "people", 2), ("House", "pets", 2), ("Person", "tags", 3), ("Pet", "people", 2)], model)
    }

    @Test("A relationship whose former destination is removed takes no keys to the entity it leads to now")
    func removedDestination() throws {
        try Town.makeStore(at: folder.store)
        let model = Town.model()
        model.removeProperty("pet", of: "Person")
        model.add(makeToOne("pet", "Tag", inverse: nil), to: "Person")
        model.entities = model.entities.filter { $0.name != "Pet" }
        try close(try add(model, at: folder.store, options))
        #expect(try plainSQL("SELECT COUNT(*), COUNT(ZPET) FROM ZPERSON", in: folder.store) == ["3|0"])
    }

    @Test("A store that does not fit is not migrated unless the options say so")
    func unasked() throws {
        try Town.makeStore(at: folder.store)
        let model = Town.model()
        model.removeProperty("nick", of: "Person")
        #expect(error { _ = try add(model, at: folder.store) }?.code == 134100)
    }

    @Test(
        "A mandatory attribute without a default stops the migration where there are objects, and the store stays as it was"
    )
    func missingValue() throws {
        try Town.makeStore(at: folder.store)
        let model = Town.model()
        let level = makeAttribute("level", .integer32AttributeType)
        level.isOptional = false
        model.add(level, to: "Pet")
        let before = try plainSQL("SELECT sql FROM sqlite_master ORDER BY 1", in: folder.store)
        let failure = try #require(error { _ = try add(model, at: folder.store, options) })
        #expect(failure.code == 134110)
        let reason = "Validation error missing attribute values on mandatory destination attribute"
        #expect(failure.userInfo["reason"] as? String == "Cannot migrate store in-place: \(reason)")
        let cause = try #require(failure.userInfo[NSUnderlyingErrorKey] as? NSError)
        #expect(cause.userInfo["entity"] as? String == "Pet")
        #expect(cause.userInfo["attribute"] as? String == "level")
        #expect(try plainSQL("SELECT sql FROM sqlite_master ORDER BY 1", in: folder.store) == before)
        try close(try add(Town.model(), at: folder.store))
    }

    @Test(
        "A mandatory to-many relationship, or one with a minimum count, is empty after the migration, as in Core Data")
    func mandatoryToMany() throws {
        try Town.makeStore(at: folder.store)
        let model = Town.model()
        model.relationship("Person", "tags").isOptional = false
        model.relationship("House", "people").isOptional = false
        model.relationship("House", "people").minCount = 1
        let visits = makeToMany("visits", "Log", inverse: "visitor")
        (visits.isOptional, visits.minCount) = (false, 2)
        model.add(visits, to: "Person")
        model.add(makeToOne("visitor", "Person", inverse: "visits"), to: "Log")
        try close(try add(model, at: folder.store, options))
        #expect(try plainSQL("SELECT COUNT(*) FROM ZPERSON", in: folder.store) == ["3"])
        #expect(try plainSQL("SELECT COUNT(*) FROM ZLOG WHERE ZVISITOR NOT NULL", in: folder.store) == ["0"])
    }

    @Test("The advice fits the property: a relationship has no default value")
    func advice() throws {
        try Town.makeStore(at: folder.store)
        let model = Town.model()
        model.relationship("Pet", "owner").isOptional = false
        let failure = try #require(error { _ = try add(model, at: folder.store, options) })
        #expect(failure.code == 134110)
        #expect(
            failure.localizedRecoverySuggestion
                == "Make the relationship “Pet.owner” optional, or write a mapping model for this step that sets it.")
        let other = Town.model()
        other.attribute("Person", "age").isOptional = false
        let second = try #require(error { _ = try add(other, at: folder.store, options) })
        #expect(
            second.localizedRecoverySuggestion
                == "Give the attribute “Employee.age” a default value or make it optional, or write a mapping model for this step."
        )
    }

    @Test("Versions without an identifier are told apart: by their files, or by their checksums")
    func versionNames() throws {
        let (old, new) = (Town.model(), Town.model())
        new.removeProperty("nick", of: "Person")
        #expect(MigrationError.version(old) == "the version with the checksum “\(old.versionChecksum)”")
        #expect(MigrationError.version(old) != MigrationError.version(new))
        let package = folder.url.appendingPathComponent("Town.momd")
        new.origin = NSManagedObjectModel.Origin(package: package, versionName: "Town 2")
        #expect(MigrationError.version(new) == "version “Town 2” of “Town.momd”")
        new.versionIdentifiers = ["", "4"]
        #expect(MigrationError.version(new) == "version “4”")
    }

    @Test("The version of a store is called by its file, too, where the destination's package has it")
    func versionNameOfStore() throws {
        let package = folder.url.appendingPathComponent("Shop.xcdatamodeld")
        let entity = "<entity name='A'><attribute name='x' optional='YES' attributeType='PLACE'/></entity>"
        for (name, type) in [("Shop", "String"), ("Shop 2", "Date")] {
            let version = package.appendingPathComponent("\(name).xcdatamodel")
            try FileManager.default.createDirectory(at: version, withIntermediateDirectories: true)
            let xml = "<model>\(entity.replacingOccurrences(of: "PLACE", with: type))</model>"
            try Data(xml.utf8).write(to: version.appendingPathComponent("contents"))
        }
        let versions = try ModelPackage(at: package)
        try close(try add(versions.model(version: "Shop"), at: folder.store))
        let failure = try #require(error { _ = try add(versions.model(version: "Shop 2"), at: folder.store, options) })
        #expect(
            failure.localizedDescription.contains(
                "from version “Shop” of “Shop.xcdatamodeld” to version “Shop 2” of “Shop.xcdatamodeld”"))
    }

    @Test("What cannot be inferred is named: 134140, with 134190 underneath")
    func uninferable() throws {
        try Town.makeStore(at: folder.store)
        let model = Town.model()
        model.attribute("Pet", "name").attributeType = .dateAttributeType
        let failure = try #require(error { _ = try add(model, at: folder.store, options) })
        #expect(failure.code == 134140)
        let cause = try #require(failure.userInfo[NSUnderlyingErrorKey] as? NSError)
        #expect(cause.code == 134190)
        #expect(cause.userInfo["entity"] as? String == "Pet")
        #expect(cause.userInfo["property"] as? String == "name")
        #expect(cause.userInfo["reason"] as? String == "Source and destination attribute types are incompatible")
    }

    @Test("Objects that break a new constraint stop the migration: 134111")
    func constraint() throws {
        try Town.makeStore(at: folder.store)
        let model = Town.model()
        model.entity("Person").versionHashModifier = "2"
        _ = model.entity("Person").with(constraint: "house")
        #expect(error { _ = try add(model, at: folder.store, options) }?.code == 134111)
        #expect(try plainSQL("SELECT COUNT(*) FROM ZPERSON", in: folder.store) == ["3"])
    }

    @Test("A number that does not fit its new type stops the migration")
    func outOfRange() throws {
        let model = { (type: NSAttributeType) in makeModel(makeEntity("Item", makeAttribute("count", type))) }
        let store = try openStore(model(.integer64AttributeType), at: folder.store)
        try store.save(inserted: [store.insertion("Item", ["count": .integer(70000)])])
        store.opened = nil
        let failure = try #require(error { _ = try add(model(.integer16AttributeType), at: folder.store, options) })
        #expect(failure.code == 134110)
        #expect(try plainSQL("SELECT ZCOUNT FROM ZITEM", in: folder.store) == ["70000"])
    }

    @Test(
        "The metadata keep their UUID and what programs put there; the hashes and the model's copy are the new model's")
    func metadata() throws {
        try Town.makeStore(at: folder.store)
        var metadata = try SQLiteFormat.metadata(at: folder.store)
        metadata["Colour"] = "green"
        try SQLiteFormat.setMetadata(metadata, at: folder.store)
        let model = Town.model()
        ModelChange.all[0].apply(model)
        try close(try add(model, at: folder.store, options))
        let after = try SQLiteFormat.metadata(at: folder.store)
        #expect(after["Colour"] as? String == "green")
        #expect(after[NSStoreUUIDKey] as? String == metadata[NSStoreUUIDKey] as? String)
        #expect(after[NSStoreModelVersionHashesKey] as? [String: Data] == model.entityVersionHashesByName)
        let cached = try #require(try StoreFile.open(folder.store, mode: .readOnly).cachedModel())
        #expect(cached.attribute("Person", "email").attributeType == .stringAttributeType)
    }

    @Test("The history's changes follow their entities' numbers and properties")
    func history() throws {
        try Town.makeStore(at: folder.store)
        let tracking: [AnyHashable: Any] = [NSPersistentHistoryTrackingKey: true]
        try close(try add(Town.model(), at: folder.store, tracking))
        let writer = try Connection(path: folder.store.path, mode: .readWrite)
        // Person (3 or 4) changed its age, the first of its properties by name.
        let person = try writer.integer("SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Person'") ?? 0
        try writer.execute("INSERT INTO ACHANGE (Z_PK, Z_ENT, ZENTITY, ZCOLUMNS) VALUES (1, 16001, \(person), X'80')")
        let log = try writer.integer("SELECT Z_ENT FROM Z_PRIMARYKEY WHERE Z_NAME = 'Log'") ?? 0
        try writer.execute("INSERT INTO ACHANGE (Z_PK, Z_ENT, ZENTITY, ZCOLUMNS) VALUES (2, 16001, \(log), X'80')")
        let model = Town.model()
        model.entities =
            model.entities.filter { !["Log", "Alarm"].contains($0.name) } + [makeEntity("Aardvark")]
        model.add(makeAttribute("abode", .stringAttributeType), to: "Person")
        try close(try add(model, at: folder.store, options.merging(tracking) { $1 }))
        let rows = try plainSQL(
            "SELECT Z_NAME, hex(ZCOLUMNS) FROM ACHANGE JOIN Z_PRIMARYKEY ON Z_PRIMARYKEY.Z_ENT = ZENTITY",
            in: folder.store)
        #expect(rows == ["Person|40"])
    }

    @Test("A new property under the name of a former one has no part in the history's changes of that one")
    func historyOfReplacedProperty() throws {
        let tracking: [AnyHashable: Any] = [NSPersistentHistoryTrackingKey: true]
        let former = makeEntity("Item")
        former.properties = ["owner", "title"].map { makeAttribute($0, .stringAttributeType) }
        let coordinator = try add(makeModel(former), at: folder.store, tracking)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
            try context.save()
            for name in ["owner", "title"] { item.setValue("new", forKey: name) }
            try context.save()
        }
        try close(coordinator)
        let masks = "SELECT hex(ZCOLUMNS) FROM ACHANGE WHERE ZCHANGETYPE = 1"
        #expect(try plainSQL(masks, in: folder.store) == ["C0"])
        let item = makeEntity("Item")
        let owner = NSRelationshipDescription()
        (owner.name, owner.maxCount, owner.destinationEntity) = ("owner", 1, item)
        item.properties = [owner, makeAttribute("title", .stringAttributeType)]
        try close(try add(makeModel(item), at: folder.store, options.merging(tracking) { $1 }))
        #expect(try plainSQL(masks, in: folder.store) == ["40"])
    }

    @Test("What the history keeps of deleted objects goes with its attributes, whatever places these have")
    func tombstones() throws {
        func kept(_ names: String...) -> NSManagedObjectModel {
            let item = makeEntity("Item")
            item.properties = names.map { name in
                let attribute = makeAttribute(name, .stringAttributeType)
                attribute.preservesValueInHistoryOnDeletion = true
                return attribute
            }
            return makeModel(item)
        }
        let tracking: [AnyHashable: Any] = [NSPersistentHistoryTrackingKey: true]
        let coordinator = try add(kept("b", "c"), at: folder.store, tracking)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
            for name in ["b", "c"] { item.setValue(name.uppercased(), forKey: name) }
            try context.save()
            context.delete(item)
            try context.save()
        }
        try close(coordinator)
        let deleted = "SELECT ZTOMBSTONE0, ZTOMBSTONE1, ZTOMBSTONE2 FROM ACHANGE WHERE ZCHANGETYPE = 2"
        try close(try add(kept("a", "b", "c"), at: folder.store, options.merging(tracking) { $1 }))
        #expect(try plainSQL(deleted, in: folder.store) == ["|B|C"])
        try close(try add(kept("c"), at: folder.store, options.merging(tracking) { $1 }))
        #expect(try plainSQL(deleted, in: folder.store) == ["C||"])
    }

    @Test("A model that preserves other attributes is another version, and the values in the history keep their names")
    func preservation() throws {
        func item(preserving names: Set<String>) -> NSManagedObjectModel {
            let item = makeEntity("Item")
            item.properties = ["a", "b"].map { name in
                let attribute = makeAttribute(name, .stringAttributeType)
                attribute.preservesValueInHistoryOnDeletion = names.contains(name)
                return attribute
            }
            return makeModel(item)
        }
        let tracking: [AnyHashable: Any] = [NSPersistentHistoryTrackingKey: true]
        let coordinator = try add(item(preserving: ["b"]), at: folder.store, tracking)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            let item = NSEntityDescription.insertNewObject(forEntityName: "Item", into: context)
            for name in ["a", "b"] { item.setValue(name.uppercased(), forKey: name) }
            try context.save()
            context.delete(item)
            try context.save()
        }
        try close(coordinator)
        for (preserved, kept) in [(["a", "b"], ["b": "B"]), (["a"], [:])] as [(Set<String>, [String: String])] {
            let coordinator = try add(
                item(preserving: preserved), at: folder.store, options.merging(tracking) { $1 })
            let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
            context.persistentStoreCoordinator = coordinator
            try context.performAndWait {
                let request = NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?)
                request.resultType = .changesOnly
                let result = try context.execute(request) as? NSPersistentHistoryResult
                let changes = try #require(result?.result as? [NSPersistentHistoryChange])
                #expect(changes.last?.tombstone as? [String: String] ?? [:] == kept)
            }
            try close(coordinator)
        }
    }

    @Test("Columns, indexes and tables of somebody else's stay")
    func foreign() throws {
        try Town.makeStore(at: folder.store)
        let writer = try Connection(path: folder.store.path, mode: .readWrite)
        try writer.execute("CREATE TABLE NOTES (TEXT VARCHAR); INSERT INTO NOTES VALUES ('hello')")
        try writer.execute("ALTER TABLE ZPET ADD COLUMN XCOLOUR VARCHAR; UPDATE ZPET SET XCOLOUR = 'brown'")
        try writer.execute("CREATE INDEX X_PET ON ZPET (XCOLOUR)")
        let model = Town.model()
        model.removeProperty("name", of: "Pet")
        try close(try add(model, at: folder.store, options))
        #expect(try plainSQL("SELECT TEXT FROM NOTES", in: folder.store) == ["hello"])
        #expect(try plainSQL("SELECT XCOLOUR FROM ZPET", in: folder.store) == ["brown", "brown"])
        #expect(try plainSQL("SELECT name FROM sqlite_master WHERE name = 'X_PET'", in: folder.store) == ["X_PET"])
    }

    @Test("Views of somebody else's, and tables that refer to the store's, go on with the new tables")
    func foreignNames() throws {
        try Town.makeStore(at: folder.store)
        let writer = try Connection(path: folder.store.path, mode: .readWrite)
        try writer.execute("CREATE VIEW MINE AS SELECT ZNAME FROM ZPERSON")
        try writer.execute("CREATE TABLE NOTES (PERSON INTEGER REFERENCES ZPERSON (Z_PK))")
        // It names a column that there never was.
        try writer.execute("CREATE VIEW BROKEN AS SELECT XNONE FROM ZPERSON")
        let model = Town.model()
        model.removeProperty("age", of: "Person")
        try close(try add(model, at: folder.store, options))
        #expect(try plainSQL("SELECT ZNAME FROM MINE ORDER BY 1", in: folder.store) == ["Ann", "Bob", "Cid"])
        #expect(
            try plainSQL("SELECT sql FROM sqlite_master WHERE name = 'NOTES'", in: folder.store)
                == ["CREATE TABLE NOTES (PERSON INTEGER REFERENCES ZPERSON (Z_PK))"])
    }

    @Test("Triggers of somebody else's are made again, and did not fire for rows that were moved")
    func foreignTriggers() throws {
        try Town.makeStore(at: folder.store)
        let writer = try Connection(path: folder.store.path, mode: .readWrite)
        try writer.execute("CREATE TABLE NOTES (TEXT VARCHAR)")
        try writer.execute(
            "CREATE TRIGGER MINE AFTER UPDATE OF ZNAME ON ZPERSON BEGIN INSERT INTO NOTES VALUES (NEW.ZNAME); END")
        try writer.execute(
            "CREATE TRIGGER OTHER AFTER INSERT ON ZPERSON BEGIN INSERT INTO NOTES VALUES ('new'); END")
        let model = Town.model()
        model.removeProperty("age", of: "Person")
        try close(try add(model, at: folder.store, options))
        #expect(try plainSQL("SELECT TEXT FROM NOTES", in: folder.store) == [])
        let reader = try Connection(path: folder.store.path, mode: .readWrite)
        try reader.execute("UPDATE ZPERSON SET ZNAME = 'Eve' WHERE ZNAME = 'Ann'")
        #expect(try plainSQL("SELECT TEXT FROM NOTES", in: folder.store) == ["Eve"])
        #expect(
            try plainSQL("SELECT name FROM sqlite_master WHERE type = 'trigger' AND name = 'OTHER'", in: folder.store)
                == ["OTHER"])
    }

    @Test("A trigger of somebody else's that names what goes stops the migration, and the store stays as it was")
    func foreignTriggerOfRemoved() throws {
        try Town.makeStore(at: folder.store)
        let writer = try Connection(path: folder.store.path, mode: .readWrite)
        try writer.execute(
            "CREATE TRIGGER MINE AFTER UPDATE ON ZPERSON WHEN NEW.ZAGE > 9 BEGIN SELECT 1; END")
        let model = Town.model()
        model.removeProperty("age", of: "Person")
        let error = error { _ = try add(model, at: folder.store, options) }
        #expect(error?.localizedDescription.contains("ZAGE") == true)
        #expect(try plainSQL("SELECT name FROM sqlite_master WHERE name = 'MINE'", in: folder.store) == ["MINE"])
        #expect(try plainSQL("SELECT COUNT(ZAGE) >= 0 FROM ZPERSON", in: folder.store) == ["1"])
    }

    @Test("A damaged copy of the model is named, with the store and what to do")
    func damagedCopy() throws {
        try Town.makeStore(at: folder.store)
        let writer = try Connection(path: folder.store.path, mode: .readWrite)
        try writer.execute("UPDATE Z_MODELCACHE SET Z_CONTENT = x'0102'")
        let model = Town.model()
        model.removeProperty("age", of: "Person")
        let error = error { _ = try add(model, at: folder.store, options) }
        #expect(error?.localizedDescription.contains(folder.store.lastPathComponent) == true)
        #expect(error?.localizedDescription.contains("Z_MODELCACHE") == true)
        #expect(error?.localizedRecoverySuggestion?.contains("Z_MODELCACHE") == true)
    }
}
