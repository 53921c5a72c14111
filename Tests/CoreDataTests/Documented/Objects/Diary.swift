import CoreData

/// The model of the checks on what an object is told, and what of it is refused: diaries of entries that write down
/// every call.
enum Diary {
    static func model() -> NSManagedObjectModel {
        let diary = Library.entity("Diary", [Library.attribute("name", .stringAttributeType)])
        let text = Library.attribute("text", .stringAttributeType)
        text.setValidationPredicates(
            [NSPredicate(format: "length >= 2"), NSPredicate(format: "length <= 10")],
            withValidationWarnings: ["too short", "too long"])
        let entry = Library.entity(
            "Entry",
            [
                text, Library.attribute("mood", .integer16AttributeType),
                Library.attribute("summary", .stringAttributeType, transient: true),
            ])
        entry.managedObjectClassName = NSStringFromClass(LoggedEntry.self)
        let word = Library.entity("Word", [Library.attribute("text", .stringAttributeType)])
        Library.connect(diary, "entries", toMany: true, deleteRule: .denyDeleteRule, entry, "diary")
        Library.connect(entry, "words", toMany: true, ordered: true, word, "entry")
        let model = NSManagedObjectModel()
        model.entities = [diary, entry, word]
        return model
    }
}

/// An object that writes down what Core Data calls, and can be told what to do meanwhile.
final class LoggedEntry: NSManagedObject {
    var log: [String] = []
    var onWillSave: ((LoggedEntry) -> Void)?
    var onDeletion: ((LoggedEntry) -> Void)?
    var onDidSave: ((LoggedEntry) -> Void)?

    /// What was called since the last time.
    func take() -> [String] {
        defer { log = [] }
        return log
    }

    /// A custom accessor as the guide writes them.
    var text: String? {
        get {
            willAccessValue(forKey: "text")
            defer { didAccessValue(forKey: "text") }
            return primitiveValue(forKey: "text") as? String
        }
        set {
            willChangeValue(forKey: "text")
            setPrimitiveValue(newValue, forKey: "text")
            didChangeValue(forKey: "text")
        }
    }

    override func awakeFromInsert() {
        super.awakeFromInsert()
        log.append("awakeFromInsert")
    }

    override func awakeFromFetch() {
        super.awakeFromFetch()
        log.append("awakeFromFetch")
    }

    override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
        super.awake(fromSnapshotEvents: flags)
        log.append("snapshot \(flags.rawValue)")
    }

    override func willTurnIntoFault() {
        super.willTurnIntoFault()
        log.append("willTurnIntoFault \(isFault)")
    }

    override func didTurnIntoFault() {
        super.didTurnIntoFault()
        log.append("didTurnIntoFault \(isFault)")
    }

    override func prepareForDeletion() {
        super.prepareForDeletion()
        onDeletion?(self)
        log.append("prepareForDeletion")
    }

    override func willSave() {
        super.willSave()
        log.append(isDeleted ? "willSave deleted" : "willSave")
        onWillSave?(self)
    }

    override func didSave() {
        super.didSave()
        log.append("didSave")
        onDidSave?(self)
    }

    override func validateForInsert() throws {
        log.append("validateForInsert")
        try super.validateForInsert()
    }

    override func validateForUpdate() throws {
        log.append("validateForUpdate")
        try super.validateForUpdate()
    }

    override func validateForDelete() throws {
        log.append("validateForDelete")
        try super.validateForDelete()
    }

    override func value(forUndefinedKey key: String) -> Any? {
        key == "shout" ? text?.uppercased() : super.value(forUndefinedKey: key)
    }

    override func setValue(_ value: Any?, forUndefinedKey key: String) {
        guard key == "shout" else { return super.setValue(value, forUndefinedKey: key) }
        text = (value as? String)?.lowercased()
    }

    override class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> {
        key == "shout" ? ["text"] : super.keyPathsForValuesAffectingValue(forKey: key)
    }
}
