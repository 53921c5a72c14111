import CoreData
import Synchronization
import TestSupport
import Testing

/// An observer of a notification may use the context, which is in the middle of processing, rolling back or saving.
@Suite("Events during which observers use the context")
struct ObservedEventTests {
    let container: NSPersistentContainer
    let context: NSManagedObjectContext

    init() throws {
        container = try Library.inMemory()
        context = container.newBackgroundContext()
    }

    private func saved(_ name: String) throws -> NSManagedObject {
        let author = context.make("Author", ["name": name, "age": 1])
        try context.save()
        return author
    }

    /// Runs a block that is observed: the first notification of a name leads to other work.
    private func run(
        _ block: () throws -> Void, observing name: Notification.Name, once work: @escaping () throws -> Void
    ) rethrows {
        let waiting = Mutex<Unchecked<() throws -> Void>?>(Unchecked(work))
        let token = NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { _ in
            let work = waiting.withLock { waiting in
                defer { waiting = nil }
                return waiting
            }
            #expect(throws: Never.self) { try work?.value() }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try block()
    }

    /// An author whose name was changed in an earlier event, and a rollback before which an observer changes the
    /// author.
    private func rolledBack() throws -> NSManagedObject {
        let author = try saved("A")
        author.setValue("B", forKey: "name")
        context.processPendingChanges()
        author.setValue(2, forKey: "age")
        run({ context.rollback() }, observing: .NSManagedObjectContextObjectsDidChange) {
            author.setValue(3.5, forKey: "rating")
        }
        #expect(author.string("name") == "A")
        #expect(author.value(forKey: "rating") as? Double == 1.5)
        return author
    }

    @Test("Undo after a rollback restores nothing that the rollback discarded")
    func undo() throws {
        let context = context
        try context.performAndWait {
            context.undoManager = UndoManager()
            let author = try rolledBack()
            author.setValue(5, forKey: "age")
            context.undo()
            #expect(author.string("name") == "A")
            #expect(author.value(forKey: "age") as? Int == 1)
            #expect(!context.hasChanges)
        }
    }

    @Test("After a rollback, the values before an event are the saved ones")
    func formerValues() throws {
        try context.performAndWait {
            let author = try rolledBack()
            author.setValue("C", forKey: "name")
            #expect(author.changedValuesForCurrentEvent().mapValues { "\($0)" } == ["name": "A"])
        }
    }

    @Test("After an object was refreshed without its changes, the values before the event are the saved ones")
    func refreshedValues() throws {
        try context.performAndWait {
            let author = try saved("A")
            author.setValue("B", forKey: "name")
            context.processPendingChanges()
            author.setValue("C", forKey: "name")
            context.refresh(author, mergeChanges: false)
            author.setValue("D", forKey: "name")
            #expect(author.changedValuesForCurrentEvent().mapValues { "\($0)" } == ["name": "A"])
        }
    }

    @Test("What an observer changes belongs to the next event, with the values before that")
    func nextEvent() throws {
        let context = context
        try context.performAndWait {
            let author = try saved("A")
            author.setValue("B", forKey: "name")
            context.processPendingChanges()
            author.setValue(2, forKey: "age")
            run({ context.processPendingChanges() }, observing: .NSManagedObjectContextObjectsDidChange) {
                author.setValue("C", forKey: "name")
            }
            #expect(author.changedValuesForCurrentEvent().mapValues { "\($0)" } == ["name": "B"])
        }
    }

    @Test("An object that an observer finds to be gone before a rollback is reported as deleted once")
    func gone() throws {
        let log = PostingLog(context)
        let context = context
        let lost = try context.performAndWait { Unchecked(try saved("L")) }
        let other = container.newBackgroundContext()
        try other.performAndWait {
            other.delete(try #require(try other.all("Author").first))
            try other.save()
        }
        try context.performAndWait {
            let author = try saved("A")
            context.refresh(lost.value, mergeChanges: false)
            context.processPendingChanges()
            _ = log.take()
            author.setValue("B", forKey: "name")
            run({ context.rollback() }, observing: .NSManagedObjectContextObjectsDidChange) {
                _ = lost.value.value(forKey: "name")
            }
            context.processPendingChanges()
        }
        #expect(log.take() == ["changed updated 1", "changed deleted 1 refreshed 1"])
    }

    @Test("An observer of a save that saves again leaves the former save's replaced objects without values")
    func nestedSave() throws {
        let model = Library.model()
        model.entitiesByName["Tag"]?.uniquenessConstraints = [["name"]]
        let folder = try TestFolder()
        let context = try Library.stored(at: folder.file("library.sqlite"), model).newBackgroundContext()
        try context.performAndWait {
            context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
            context.make("Tag", ["name": "A"])
            try context.save()
            let replaced = context.make("Tag", ["name": "A"])
            let saves = Mutex(0)
            let token = NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextDidSave, object: context, queue: nil
            ) { _ in
                let isFirst = saves.withLock { saves in
                    saves += 1
                    return saves == 1
                }
                if isFirst { #expect(throws: Never.self) { try context.save() } }
            }
            defer { NotificationCenter.default.removeObserver(token) }
            try context.save()
            #expect(saves.withLock { $0 } == 2)
            #expect(replaced.managedObjectContext == nil)
            #expect(replaced.isFault)
        }
    }
}
