import CoreData
import TestSupport

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
        let folder: TestFolder
        var url: URL { folder.file("Notebook.sqlite") }

        init() throws { folder = try TestFolder() }

        func container(readOnly: Bool = false) throws -> NSPersistentContainer {
            let description = NSPersistentStoreDescription(url: url)
            description.isReadOnly = readOnly
            return try Library.container(Notebook.model(), description)
        }
    }
}

/// Runs code when an object of a context is told of something.
final class Hooks {
    var onFetch: ((HookedNote) -> Void)?
    var onSnapshot: ((HookedNote, NSSnapshotEventType) -> Void)?
    var onInsert: ((HookedNote) -> Void)?
    var log: [String] = []

    /// The hooks of a context, which are kept in its user info.
    static func of(_ context: NSManagedObjectContext?) -> Hooks {
        guard let context else { return Hooks() }
        if let known = context.userInfo["hooks"] as? Hooks { return known }
        let new = Hooks()
        context.userInfo["hooks"] = new
        return new
    }
}

final class HookedNote: NSManagedObject {
    private var hooks: Hooks { Hooks.of(managedObjectContext) }

    override func awakeFromFetch() {
        super.awakeFromFetch()
        hooks.onFetch?(self)
    }

    override func awake(fromSnapshotEvents flags: NSSnapshotEventType) {
        super.awake(fromSnapshotEvents: flags)
        hooks.onSnapshot?(self, flags)
    }

    override func awakeFromInsert() {
        super.awakeFromInsert()
        hooks.onInsert?(self)
    }

    override func willSave() {
        super.willSave()
        hooks.log.append("willSave")
    }

    override func didSave() {
        super.didSave()
        hooks.log.append("didSave")
    }

    override func prepareForDeletion() {
        super.prepareForDeletion()
        hooks.log.append("prepareForDeletion")
    }
}

extension NSManagedObject {
    /// The value of a key, as a text that shows whether there is one.
    func shown(_ key: String) -> String { value(forKey: key).map { "\($0)" } ?? "nil" }
}
