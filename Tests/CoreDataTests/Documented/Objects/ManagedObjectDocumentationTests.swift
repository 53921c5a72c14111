import CoreData
import Testing

/// Checks from the page of `NSManagedObject`: making objects, their state, and their values.
@MainActor @Suite("Documented: managed objects")
struct ManagedObjectDocumentationTests {
    private let container: NSPersistentContainer
    private var context: NSManagedObjectContext { container.viewContext }
    private let entry: LoggedEntry

    init() throws {
        container = try Library.inMemory(Diary.model())
        entry = LoggedEntry(context: container.viewContext)
        entry.text = "First"
        try container.viewContext.save()
        entry.log = []
    }

    private func description(_ name: String) throws -> NSEntityDescription {
        try #require(container.managedObjectModel.entitiesByName[name])
    }

    // MARK: Making

    @Test("init(entity:insertInto:): inserts into the context, which has awakeFromInsert called; nil does neither")
    func making() throws {
        let inserted = LoggedEntry(entity: try description("Entry"), insertInto: context)
        #expect(inserted.isInserted && context.insertedObjects == [inserted] && inserted.log == ["awakeFromInsert"])
        let loose = LoggedEntry(entity: try description("Entry"), insertInto: nil)
        #expect(loose.managedObjectContext == nil && !loose.isInserted && loose.log.isEmpty)
        context.insert(loose)
        #expect(loose.managedObjectContext === context && loose.isInserted && loose.log == ["awakeFromInsert"])
    }

    @Test("init(context:): makes an object of the subclass's entity, and inserts it")
    func makingByClass() {
        let entry = LoggedEntry(context: context)
        #expect(entry.entity.name == "Entry" && entry.isInserted && entry.managedObjectContext === context)
    }

    @Test("A class that is known at run time only makes objects as well: init(materializedIn:), which is not Apple's")
    func makingByMetatype() {
        let type: NSManagedObject.Type = LoggedEntry.self
        #expect(type.init(materializedIn: context).entity.name == "Entry")
    }

    @Test("contextShouldIgnoreUnmodeledPropertyChanges: true, unless a subclass says otherwise")
    func unmodeledProperties() {
        #expect(NSManagedObject.contextShouldIgnoreUnmodeledPropertyChanges)
        entry.onWillSave = nil
        #expect(!entry.hasChanges)
    }

    @Test("objectID: temporary until the first save, permanent and another one after it")
    func objectID() throws {
        let new = LoggedEntry(context: context)
        let temporary = new.objectID
        try context.save()
        #expect(temporary.isTemporaryID && !new.objectID.isTemporaryID && new.objectID != temporary)
    }

    // MARK: State

    @Test("entity, objectID, managedObjectContext, isInserted, isUpdated, isDeleted, isFault: asking fires no fault")
    func askingFiresNothing() {
        context.refresh(entry, mergeChanges: false)
        _ = (entry.entity, entry.objectID, entry.managedObjectContext)
        #expect(!entry.isInserted && !entry.isUpdated && !entry.isDeleted && !entry.hasChanges)
        #expect(entry.isFault && entry.hasFault(forRelationshipNamed: "words"))
    }

    @Test("isInserted, isUpdated and isDeleted show changes since the last save; hasChanges any of them")
    func changes() throws {
        let new = LoggedEntry(context: context)
        #expect(new.isInserted && !new.isUpdated && !new.isDeleted && new.hasChanges)
        try context.save()
        new.text = "Second"
        #expect(!new.isInserted && new.isUpdated && !new.isDeleted && new.hasChanges)
        context.delete(new)
        context.processPendingChanges()
        #expect(!new.isInserted && new.isDeleted && new.hasChanges)
        try context.save()
        #expect(!new.hasChanges)
    }

    @Test("hasPersistentChangedValues: no when a value was set back to what is saved, while hasChanges stays")
    func persistentChanges() {
        entry.text = "Other"
        #expect(entry.hasPersistentChangedValues)
        entry.text = "First"
        #expect(!entry.hasPersistentChangedValues && entry.hasChanges)
    }

    @Test("hasPersistentChangedValues: transient properties do not count; for hasChanges they do")
    func transientChanges() {
        entry.setValue("short", forKey: "summary")
        #expect(!entry.hasPersistentChangedValues && entry.hasChanges && entry.changedValues().isEmpty)
    }

    @Test("entity() and fetchRequest() of a class: the entity that names it, and a request for all of its objects")
    func ofTheClass() throws {
        #expect(LoggedEntry.entity().name == "Entry")
        let request = LoggedEntry.fetchRequest()
        #expect(request.entityName == "Entry" && request.predicate == nil)
    }

    // MARK: Values

    @Test("A custom accessor: will and did access around the primitive value; reading fires a fault")
    func customGetter() {
        context.refresh(entry, mergeChanges: false)
        #expect(entry.primitiveValue(forKey: "text") == nil && entry.isFault)
        #expect(entry.text == "First" && !entry.isFault)
    }

