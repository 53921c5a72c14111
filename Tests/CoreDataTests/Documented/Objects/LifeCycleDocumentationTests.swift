import CoreData
import Testing

/// Checks from the pages of `awakeFromFetch()`, `awake(fromSnapshotEvents:)`, `delete(_:)`, `willSave()` and their kin.
@MainActor @Suite("Documented: the life cycle of managed objects")
struct LifeCycleDocumentationTests {
    let container: NSPersistentContainer
    var context: NSManagedObjectContext { container.viewContext }
    private var hooks: Hooks { Hooks.of(context) }

    init() throws {
        container = try Notebook.inMemory()
        context.make("Note", ["title": "Saved", "stars": 1])
        context.make("Folder", ["name": "F"])
        try context.save()
        context.reset()
    }

    private func note() throws -> NSManagedObject { try #require(try context.all("Note").first) }

    @Test("awakeFromFetch: public setters make neither the object nor its context changed")
    func fetchDoesNotDirty() throws {
        hooks.onFetch = {
            $0.setValue("derived", forKey: "cache")
            $0.setValue(5, forKey: "stars")
        }
        let note = try note()
        #expect(note.shown("cache") == "derived")
        #expect(note.shown("stars") == "5")
        #expect(!note.hasChanges && !note.isUpdated && !context.hasChanges)
        #expect(note.changedValues().isEmpty && !note.hasPersistentChangedValues)
        #expect(context.updatedObjects.isEmpty)
    }

    @Test("awakeFromFetch: setters are not registered for undo")
    func fetchRegistersNoUndo() throws {
        context.undoManager = UndoManager()
        hooks.onFetch = { $0.setValue(5, forKey: "stars") }
        #expect(try note().shown("stars") == "5")
        context.processPendingChanges()
        #expect(context.undoManager?.canUndo == false)
    }

    @Test("awakeFromFetch: no notification reports what was set")
    func fetchPostsNothing() throws {
        hooks.onFetch = { $0.setValue(5, forKey: "stars") }
        let log = PostingLog(context)
        _ = try note().shown("stars")
        context.processPendingChanges()
        #expect(log.take().isEmpty)
    }

    @Test("awakeFromFetch: a relationship that is set there does not set its inverse")
    func fetchSetsNoInverse() throws {
        let folder = try #require(try context.all("Folder").first)
        hooks.onFetch = { $0.setValue(folder, forKey: "folder") }
        let note = try note()
        #expect(note.value(forKey: "folder") as? NSManagedObject === folder)
        #expect((folder.value(forKey: "notes") as? NSSet)?.count == 0)
        #expect(!folder.hasChanges && !context.hasChanges)
    }

    @Test("awakeFromFetch: neither does a member that is added to a to-many relationship")
    func fetchSetsNoInverseOfToMany() throws {
        let mark = context.make("Mark")
        try context.save()
        hooks.onFetch = { $0.mutableSetValue(forKey: "marks").add(mark) }
        _ = try note().shown("title")
        #expect((mark.value(forKey: "notes") as? NSSet)?.count == 0)
        #expect(!context.hasChanges)
    }

    @Test("A change after waking counts as a change, and is saved")
    func changesAfterwardsCount() throws {
        hooks.onFetch = { $0.setValue("derived", forKey: "cache") }
        let note = try note()
        note.setValue("New", forKey: "title")
        #expect(note.isUpdated && Set(note.changedValues().keys) == ["title"])
        try context.save()
        context.reset()
        #expect(try self.note().shown("title") == "New")
    }

    @Test(
        "awake(fromSnapshotEvents:): a refresh, an undo and a rollback leave the context unchanged by what is set there"
    )
    func snapshotDoesNotDirty() throws {
        context.undoManager = UndoManager()
        var events: [NSSnapshotEventType] = []
        hooks.onSnapshot = {
            events.append($1)
            $0.setValue("derived", forKey: "cache")
            $0.setValue(9, forKey: "stars")
        }
        let note = try note()
        note.setValue("New", forKey: "title")
        context.undo()
        #expect(note.shown("title") == "Saved")
        #expect(!context.hasChanges)
        context.refresh(note, mergeChanges: true)
        #expect(!context.hasChanges && context.undoManager?.canUndo == false)
        note.setValue("New", forKey: "title")
        context.rollback()
        #expect(!context.hasChanges)
        #expect(
            events.count == 3 && events.contains(.undoUpdate) && events.contains(.refresh) && events.contains(.rollback)
        )
    }

    @Test(
        "awakeFromInsert: called once, when the object is first inserted, also where undo takes it away and redo brings it back"
    )
    func insertAwakesOnce() {
        var count = 0
        hooks.onInsert = { _ in count += 1 }
        context.undoManager = UndoManager()
        context.make("Note")
        context.processPendingChanges()
        context.undo()
        context.redo()
        #expect(count == 1)
        #expect(context.insertedObjects.count == 1)
    }

    @Test("delete: an object that was never saved is simply removed from the context")
    func unsavedIsRemoved() throws {
        let note = context.make("Note", ["title": "Gone"])
        let identifier = note.objectID
        context.delete(note)
        context.processPendingChanges()
        #expect(!context.hasChanges && !note.hasChanges)
        #expect(context.insertedObjects.isEmpty && context.deletedObjects.isEmpty)
        #expect(context.registeredObject(for: identifier) == nil)
        #expect(note.managedObjectContext == nil && !note.isInserted && !note.isDeleted)
        #expect(try context.all("Note").count == 1)
    }

