import CoreData
import Testing

/// Checks from the page of `NSManagedObject`: what subclasses are told, and what they may refuse.
@MainActor @Suite("Documented: what managed objects are told")
struct ObjectEventDocumentationTests {
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

    // MARK: Faults

    @Test("willTurnIntoFault is called before the object becomes a fault, didTurnIntoFault afterwards")
    func turningIntoAFault() {
        context.refresh(entry, mergeChanges: false)
        #expect(entry.take() == ["willTurnIntoFault false", "didTurnIntoFault true"])
        context.refresh(entry, mergeChanges: false)
        #expect(entry.take().isEmpty)
    }

    @Test("Both are called before a refresh that merges, of an object without changes (a test of Crush)")
    func refreshedByMerging() {
        func told() -> [Substring] { entry.take().compactMap { $0.split(separator: " ").first } }
        context.refresh(entry, mergeChanges: true)
        #expect(told().starts(with: ["willTurnIntoFault", "didTurnIntoFault"]))
        #expect(entry.text == "First")
        entry.text = "Other"
        _ = entry.take()
        context.refresh(entry, mergeChanges: true)
        #expect(!told().contains("willTurnIntoFault"))
        #expect(entry.text == "Other")
    }

    @Test("awakeFromFetch is called each time that the object takes its values; awakeFromInsert never again")
    func awakening() {
        for _ in 1...2 {
            context.refresh(entry, mergeChanges: false)
            entry.log = []
            _ = entry.text
            #expect(entry.take() == ["awakeFromFetch"])
        }
    }

    @Test("awake(fromSnapshotEvents:): each event has its flag")
    func snapshotFlags() throws {
        context.undoManager = UndoManager()
        entry.text = "Other"
        context.processPendingChanges()
        context.undo()
        #expect(entry.take() == ["snapshot \(NSSnapshotEventType.undoUpdate.rawValue)"])
        context.delete(entry)
        context.processPendingChanges()
        entry.log = []
        context.undo()
        #expect(entry.take() == ["snapshot \(NSSnapshotEventType.undoDeletion.rawValue)"])
        let new = LoggedEntry(context: context)
        context.processPendingChanges()
        new.log = []
        context.undo()
        #expect(new.take() == ["snapshot \(NSSnapshotEventType.undoInsertion.rawValue)"])
        let flags: NSSnapshotEventType = [
            .undoInsertion, .undoDeletion, .undoUpdate, .rollback, .refresh, .mergePolicy,
        ]
        #expect(flags.rawValue == 2 + 4 + 8 + 16 + 32 + 64)
    }

    @Test("awake(fromSnapshotEvents:) reports what a merge policy changed")
    func snapshotOfAMergePolicy() throws {
        let other = container.newBackgroundContext()
        try other.performAndWait {
            other.object(with: entry.objectID).setValue("Theirs", forKey: "text")
            try other.save()
        }
        context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        entry.text = "Mine"
        entry.log = []
        try context.save()
        #expect(entry.text == "Theirs" && entry.log.contains("snapshot \(NSSnapshotEventType.mergePolicy.rawValue)"))
    }

    // MARK: Saving and deleting

    @Test("The order of a save: willSave, validation, didSave")
    func order() throws {
        let new = LoggedEntry(context: context)
        entry.text = "Other"
        try context.save()
        #expect(new.take() == ["awakeFromInsert", "willSave", "validateForInsert", "didSave"])
        #expect(entry.take() == ["willSave", "validateForUpdate", "didSave"])
        context.delete(entry)
        try context.save()
        #expect(entry.take() == ["prepareForDeletion", "willSave deleted", "validateForDelete", "didSave"])
    }

    @Test(
        "willSave: a change by an ordinary setter has it called again, one of a primitive value does not; both are saved"
    )
    func changingInWillSave() throws {
        entry.onWillSave = { if $0.text != "Final" { $0.text = "Final" } }
        entry.setValue(1, forKey: "mood")
        try context.save()
        #expect(entry.take() == ["willSave", "willSave", "validateForUpdate", "didSave"])
        entry.onWillSave = { $0.setPrimitiveValue("Primitive".prefix(9).description, forKey: "text") }
        entry.setValue(2, forKey: "mood")
        try context.save()
        #expect(entry.take() == ["willSave", "validateForUpdate", "didSave"])
        context.refresh(entry, mergeChanges: false)
        #expect(entry.text == "Primitive" && !context.hasChanges)
    }

