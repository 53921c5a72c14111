import CoreData
import Testing

/// The rules are those that NotificationMerge_Tests and NotificationPayload_Tests of CoreDataPlus rely on, which run on
/// Apple's framework.
@Suite("Notifications: merges of other contexts' saves")
struct MergeNotificationTests {
    let container: NSPersistentContainer
    let reader: NSManagedObjectContext
    let writer: NSManagedObjectContext
    let log: PostingLog

    init() throws {
        container = try Library.inMemory()
        reader = container.newBackgroundContext()
        writer = container.newBackgroundContext()
        log = PostingLog(reader)
        try writer.performAndWait { [writer] in
            for name in ["A", "B", "C", "D"] { writer.make("Author", ["name": name]) }
            try writer.save()
        }
    }

    /// Has the writer save changes to its authors, by name, and the reader merge them.
    private func merge(_ change: ([NSManagedObject]) -> Void) throws {
        nonisolated(unsafe) var notification: Notification?  // set before save() returns
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: writer, queue: nil
        ) { notification = $0 }
        defer { NotificationCenter.default.removeObserver(token) }
        try writer.performAndWait {
            change(try writer.all("Author", by: "name"))
            try writer.save()
        }
        reader.mergeChanges(fromContextDidSave: try #require(notification))
    }

    @Test("Objects with values are refreshed, new ones inserted, registered ones deleted; then the IDs of all are told")
    func payload() throws {
        try reader.performAndWait {
            let authors = try reader.all("Author", by: "name")
            _ = authors[0].string("name")
            _ = authors[2].string("name")
            try merge { authors in
                authors[0].setValue("A!", forKey: "name")
                authors[1].setValue("B!", forKey: "name")
                writer.delete(authors[2])
                writer.make("Author", ["name": "E"])
            }
            #expect(
                log.take() == [
                    "changed deleted 1 inserted 1 refreshed 1", "merged deleted 1 inserted 1 refreshed 1 updated 2",
                ])
            #expect(authors.map { $0.string("name") }[0...1] == ["A!", "B!"])
        }
    }

    @Test("Changes of faults, and of objects that are not here, are not changes of the context")
    func faults() throws {
        try reader.performAndWait {
            let authors = try reader.all("Author", NSPredicate(format: "name IN {'A', 'B'}"), by: "name")
            #expect(authors.allSatisfy { $0.isFault })
            try merge { authors in
                authors[0].setValue("A!", forKey: "name")
                authors[2].setValue("C!", forKey: "name")
                writer.delete(authors[3])
            }
            #expect(log.take() == ["merged deleted 1 updated 2"])
            #expect(authors[0].isFault)
            #expect(authors[0].string("name") == "A!")
        }
    }

    // “invokes deleteObject: on those which have been deleted”, says the reference of
    // mergeChanges(fromContextDidSave:).
    @Test("What another context deleted is deleted here, until the next save forgets it without writing")
    func deletion() throws {
        try reader.performAndWait {
            let author = try #require(try reader.all("Author", by: "name").first)
            try merge { writer.delete($0[0]) }
            #expect(author.isDeleted)
            #expect(reader.deletedObjects == [author])
            #expect(reader.registeredObjects.contains(author))
            let count = try reader.all("Author").count
            #expect(count == 3)
            _ = log.take()
            try reader.save()
            #expect(log.take() == ["willSave", "didSave deleted 1", "didSaveIDs deleted 1"])
            #expect(author.managedObjectContext == nil)
            #expect(!reader.hasChanges)
        }
    }

    @Test("A rollback does not bring back what another context deleted")
    func rollback() throws {
        try reader.performAndWait {
            let author = try #require(try reader.all("Author", by: "name").first)
            try merge { writer.delete($0[0]) }
            reader.rollback()
            #expect(author.managedObjectContext == nil)
            #expect(!reader.hasChanges)
        }
    }

    @Test("An object that two contexts delete is not a conflict once the deletion was merged")
    func deletedTwice() throws {
        try reader.performAndWait {
            let author = try #require(try reader.all("Author", by: "name").first)
            reader.delete(author)
            try merge { writer.delete($0[0]) }
            try reader.save()
            #expect(author.managedObjectContext == nil)
        }
    }

    @Test("Changes that are told by URI are merged as well")
    func remote() throws {
        try reader.performAndWait {
            let authors = try reader.all("Author", by: "name")
            let uris = authors.map { $0.objectID.uriRepresentation() }
            _ = authors.map { $0.string("name") }
            try writer.performAndWait {
                try writer.all("Author", by: "name")[1].setValue("B!", forKey: "name")
                try writer.save()
            }
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSUpdatedObjectsKey: [uris[1]]], into: [reader])
            #expect(authors[1].string("name") == "B!")
            #expect(log.take() == ["changed refreshed 1", "merged refreshed 1 updated 1"])
        }
    }
}