    // Source: About Objects' EbooksModel, and flapjack, which saves if a context has changes.
    @Test("delete: until changes are processed, an unsaved object is a new and a deleted one, and a change")
    func unsavedIsBothAtFirst() throws {
        let (note, other) = (context.make("Note"), context.make("Note"))
        context.delete(note)
        #expect(context.insertedObjects == [note, other] && context.deletedObjects == [note])
        #expect(context.updatedObjects.isEmpty && context.hasChanges)
        context.delete(other)
        #expect(context.hasChanges)
        context.processPendingChanges()
        #expect(context.insertedObjects.isEmpty && context.deletedObjects.isEmpty && !context.hasChanges)
    }

    @Test("delete: a save tells an object that was never saved of nothing")
    func unsavedIsNotTold() throws {
        let note = context.make("Note")
        context.processPendingChanges()
        context.delete(note)
        context.make("Folder")
        hooks.log = []
        try context.save()
        #expect(hooks.log.isEmpty)
    }

    @Test("delete: an unsaved object is asked to prepare, and leaves the relationships of others")
    func unsavedLeavesRelationships() throws {
        let folder = try #require(try context.all("Folder").first)
        let note = context.make("Note", ["folder": folder])
        hooks.log = []
        context.delete(note)
        #expect(hooks.log == ["prepareForDeletion"])
        context.processPendingChanges()
        #expect((folder.value(forKey: "notes") as? NSSet)?.count == 0)
        try context.save()
    }

    @Test("delete: an unsaved object takes along what its rules say, saved or not")
    func unsavedCascades() throws {
        let folder = context.make("Folder")
        let saved = try note()
        saved.setValue(folder, forKey: "draftsFolder")
        let new = context.make("Note", ["draftsFolder": folder])
        context.delete(folder)
        context.processPendingChanges()
        #expect(new.managedObjectContext == nil)
        #expect(saved.isDeleted)
        try context.save()
        #expect(try context.all("Note").isEmpty)
    }

    @Test("delete: thousands of unsaved objects that take each other along need no deep stack")
    func deepCascade() throws {
        let model = NSManagedObjectModel()
        let link = Library.entity("Link", [Library.attribute("n", .integer32AttributeType)])
        Library.connect(link, "next", toMany: false, deleteRule: .cascadeDeleteRule, link, "previous")
        model.entities = [link]
        let context = try Library.inMemory(model).viewContext
        var first: NSManagedObject?
        for number in 0..<20_000 { first = context.make("Link", ["n": number, "next": first]) }
        context.delete(try #require(first))
        context.processPendingChanges()
        #expect(!context.hasChanges && context.insertedObjects.isEmpty)
    }

    @Test("delete: twice is as good as once")
    func twice() {
        let note = context.make("Note")
        context.delete(note)
        context.delete(note)
        context.processPendingChanges()
        #expect(!context.hasChanges)
    }

    @Test("delete: undo brings an unsaved object back")
    func undoBringsBack() throws {
        let manager = UndoManager()
        manager.groupsByEvent = false
        context.undoManager = manager
        let folder = try #require(try context.all("Folder").first)
        manager.beginUndoGrouping()
        let note = context.make("Note", ["title": "T", "folder": folder])
        context.processPendingChanges()
        manager.endUndoGrouping()
        manager.beginUndoGrouping()
        context.delete(note)
        context.processPendingChanges()
        manager.endUndoGrouping()
        #expect((folder.value(forKey: "notes") as? NSSet)?.count == 0)
        context.undo()
        #expect(context.insertedObjects == [note])
        #expect(note.shown("title") == "T")
        #expect((folder.value(forKey: "notes") as? NSSet)?.count == 1)
    }

    @Test("delete: a child's unsaved object is removed, and the parent never hears of it")
    func unsavedOfAChild() throws {
        let child = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        child.parent = context
        let note = child.make("Note")
        child.delete(note)
        child.processPendingChanges()
        #expect(!child.hasChanges && child.registeredObject(for: note.objectID) == nil)
        hooks.log = []
        try child.save()
        #expect(!context.hasChanges && hooks.log.isEmpty)
    }

    @Test("delete: an object that only the parent knows is removed there when the child deletes it and saves")
    func unsavedOfTheParent() throws {
        let note = context.make("Note")
        let child = NSManagedObjectContext(concurrencyType: .mainQueueConcurrencyType)
        child.parent = context
        child.delete(child.object(with: note.objectID))
        try child.save()
        #expect(!context.hasChanges && note.managedObjectContext == nil)
    }

    @Test("delete: observers hear of it, also of an object of whose insertion they have not heard yet")
    func deletionIsTold() {
        let log = PostingLog(context)
        let told = context.make("Note")
        context.processPendingChanges()
        let untold = context.make("Note")
        context.delete(told)
        context.delete(untold)
        context.processPendingChanges()
        #expect(log.take() == ["changed inserted 1", "changed deleted 2"])
    }

    @Test("isDeleted: true between the deletion of a saved object and the save")
    func isDeleted() throws {
        let note = try note()
        #expect(!note.isDeleted)
        context.delete(note)
        #expect(note.isDeleted && note.hasChanges)
        try context.save()
        #expect(!note.isDeleted && note.managedObjectContext == nil)
    }

    @Test("willSave and didSave: called for inserted, updated and deleted objects")
    func saveHooks() throws {
        let note = try note()
        hooks.log = []
        note.setValue("B", forKey: "title")
        try context.save()
        #expect(hooks.log == ["willSave", "didSave"])
        hooks.log = []
        context.delete(note)
        try context.save()
        #expect(hooks.log == ["prepareForDeletion", "willSave", "didSave"])
    }
}