    @Test(
        "didSave: what an ordinary setter changes there changes the context, to be saved; a transient value does not"
    )
    func changingInDidSave() throws {
        entry.onDidSave = { $0.setValue("short", forKey: "summary") }
        entry.setValue(1, forKey: "mood")
        try context.save()
        #expect(entry.shown("summary") == "short" && !entry.hasPersistentChangedValues)
        entry.onDidSave = { $0.setValue(9, forKey: "mood") }
        entry.setValue(2, forKey: "mood")
        try context.save()
        #expect(context.hasChanges && entry.changedValues()["mood"] as? Int == 9)
    }

    @Test("A deleted object hears of the save as well, and knows meanwhile that it is deleted")
    func savingADeletion() throws {
        context.delete(entry)
        entry.log = []
        try context.save()
        #expect(entry.log.contains("willSave deleted") && entry.log.last == "didSave")
        #expect(entry.managedObjectContext == nil)
    }

    @Test("prepareForDeletion: relationships are still there")
    func preparing() {
        let diary = context.make("Diary")
        entry.setValue(diary, forKey: "diary")
        var seen: NSManagedObject?
        entry.onDeletion = { seen = $0.value(forKey: "diary") as? NSManagedObject }
        context.delete(entry)
        context.processPendingChanges()
        #expect(seen === diary && entry.log.contains("prepareForDeletion"))
    }

    // MARK: Validation

    @Test("validateValue(_:forKey:): the rules of the property, with object, key, value and predicate in the error")
    func validatingAValue() {
        var value: AnyObject? = "A" as NSString
        let error = #expect(throws: NSError.self) { try entry.validateValue(&value, forKey: "text") }
        #expect(error?.code == NSManagedObjectValidationError && error?.domain == NSCocoaErrorDomain)
        #expect(error?.localizedDescription == "too short")
        #expect(error?.userInfo[NSValidationObjectErrorKey] as? NSManagedObject === entry)
        #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "text")
        #expect(error?.userInfo[NSValidationValueErrorKey] as? String == "A")
        #expect(error?.userInfo[NSValidationPredicateErrorKey] as? NSPredicate == NSPredicate(format: "length >= 2"))
        value = "Long enough, and more" as NSString
        let long = #expect(throws: CocoaError.self) { try entry.validateValue(&value, forKey: "text") }
        #expect(long?.localizedDescription == "too long")
        value = "Just right" as NSString
        #expect(throws: Never.self) { try entry.validateValue(&value, forKey: "text") }
    }

    @Test("validateForInsert and validateForUpdate: check the object by the model, without a save")
    func validating() {
        let new = LoggedEntry(context: context)
        #expect(throws: Never.self) { try new.validateForInsert() }
        new.text = "A"
        #expect(throws: NSError.self) { try new.validateForInsert() }
        entry.text = "A"
        #expect(throws: NSError.self) { try entry.validateForUpdate() }
        #expect(entry.isUpdated && new.isInserted)
    }

    @Test(
        "validateForDelete: a relationship of the rule deny with destinations: NSValidationRelationshipDeniedDeleteError"
    )
    func denying() throws {
        let diary = context.make("Diary")
        entry.setValue(diary, forKey: "diary")
        try context.save()
        let error = #expect(throws: NSError.self) { try diary.validateForDelete() }
        #expect(error?.code == NSValidationRelationshipDeniedDeleteError)
        #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "entries")
        #expect(error?.userInfo[NSValidationValueErrorKey] as? NSSet == NSSet(object: entry))
        context.delete(diary)
        #expect(throws: NSError.self) { try context.save() }
        context.delete(entry)
        try context.save()
        #expect(try context.all("Diary").isEmpty)
    }

    @Test("Validators by key: those that customValidationKeys names are asked before a save, which is not Apple's")
    func customKeys() {
        #expect(NSManagedObject.customValidationKeys.isEmpty && LoggedEntry.customValidationKeys.isEmpty)
    }
}
