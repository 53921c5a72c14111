import CoreData

/// The model of the checks that are written from Apple's documentation: folders with notes, notes with marks.
enum Notebook {
    static func model() -> NSManagedObjectModel {
        let folder = Library.entity(
            "Folder",
            [Library.attribute("name", .stringAttributeType), Library.attribute("size", .integer16AttributeType)])
        let note = Library.entity(
            "Note",
            [
                Library.attribute("title", .stringAttributeType),
                Library.attribute("Date", .dateAttributeType),
                Library.attribute("isDone", .booleanAttributeType),
                Library.attribute("stars", .integer16AttributeType),
                Library.attribute("pages", .integer32AttributeType),
                Library.attribute("bytes", .integer64AttributeType),
                Library.attribute("weight", .doubleAttributeType),
                Library.attribute("ratio", .floatAttributeType),
                Library.attribute("price", .decimalAttributeType),
                Library.attribute("cache", .stringAttributeType, transient: true),
            ])
        note.managedObjectClassName = NSStringFromClass(HookedNote.self)
        let mark = Library.entity("Mark", [Library.attribute("color", .stringAttributeType)])
        Library.connect(folder, "notes", toMany: true, note, "folder")
        Library.connect(folder, "drafts", toMany: true, deleteRule: .cascadeDeleteRule, note, "draftsFolder")
        Library.connect(note, "marks", toMany: true, mark, "notes", inverseToMany: true)
        let good = NSFetchedPropertyDescription()
        good.name = "goodNotes"
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.entity = note
        request.predicate = NSPredicate(format: "folder == $FETCH_SOURCE AND stars >= 4")
        good.fetchRequest = request
        folder.properties = folder.properties + [good]
        let model = NSManagedObjectModel()
        model.entities = [folder, note, mark]
        return model
    }

    static func inMemory() throws -> NSPersistentContainer { try Library.inMemory(model()) }

    /// A folder in a file of its own, which is removed when this goes.
    final class File {
        let directory = FileManager.default.temporaryDirectory.appendingPathComponent("notebook-\(UUID().uuidString)")
        var url: URL { directory.appendingPathComponent("Notebook.sqlite") }

        init() throws { try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true) }
        deinit { try? FileManager.default.removeItem(at: directory) }

        func container(readOnly: Bool = false) throws -> NSPersistentContainer {
            let description = NSPersistentStoreDescription(url: url)
            description.isReadOnly = readOnly
            return try Library.container(Notebook.model(), description)
        }
    }
}

/// Runs code when an object is told of something.
final class HookedNote: NSManagedObject {
    // Tests of the suites that set these run one at a time, on the main thread.
    nonisolated(unsafe) static var onFetch: ((HookedNote) -> Void)?
    nonisolated(unsafe) static var onSnapshot: ((HookedNote, NSSnapshotEventType) -> Void)?
    nonisolated(unsafe) static var onInsert: ((HookedNote) -> Void)?
    nonisolated(unsafe) static var log: [String] = []

    static func forgetHooks() {
        onFetch = nil
        onSnapshot = nil
        onInsert = nil
        log = []
    }

    override func awakeFromFetch() {
        super.awakeFromFetch()
        Self.onFetch?(self)
    }

    override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
        super.awake(fromSnapshotEvents: flags)
        Self.onSnapshot?(self, flags)
    }

    override func awakeFromInsert() {
        super.awakeFromInsert()
        Self.onInsert?(self)
    }

    override func willSave() {
        super.willSave()
        Self.log.append("willSave")
    }

    override func didSave() {
        super.didSave()
        Self.log.append("didSave")
    }

    override func prepareForDeletion() {
        super.prepareForDeletion()
        Self.log.append("prepareForDeletion")
    }
}

extension NSManagedObject {
    /// The value of a key, as a text that shows whether there is one.
    func shown(_ key: String) -> String { value(forKey: key).map { "\($0)" } ?? "nil" }
}
