import CoreData
import Foundation
import Testing

@Suite("A batch deletion deletes rows without objects, as the delete rules say")
struct BatchDeleteTests {
    private func delete(
        _ store: BatchStore, _ entity: String, _ format: String? = nil,
        _ type: NSBatchDeleteRequestResultType = .resultTypeCount, limit: Int = 0
    ) throws -> Any? {
        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: entity)
        fetch.predicate = format.map { NSPredicate(format: $0) }
        fetch.fetchLimit = limit
        fetch.sortDescriptors = [NSSortDescriptor(key: "objectID", ascending: true)]
        if limit == 0 { fetch.sortDescriptors = nil }
        let request = NSBatchDeleteRequest(fetchRequest: fetch)
        request.resultType = type
        return try store.execute(request, NSBatchDeleteResult.self).result
    }

    @Test("Rows that the predicate finds go, others stay")
    func predicate() throws {
        let store = try BatchStore(BatchStore.uniqueModel())
        _ = try store.execute(
            NSBatchInsertRequest(entityName: "Item", objects: ["a", "b", "c"].map { ["code": $0] }))
        #expect(try delete(store, "Item", "code != 'b'") as? Int == 2)
        #expect(try store.rows("SELECT ZCODE FROM ZITEM") == ["b"])
    }

    @Test("The rule nullify clears the references to deleted rows, whose versions grow")
    func nullify() throws {
        let store = try BatchStore()
        try store.save { context in
            let shelf = context.make("Shelf", ["code": "s"])
            context.make("Book", ["title": "B", "shelf": shelf])
        }
        #expect(try delete(store, "Shelf") as? Int == 1)
        #expect(try store.rows("SELECT ZTITLE, ZSHELF, Z_OPT FROM ZBOOK") == ["B||2"])
    }

    @Test("The rule cascade deletes on, through every level, and the count is of what was asked for")
    func cascade() throws {
        let store = try BatchStore()
        try store.save { context in
            let author = context.make("Author", ["name": "Ann"])
            let book = context.make("Comic", ["title": "B", "author": author])
            context.make("Chapter", ["title": "1", "book": book])
            context.make("Chapter", ["title": "other"])
            let tag = context.make("Tag", ["name": "t"])
            tag.setValue(Set([book]), forKey: "books")
        }
        #expect(try store.rows("SELECT COUNT(*) FROM Z_2TAGS") == ["1"])
        #expect(try delete(store, "Author", "name == 'Ann'") as? Int == 1)
        #expect(try store.rows("SELECT COUNT(*) FROM ZBOOK") == ["0"])
        #expect(try store.rows("SELECT ZTITLE FROM ZCHAPTER") == ["other"])
        #expect(try store.rows("SELECT COUNT(*) FROM Z_2TAGS") == ["0"])
        #expect(try store.rows("SELECT ZNAME FROM ZTAG") == ["t"])
    }

    @Test("The rule cascade leads through several tables and back, also where the rows close a circle")
    func circle() throws {
        let river = Library.entity("River", [Library.attribute("name", .stringAttributeType)])
        let lake = Library.entity("Lake", [Library.attribute("name", .stringAttributeType)])
        Library.connect(river, "lakes", toMany: true, deleteRule: .cascadeDeleteRule, lake, "source")
        Library.connect(lake, "rivers", toMany: true, deleteRule: .cascadeDeleteRule, river, "source")
        let model = NSManagedObjectModel()
        model.entities = [river, lake]
        for isCircle in [false, true] {
            let store = try BatchStore(model)
            try store.save { context in
                let first = context.make("River", ["name": "0"])
                var last = first
                for number in 1...6 {
                    last = context.make(number % 2 == 0 ? "River" : "Lake", ["name": "\(number)", "source": last])
                }
                if isCircle { first.setValue(context.make("Lake", ["name": "7", "source": last]), forKey: "source") }
                context.make("Lake", ["name": "other", "source": context.make("River", ["name": "other"])])
            }
            #expect(try delete(store, "River", "name == '0'") as? Int == 1)
            #expect(try store.rows("SELECT ZNAME FROM ZRIVER") == ["other"])
            #expect(try store.rows("SELECT ZNAME FROM ZLAKE") == ["other"])
        }
    }

    private func mandatory(_ rule: NSDeleteRule) throws -> BatchStore {
        let room = Library.entity("Room", [Library.attribute("name", .stringAttributeType)])
        let seat = Library.entity("Seat", [Library.attribute("name", .stringAttributeType)])
        Library.connect(room, "seats", toMany: true, deleteRule: rule, seat, "room")
        (seat.propertiesByName["room"] as? NSRelationshipDescription)?.isOptional = false
        let model = NSManagedObjectModel()
        model.entities = [room, seat]
        let store = try BatchStore(model)
        try store.save { context in
            let room = context.make("Room", ["name": "R"])
            context.make("Seat", ["name": "S", "room": room])
        }
        return store
    }

    // wireapp/wire-ios-data-model, pull request 1287: “Batch delete failed due to mandatory OTM nullify inverse on
    // Conversation/participantRoles”.
    @Test("A reference that would have to be cleared and is required fails the request, and nothing is deleted")
    func required() throws {
        let store = try mandatory(.nullifyDeleteRule)
        let error = #expect(throws: NSError.self) { _ = try delete(store, "Room") }
        #expect(error?.localizedDescription.contains("mandatory OTM nullify inverse on Room/seats") == true)
        #expect(try store.rows("SELECT COUNT(*) FROM ZROOM") == ["1"])
        #expect(try delete(store, "Seat") as? Int == 1)
        #expect(try delete(store, "Room") as? Int == 1)
    }

    @Test("The rule deny fails the request, and nothing is deleted")
    func deny() throws {
        let store = try mandatory(.denyDeleteRule)
        let error = #expect(throws: NSError.self) { _ = try delete(store, "Room") }
        #expect(error?.code == 1600)
        #expect(try store.rows("SELECT COUNT(*) FROM ZROOM") == ["1"])
    }

    @Test("A limit leaves the rows beyond it, and the IDs tell which have gone")
    func limit() throws {
        let store = try BatchStore()
        _ = try store.execute(NSBatchInsertRequest(entityName: "Tag", objects: ["a", "b", "c"].map { ["name": $0] }))
        let deleted = try delete(store, "Tag", nil, .resultTypeObjectIDs, limit: 2)
        let identifiers = try #require(deleted as? [NSManagedObjectID])
        #expect(identifiers.map { $0.uriRepresentation().lastPathComponent } == ["p1", "p2"])
        #expect(try store.rows("SELECT ZNAME FROM ZTAG") == ["c"])
    }

    @Test("Forty thousand IDs are no obstacle, and IDs that are gone count for nothing")
    func manyIdentifiers() throws {
        let store = try BatchStore()
        let insertion = NSBatchInsertRequest(
            entityName: "Tag", objects: (0..<40_000).map { ["name": "tag \($0)"] as [String: Any] })
        insertion.resultType = .objectIDs
        let inserted = try store.execute(insertion, NSBatchInsertResult.self).result
        let identifiers = try #require(inserted as? [NSManagedObjectID])
        for expected in [40_000, 0] {
            let request = NSBatchDeleteRequest(objectIDs: identifiers)
            request.resultType = .resultTypeCount
            #expect(try store.execute(request, NSBatchDeleteResult.self).result as? Int == expected)
        }
        #expect(try store.rows("SELECT COUNT(*) FROM ZTAG") == ["0"])
    }

    @Test("The files of large values go with their rows")
    func externalFiles() throws {
        let model = NSManagedObjectModel()
        let image = Library.attribute("image", .binaryDataAttributeType)
        image.allowsExternalBinaryDataStorage = true
        model.entities = [Library.entity("Picture", [image])]
        let store = try BatchStore(model)
        _ = try store.execute(
            NSBatchInsertRequest(entityName: "Picture", objects: [["image": Data(count: 300_000)]]))
        let files = store.folder.file(".library_SUPPORT/_EXTERNAL_DATA").path
        #expect(try FileManager.default.contentsOfDirectory(atPath: files).count == 1)
        #expect(try delete(store, "Picture") as? Int == 1)
        #expect(try FileManager.default.contentsOfDirectory(atPath: files).isEmpty)
    }
}
