import CoreData
import Foundation
import Testing

@Suite("A batch insertion that meets rows with the same unique values")
struct BatchReplaceTests {
    /// Beings with a unique name, and two entities below it.
    private func beings() -> NSManagedObjectModel {
        let being = Library.entity("Being", [Library.attribute("name", .stringAttributeType)])
        being.uniquenessConstraints = [["name"]]
        let person = Library.entity("Person", [Library.attribute("wealth", .integer64AttributeType)])
        let animal = Library.entity("Animal", [Library.attribute("weight", .integer64AttributeType)])
        being.subentities = [person, animal]
        let model = NSManagedObjectModel()
        model.entities = [being, person, animal]
        return model
    }

    /// A store with an animal, which is called Rex and weighs 9.
    private func store() throws -> BatchStore {
        let store = try BatchStore(
            beings(), options: [NSPersistentHistoryTrackingKey: true as NSNumber])
        try store.save { context in
            let rex = NSEntityDescription.insertNewObject(forEntityName: "Animal", into: context)
            rex.setValue("Rex", forKey: "name")
            rex.setValue(9, forKey: "weight")
        }
        store.context.performAndWait { store.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump }
        return store
    }

    @Test(
        "A row of another entity below the same root takes nothing: the request fails, says what is there, and changes nothing"
    )
    func siblings() throws {
        let store = try store()
        let request = NSBatchInsertRequest(
            entityName: "Person", objects: [["name": "Ann", "wealth": 1], ["name": "Rex", "wealth": 2]])
        let error = #expect(throws: NSError.self) { try store.execute(request, NSBatchInsertResult.self) }
        #expect(error?.code == NSManagedObjectConstraintMergeError)
        #expect(error?.localizedDescription.contains("“Animal”") == true)
        #expect(error?.localizedDescription.contains("“Person”") == true)
        #expect(try store.rows("SELECT ZNAME, ZWEIGHT, ZWEALTH, Z_OPT FROM ZBEING") == ["Rex|9||1"])
    }

    @Test("A row of the root's entity does not count as one of an entity below it, either")
    func parent() throws {
        let store = try store()
        try store.save { context in
            NSEntityDescription.insertNewObject(forEntityName: "Being", into: context).setValue("It", forKey: "name")
        }
        let request = NSBatchInsertRequest(entityName: "Animal", objects: [["name": "It", "weight": 1]])
        let error = #expect(throws: NSError.self) { try store.execute(request, NSBatchInsertResult.self) }
        #expect(error?.code == NSManagedObjectConstraintMergeError)
        #expect(try store.rows("SELECT ZWEIGHT FROM ZBEING WHERE ZNAME = 'It'") == [""])
    }

    @Test("A row of an entity below takes the values, and stays what it is: in the result, and in the history")
    func below() throws {
        let store = try store()
        let request = NSBatchInsertRequest(entityName: "Being", objects: [["name": "Rex"]])
        request.resultType = .objectIDs
        let result = try store.execute(request, NSBatchInsertResult.self)
        let identifiers = try #require(result.result as? [NSManagedObjectID])
        #expect(identifiers.map(\.entity.name) == ["Animal"])
        #expect(try store.rows("SELECT ZNAME, ZWEIGHT, Z_OPT FROM ZBEING") == ["Rex|9|2"])
        let history = try store.execute(
            NSPersistentHistoryChangeRequest.fetchHistory(after: nil as NSPersistentHistoryToken?),
            NSPersistentHistoryResult.self)
        let changes = try #require(history.result as? [NSPersistentHistoryTransaction]).flatMap { $0.changes ?? [] }
        #expect(changes.map(\.changedObjectID.entity.name) == ["Animal", "Animal"])
        #expect(changes.last?.updatedProperties?.map(\.name) == ["name"])
    }

    @Test("A row of another entity that is to stay stays")
    func kept() throws {
        let store = try store()
        store.context.performAndWait { store.context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump }
        let request = NSBatchInsertRequest(entityName: "Person", objects: [["name": "Rex"], ["name": "Ann"]])
        request.resultType = .count
        #expect(try store.execute(request, NSBatchInsertResult.self).result as? Int == 1)
        #expect(try store.rows("SELECT ZNAME, Z_OPT FROM ZBEING ORDER BY ZNAME") == ["Ann|1", "Rex|1"])
    }

    @Test("The file of a value that is replaced goes, and so does that of one which is not written")
    func files() throws {
        let image = Library.attribute("image", .binaryDataAttributeType)
        image.allowsExternalBinaryDataStorage = true
        let picture = Library.entity("Picture", [Library.attribute("name", .stringAttributeType), image])
        picture.uniquenessConstraints = [["name"]]
        let model = NSManagedObjectModel()
        model.entities = [picture]
        let store = try BatchStore(model)
        store.context.performAndWait { store.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump }
        func files() throws -> [String] {
            let folder = store.folder.file(".library_SUPPORT/_EXTERNAL_DATA")
            return try FileManager.default.contentsOfDirectory(atPath: folder.path)
        }
        func insert(_ objects: [[String: Any]]) throws {
            _ = try store.execute(
                NSBatchInsertRequest(entityName: "Picture", objects: objects), NSBatchInsertResult.self)
        }
        let large = Data(repeating: 7, count: 1 << 20)
        try insert([["name": "a", "image": large], ["name": "b", "image": large]])
        let former = try files()
        #expect(former.count == 2)
        try insert([["name": "a", "image": large + [1]], ["name": "c"]])
        #expect(try files().count == 2)
        #expect(try Set(files()).intersection(former).count == 1)
        // What is not given stays.
        try insert([["name": "b"]])
        #expect(try files().count == 2)
        // What is not written leaves nothing.
        store.context.performAndWait { store.context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump }
        try insert([["name": "a", "image": large]])
        #expect(try files().count == 2)
    }
}
