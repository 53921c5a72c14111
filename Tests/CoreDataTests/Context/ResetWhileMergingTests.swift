import CoreData
import Testing

/// Does what it is told when it is refreshed.
final class Awakened: NSManagedObject {
    nonisolated(unsafe) static var onRefresh: ((Awakened) -> Void)?

    override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
        super.awake(fromSnapshotEvents: flags)
        if flags.contains(.refresh) { Self.onRefresh?(self) }
    }
}

@MainActor @Suite("A context that is reset while it merges what others save", .serialized)
struct ResetWhileMergingTests {
    private let container: NSPersistentContainer
    private var context: NSManagedObjectContext { container.viewContext }

    init() throws {
        let entity = Library.entity("Awakened", [Library.attribute("name", .stringAttributeType)])
        entity.managedObjectClassName = NSStringFromClass(Awakened.self)
        Library.connect(entity, "friends", toMany: true, entity, "admirers", inverseToMany: true)
        let model = NSManagedObjectModel()
        model.entities = [entity]
        container = try Library.inMemory(model)
        context.automaticallyMergesChangesFromParent = true
        for name in ["a", "b", "c", "d"] { context.make("Awakened", ["name": name]) }
        let all = Set(context.insertedObjects)
        for object in all { object.setValue(all.subtracting([object]), forKey: "friends") }
        try context.save()
        for object in all { _ = object.value(forKey: "friends") }
    }

    /// Changes two objects, deletes one and inserts one in another context, whose save the context merges.
    private func saveElsewhere() throws {
        let other = container.newBackgroundContext()
        try other.performAndWait {
            let all = try other.all("Awakened", by: "name")
            for object in all.dropLast() { object.setValue(object.string("name").map { $0 + $0 }, forKey: "name") }
            other.delete(try #require(all.last))
            other.make("Awakened", ["name": "e"])
            try other.save()
        }
    }

    private func expectNothingLeft(_ former: Set<NSManagedObject>) throws {
        #expect(!context.hasChanges)
        #expect(context.deletedObjects.isEmpty && context.updatedObjects.isEmpty)
        #expect(context.registeredObjects.isDisjoint(with: former))
        #expect(former.allSatisfy { $0.managedObjectContext == nil && $0.isFault })
        #expect(try context.all("Awakened", by: "name").map { $0.string("name") } == ["aa", "bb", "cc", "e"])
        context.make("Awakened", ["name": "f"])
        try context.save()
    }

    @Test("has none of its former objects, where an object that awakes resets it")
    func awakening() throws {
        let former = context.registeredObjects
        var calls = 0
        Awakened.onRefresh = { object in
            calls += 1
            object.managedObjectContext?.reset()
        }
        defer { Awakened.onRefresh = nil }
        try saveElsewhere()
        #expect(calls == 1)
        Awakened.onRefresh = nil
        try expectNothingLeft(former)
    }

    @Test(
        "has none of its former objects, where an observer of a notification resets it",
        arguments: [
            Notification.Name.NSManagedObjectContextObjectsDidChange,
            NSManagedObjectContext.didMergeChangesObjectIDsNotification,
        ])
    func notification(name: Notification.Name) throws {
        let former = context.registeredObjects
        nonisolated(unsafe) var isReset = false  // only used on the main thread
        let context = context
        let token = NotificationCenter.default.addObserver(forName: name, object: context, queue: nil) { _ in
            if isReset { return }
            isReset = true
            context.reset()
        }
        defer { NotificationCenter.default.removeObserver(token) }
        try saveElsewhere()
        #expect(isReset)
        try expectNothingLeft(former)
    }

    @Test(
        "has none of its former objects, where an observer of a value resets it before or after the change",
        arguments: [NSKeyValueObservingOptions.prior, []], ["name", "friends"])
    func observer(options: NSKeyValueObservingOptions, key: String) throws {
        let former = context.registeredObjects
        let observer = Spy()
        var calls = 0
        observer.reaction = {
            calls += 1
            observer.heard.last?.object?.managedObjectContext?.reset()
        }
        for object in former { object.addObserver(observer, forKeyPath: key, options: options, context: nil) }
        try saveElsewhere()
        #expect(calls > 0)
        for object in former { object.removeObserver(observer, forKeyPath: key) }
        try expectNothingLeft(former)
    }

    @Test("reports none of its former objects afterwards")
    func announcement() throws {
        let former = context.registeredObjects
        nonisolated(unsafe) var told: Set<NSManagedObject> = []  // only used on the main thread
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextObjectsDidChange, object: context, queue: nil
        ) { note in
            for value in note.userInfo?.values ?? [:].values {
                if let objects = value as? Set<NSManagedObject> { told.formUnion(objects) }
            }
        }
        defer { NotificationCenter.default.removeObserver(token) }
        Awakened.onRefresh = { $0.managedObjectContext?.reset() }
        defer { Awakened.onRefresh = nil }
        try saveElsewhere()
        #expect(told.isDisjoint(with: former))
    }
}