    @Test("willAccessValue(forKey:): nil for a key makes sure that the fault is fired")
    func accessingAnything() {
        context.refresh(entry, mergeChanges: false)
        entry.willAccessValue(forKey: nil)
        entry.didAccessValue(forKey: nil)
        #expect(!entry.isFault)
    }

    @Test("A custom accessor: will and did change around the primitive value make it a change, which undo takes back")
    func customSetter() throws {
        let manager = UndoManager()
        context.undoManager = manager
        entry.text = "New"
        #expect(entry.isUpdated && entry.changedValues()["text"] as? String == "New")
        context.processPendingChanges()
        context.undo()
        #expect(entry.text == "First")
        context.redo()
        try context.save()
        context.refresh(entry, mergeChanges: false)
        #expect(entry.text == "New")
    }

    @Test(
        "will and did change with a set mutation: a custom accessor of a to-many relationship", arguments: [1, 2, 3, 4])
    func setMutation(kind: UInt) throws {
        let diary = context.make("Diary", ["name": "D"])
        let (old, other) = (LoggedEntry(context: context), LoggedEntry(context: context))
        diary.setValue([old] as Set, forKey: "entries")
        try context.save()
        let mutation = try #require(NSKeyValueSetMutationKind(rawValue: kind))
        let objects: Set<NSManagedObject> = mutation == .minus ? [old] : mutation == .intersect ? [] : [other]
        let members = NSMutableSet(set: diary.primitiveValue(forKey: "entries") as? Set<NSManagedObject> ?? [])
        diary.willChangeValue(forKey: "entries", withSetMutation: mutation, using: objects)
        switch mutation {
        case .union: members.union(objects)
        case .minus: members.minus(objects)
        case .intersect: members.intersect(objects)
        case .set: members.setSet(objects)
        @unknown default: break
        }
        diary.setPrimitiveValue(members, forKey: "entries")
        diary.didChangeValue(forKey: "entries", withSetMutation: mutation, using: objects)
        let wanted: Set<NSManagedObject> = [[], [old, other], [], [], [other]][Int(kind)]
        #expect(diary.objects("entries") == wanted && diary.isUpdated)
    }

    @Test("setValue(_:forKey:) of a relationship: the new destinations are related, those that there were no longer")
    func settingRelationships() {
        let (one, other) = (context.make("Diary"), context.make("Diary"))
        entry.setValue(one, forKey: "diary")
        #expect(one.objects("entries") == [entry])
        entry.setValue(other, forKey: "diary")
        #expect(one.objects("entries").isEmpty && other.objects("entries") == [entry])
        let new = LoggedEntry(context: context)
        other.setValue([new] as Set, forKey: "entries")
        #expect(entry.value(forKey: "diary") == nil && new.value(forKey: "diary") as? NSManagedObject === other)
    }

    @Test(
        "mutableSetValue(forKey:) and mutableOrderedSetValue(forKey:): what is done to them is done to the relationship"
    )
    func proxies() {
        let diary = context.make("Diary")
        diary.mutableSetValue(forKey: "entries").add(entry)
        #expect(entry.value(forKey: "diary") as? NSManagedObject === diary)
        let (a, b) = (context.make("Word", ["text": "a"]), context.make("Word", ["text": "b"]))
        let words = entry.mutableOrderedSetValue(forKey: "words")
        words.add(b)
        words.insert(a, at: 0)
        #expect(entry.value(forKey: "words") as? NSOrderedSet == NSOrderedSet(array: [a, b]))
        #expect(a.value(forKey: "entry") as? NSManagedObject === entry && entry.hasChanges)
        diary.mutableSetValue(forKey: "entries").remove(entry)
        #expect(entry.value(forKey: "diary") == nil)
        let note = context.make("Word", ["entry": entry])
        note.mutableOrderedSetValue(forKeyPath: "entry.words").remove(a)
        #expect(a.value(forKey: "entry") == nil)
    }

    @Test("value(forUndefinedKey:) and setValue(_:forUndefinedKey:) get the keys that no property has")
    func undefinedKeys() {
        #expect(entry.value(forKey: "shout") as? String == "FIRST")
        entry.setValue("LOUD", forKey: "shout")
        #expect(entry.text == "loud")
    }

    @Test("keyPathsForValuesAffectingValue(forKey:): none, unless a subclass names some")
    func affectingKeyPaths() {
        #expect(NSManagedObject.keyPathsForValuesAffectingValue(forKey: "text").isEmpty)
        #expect(LoggedEntry.keyPathsForValuesAffectingValue(forKey: "shout") == ["text"])
    }

    @Test("Nothing is missing where no value is kept in a file: missingExternalData, which is not Apple's")
    func nothingMissing() {
        #expect(entry.missingExternalData.isEmpty)
    }
}
