import CoreData
import Foundation
import Testing

@Suite("A batch insertion writes rows without objects")
struct BatchInsertTests {
    @Test("Each dictionary becomes a row, with defaults for what it does not give, and keys in order")
    func dictionaries() throws {
        let store = try BatchStore()
        let request = NSBatchInsertRequest(
            entityName: "Author",
            objects: [["name": "Ann", "age": 40], ["name": "Bob", "isLiving": false, "unknown": 1]])
        let result = try store.execute(request, NSBatchInsertResult.self)
        #expect(result.result as? Bool == true)
        let rows = try store.rows("SELECT Z_PK, Z_OPT, ZNAME, ZAGE, ZRATING, ZISLIVING FROM ZAUTHOR ORDER BY Z_PK")
        #expect(rows == ["1|1|Ann|40|1.5|1", "2|1|Bob||1.5|0"])
        #expect(try store.rows("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Author'") == ["2"])
    }

    @Test("Values of every kind are stored as a save stores them")
    func kinds() throws {
        let store = try BatchStore()
        let token = try #require(UUID(uuidString: "00112233-4455-6677-8899-AABBCCDDEEFF"))
        let values: [String: Any] = [
            "name": "Ann", "born": Date(timeIntervalSinceReferenceDate: 12.5), "token": token,
            "photo": Data([1, 2, 3]), "wealth": NSDecimalNumber(string: "10.25"),
            "homepage": URL(fileURLWithPath: "/ann"), "rating": NSNumber(value: 2.5), "age": NSNumber(value: 7),
        ]
        _ = try store.execute(NSBatchInsertRequest(entityName: "Author", objects: [values]))
        let rows = try store.rows("SELECT ZBORN, ZTOKEN, ZPHOTO, ZWEALTH, ZHOMEPAGE, ZRATING, ZAGE FROM ZAUTHOR")
        #expect(rows == ["12.5|00112233445566778899AABBCCDDEEFF|010203|10.25|file:///ann|2.5|7"])
    }

    @Test("The IDs of the new rows come in the order of the dictionaries, and lead to objects")
    func identifiers() throws {
        let store = try BatchStore()
        let request = NSBatchInsertRequest(entityName: "Tag", objects: [["name": "a"], ["name": "b"]])
        request.resultType = .objectIDs
        let result = try store.execute(request, NSBatchInsertResult.self)
        let identifiers = try #require(result.result as? [NSManagedObjectID])
        try store.context.performAndWait {
            let names = try identifiers.map { try store.context.existingObject(with: $0).string("name") }
            #expect(names == ["a", "b"])
        }
    }

    @Test("A dictionary handler is asked until it returns true, and what it set then is not inserted")
    func dictionaryHandler() throws {
        let store = try BatchStore()
        var number = 0
        let request = NSBatchInsertRequest(entityName: "Tag") { dictionary in
            #expect(dictionary.count == 0)
            number += 1
            dictionary["name"] = "tag \(number)"
            return number == 3
        }
        request.resultType = .count
        #expect(try store.execute(request, NSBatchInsertResult.self).result as? Int == 2)
        #expect(try store.rows("SELECT ZNAME FROM ZTAG ORDER BY Z_PK") == ["tag 1", "tag 2"])
    }

    @Test("An object handler gets a fresh object of the entity each time, and no context hears of it")
    func objectHandler() throws {
        let store = try BatchStore()
        let observed = Observed(.NSManagedObjectContextObjectsDidChange)
        var number = 0
        let request = NSBatchInsertRequest(entityName: "Author") { (author: NSManagedObject) in
            number += 1
            #expect(author.value(forKey: "name") == nil)
            author.setValue("author \(number)", forKey: "name")
            return number == 3
        }
        _ = try store.execute(request)
        #expect(try store.rows("SELECT ZNAME, ZRATING FROM ZAUTHOR ORDER BY Z_PK") == ["author 1|1.5", "author 2|1.5"])
        #expect(observed.count(of: store.container) == 0)
    }

    @Test("Rows of a subentity lie in the root's table with the subentity's number, and count the root's keys")
    func subentities() throws {
        let store = try BatchStore()
        try store.save { $0.make("Book", ["title": "B"]) }
        _ = try store.execute(NSBatchInsertRequest(entityName: "Comic", objects: [["title": "C", "artist": "D"]]))
        let rows = try store.rows(
            "SELECT Z_PK, Z_NAME, ZTITLE, ZARTIST FROM ZBOOK JOIN Z_PRIMARYKEY USING (Z_ENT) ORDER BY Z_PK")
        #expect(rows == ["1|Book|B|", "2|Comic|C|D"])
        #expect(try store.rows("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Book'") == ["2"])
    }

