@_spi(GeneratedCode) import CoreData
import Testing

private enum Keys {
    static let added = ManagedPropertyKey("added")
    static let title = ManagedPropertyKey("title")
    static let note = ManagedPropertyKey("note")
    static let folder = ManagedPropertyKey("folder")
    static let notes = ManagedPropertyKey("notes")
    static let link = ManagedPropertyKey("link")
}

/// Properties without `?`, and Foundation's classes instead of Swift's types, as many programs declare them.
private class LooseNote: NSManagedObject {
    var added: NSDate {
        get { managedValue(Keys.added) }
        set { setManagedValue(newValue, Keys.added) }
    }
    var title: NSString {
        get { managedValue(Keys.title) }
        set { setManagedValue(newValue, Keys.title) }
    }
    var link: NSURL {
        get { managedValue(Keys.link) }
        set { setManagedValue(newValue, Keys.link) }
    }
    var folder: LooseFolder {
        get { managedValue(Keys.folder) }
        set { setManagedValue(newValue, Keys.folder) }
    }
}

private class LooseFolder: NSManagedObject {
    var title: String {
        get { managedValue(Keys.title) }
        set { setManagedValue(newValue, Keys.title) }
    }
    var note: LooseNote {
        get { managedValue(Keys.note) }
        set { setManagedValue(newValue, Keys.note) }
    }
    var notes: Set<LooseNote> {
        get { managedValue(Keys.notes) }
        set { setManagedValue(newValue, Keys.notes) }
    }
}

// As in AppSuiteRulesTests. With the Objective-C runtime such a property is a reference to nil, and nothing stops.
@MainActor @Suite("Properties that are declared without “?” and have no value (Stream Chat)")
struct SaidWithoutOptionalsTests {
    private let context: NSManagedObjectContext

    init() throws {
        let model = NSManagedObjectModel()
        let folder = Library.entity("Folder", [Library.attribute("title", .stringAttributeType)])
        let note = Library.entity(
            "Note",
            [
                Library.attribute("added", .dateAttributeType), Library.attribute("title", .stringAttributeType),
                Library.attribute("link", .URIAttributeType),
            ])
        Library.connect(folder, "notes", toMany: true, note, "folder")
        folder.managedObjectClassName = String(reflecting: LooseFolder.self)
        note.managedObjectClassName = String(reflecting: LooseNote.self)
        model.entities = [folder, note]
        context = try Library.inMemory(model).viewContext
    }

    private func makeNote() -> LooseNote { LooseNote(context: context) }

    @Test("Key paths of properties of Foundation's classes have names")
    func namesOfKeyPaths() {
        #expect(KeyPathProbe.keyPathName(\LooseNote.added) == "added")
        #expect(KeyPathProbe.keyPathName(\LooseNote.title) == "title")
        #expect(KeyPathProbe.keyPathName(\LooseNote.link) == "link")
        #expect(KeyPathProbe.keyPathName(\LooseNote.folder.title) == "folder.title")
        #expect(NSSortDescriptor(keyPath: \LooseNote.added, ascending: true).key == "added")
    }

    @Test("No value is zero or nothing for a property of one of Foundation's classes")
    func noValue() {
        let note = makeNote()
        #expect(note.added.timeIntervalSince1970 == 0)
        #expect(note.title.length == 0)
        #expect(note.value(forKey: "added") == nil)
    }

    @Test("A missing object appears as one that has nothing and ignores what it is told")
    func noObject() {
        let note = makeNote()
        let folder = note.folder
        #expect(!folder.isDeleted && !folder.hasChanges && folder.managedObjectContext == nil)
        #expect(folder.title == "" && folder.notes.isEmpty)
        #expect(folder === makeNote().folder)
        folder.title = "A"
        folder.managedAdd(note, for: Keys.notes)
        #expect(folder.title == "" && folder.notes.isEmpty)
        #expect(note.value(forKey: "folder") == nil)
    }

    @Test("No object leads to no further ones")
    func beyondNoObject() {
        #expect(makeNote().folder.note.folder.title == "")
    }

    @Test("The stand-in for a missing object sets nil")
    func setNoObject() throws {
        let (empty, filed) = (makeNote(), makeNote())
        let folder = LooseFolder(context: context)
        filed.folder = folder
        #expect(folder.notes == [filed])
        filed.folder = empty.folder
        #expect(folder.notes.isEmpty)
        #expect(filed.value(forKey: "folder") == nil)
        try context.save()
        #expect(try context.all("Note").count == 2)
    }
}