    @Test("A value of a wrong type fails the request, names object and property, and nothing is inserted")
    func wrongType() throws {
        let store = try BatchStore()
        let request = NSBatchInsertRequest(entityName: "Tag", objects: [["name": "a"], ["name": Date()]])
        let error = #expect(throws: NSError.self) { _ = try store.execute(request) }
        #expect(error?.code == 1550)
        #expect(error?.localizedDescription.contains("Object 1") == true)
        #expect(error?.localizedDescription.contains("Tag.name") == true)
        #expect(try store.rows("SELECT COUNT(*) FROM ZTAG") == ["0"])
    }

    @Test("Under the error policy a duplicate of a unique value fails the request, and nothing is inserted")
    func duplicate() throws {
        let store = try BatchStore(BatchStore.uniqueModel())
        _ = try store.execute(NSBatchInsertRequest(entityName: "Item", objects: [["code": "a", "title": "1"]]))
        let request = NSBatchInsertRequest(entityName: "Item", objects: [["code": "b"], ["code": "a"]])
        let error = #expect(throws: NSError.self) { _ = try store.execute(request) }
        #expect(error?.code == 133021)
        #expect(try store.rows("SELECT ZCODE FROM ZITEM") == ["a"])
        #expect(try store.rows("SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_NAME = 'Item'") == ["1"])
    }

    @Test("Where the object wins, the row that is there takes what was given, keeps the rest, and its version grows")
    func objectTrump() throws {
        let store = try BatchStore(BatchStore.uniqueModel())
        store.context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        _ = try store.execute(
            NSBatchInsertRequest(entityName: "Item", objects: [["code": "a", "title": "1", "isKept": true]]))
        let request = NSBatchInsertRequest(
            entityName: "Item", objects: [["code": "b", "title": "2"], ["code": "a", "title": "new"]])
        request.resultType = .objectIDs
        let identifiers = try #require(
            try store.execute(request, NSBatchInsertResult.self).result as? [NSManagedObjectID])
        #expect(identifiers.map { $0.uriRepresentation().lastPathComponent } == ["p2", "p1"])
        let rows = try store.rows("SELECT Z_PK, Z_OPT, ZCODE, ZTITLE, ZISKEPT FROM ZITEM ORDER BY Z_PK")
        #expect(rows == ["1|2|a|new|1", "2|1|b|2|0"])
    }

    @Test("Where the store wins, the row that is there stays as it is")
    func storeTrump() throws {
        let store = try BatchStore(BatchStore.uniqueModel())
        store.context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        _ = try store.execute(NSBatchInsertRequest(entityName: "Item", objects: [["code": "a", "title": "1"]]))
        let request = NSBatchInsertRequest(entityName: "Item", objects: [["code": "a", "title": "2"], ["code": "b"]])
        request.resultType = .count
        #expect(try store.execute(request, NSBatchInsertResult.self).result as? Int == 1)
        #expect(try store.rows("SELECT Z_PK, Z_OPT, ZCODE, ZTITLE FROM ZITEM ORDER BY Z_PK") == ["1|1|a|1", "2|1|b|"])
    }

    @Test("An entity that the model does not have is an error that names those it has")
    func unknownEntity() throws {
        let store = try BatchStore()
        let error = #expect(throws: NSError.self) {
            _ = try store.execute(NSBatchInsertRequest(entityName: "Nobody", objects: []))
        }
        #expect(error?.localizedDescription.contains("Author") == true)
    }
}

/// Counts notifications that contexts of one container's coordinator post.
final class Observed: @unchecked Sendable {
    // @unchecked Sendable: `objects` is touched under the lock only.
    private let lock = NSLock()
    private var objects: [NSManagedObjectContext] = []
    private var token: (any NSObjectProtocol)?

    init(_ name: Notification.Name) {
        token = NotificationCenter.default.addObserver(forName: name, object: nil, queue: nil) { [weak self] note in
            guard let self, let context = note.object as? NSManagedObjectContext else { return }
            lock.withLock { objects.append(context) }
        }
    }

    deinit { if let token { NotificationCenter.default.removeObserver(token) } }

    func count(of container: NSPersistentContainer) -> Int {
        lock.withLock { objects.count { $0.persistentStoreCoordinator === container.persistentStoreCoordinator } }
    }
}
