import CoreData
import TestSupport
import Testing

@testable import PippinCommand

/// An app with a store that is synchronized and one that is not has both in one model; each keeps a copy of all of it.
@Suite("A store of one configuration of its model")
struct ConfigurationStoreTests {
    private let folder: TestFolder

    init() throws {
        folder = try TestFolder()
        let note = Self.entity("Note", "text"), tag = Self.entity("Tag", "name"), draft = Self.entity("Draft", "text")
        let tags = NSRelationshipDescription(), notes = NSRelationshipDescription()
        (tags.name, tags.destinationEntity, tags.inverseRelationship) = ("tags", tag, notes)
        (notes.name, notes.destinationEntity, notes.inverseRelationship) = ("notes", note, tags)
        note.properties.append(tags)
        tag.properties.append(notes)
        let model = NSManagedObjectModel()
        model.entities = [note, tag, draft]
        model.setEntities([note, tag], forConfigurationName: "Cloud")
        model.setEntities([draft], forConfigurationName: "Local")
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        for name in ["Cloud", "Local"] {
            try coordinator.addPersistentStore(
                ofType: NSSQLiteStoreType, configurationName: name, at: folder.file("\(name).sqlite"))
        }
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        try context.performAndWait {
            for (name, key) in [("Note", "text"), ("Tag", "name"), ("Draft", "text")] {
                NSEntityDescription.insertNewObject(forEntityName: name, into: context).setValue("ñ", forKey: key)
            }
            try context.save()
        }
        for store in coordinator.persistentStores { try coordinator.remove(store) }
    }

    private static func entity(_ name: String, _ key: String) -> NSEntityDescription {
        let (entity, attribute) = (NSEntityDescription(), NSAttributeDescription())
        (attribute.name, attribute.attributeType, attribute.isOptional) = (key, .stringAttributeType, true)
        (entity.name, entity.properties) = (name, [attribute])
        return entity
    }

    private var cloud: String { folder.file("Cloud.sqlite").path }

    @Test("is shown with its own entities, and nothing is wrong with it")
    func dump() throws {
        let dump = CommandRun("dump", cloud, "--json")
        #expect(dump.errors.isEmpty)
        let objects = try dump.objects()
        #expect(objects.keys.sorted() == ["Note", "Tag"])
        #expect(objects["Note"]?.first?["text"] as? String == "ñ")
        for name in ["Cloud", "Local"] {
            let check = CommandRun("check", folder.file("\(name).sqlite").path)
            #expect(check.output == "\(name).sqlite: nothing is wrong\n", "\(check.errors)")
            #expect(CommandRun("info", folder.file("\(name).sqlite").path).status == 0)
        }
        #expect(CommandRun("query", cloud, "Note", "--format", "csv").output.contains("ñ"))
    }

    @Test("takes objects of its entities, and is read with its model from a file, too")
    func writing() throws {
        let model = folder.file("Notes.xcdatamodel").path
        #expect(CommandRun("model", "extract", cloud, "--output", model).status == 0)
        #expect(CommandRun("query", cloud, "Note", "--format", "csv", "--model", model).output.contains("ñ"))
        let input = folder.file("notes.jsonl")
        try Data(#"{"text": "second"}"#.utf8).write(to: input)
        let run = CommandRun("import", cloud, "Note", input.path)
        #expect(run.status == 0, "\(run.errors)")
        #expect(
            try plainSQL("SELECT ZTEXT FROM ZNOTE ORDER BY Z_PK", in: folder.file("Cloud.sqlite")) == ["ñ", "second"])
    }

    /// Writes a version of the model with one attribute more.
    private func nextVersion() throws -> URL {
        let url = folder.file("Next.xcdatamodel")
        #expect(CommandRun("model", "extract", cloud, "--output", url.path).status == 0)
        let contents = url.appendingPathComponent("contents")
        let attribute = #"<attribute name="text" optional="YES" attributeType="String"/>"#
        let source = try String(contentsOf: contents, encoding: .utf8)
        let changed = source.replacing(
            attribute, with: attribute + #"<attribute name="pages" optional="YES" attributeType="Integer 32"/>"#)
        #expect(changed != source, "\(source)")
        try Data(changed.utf8).write(to: contents)
        return url
    }

    @Test("is migrated with its own entities, and keeps its configuration")
    func migration() throws {
        let next = try nextVersion()
        let run = CommandRun("migrate", cloud, "--to", next.path)
        #expect(run.status == 0, "\(run.errors)")
        let file = folder.file("Cloud.sqlite")
        #expect(try plainSQL("SELECT name FROM sqlite_master WHERE name = 'ZDRAFT'", in: file).isEmpty)
        #expect(try plainSQL("SELECT ZTEXT FROM ZNOTE WHERE ZPAGES IS NULL", in: file) == ["ñ"])
        let again = CommandRun("migrate", cloud, "--to", next.path)
        #expect(again.output.hasSuffix("fits the model already; there is nothing to do.\n"), "\(again.errors)")
        let coordinator = NSPersistentStoreCoordinator(
            managedObjectModel: try ModelPackage(at: next).model())
        try coordinator.addPersistentStore(ofType: NSSQLiteStoreType, configurationName: "Cloud", at: file)
    }

    @Test("shows a migration's plan without the entities of other configurations")
    func plan() throws {
        let next = folder.file("Other.xcdatamodel")
        #expect(CommandRun("model", "extract", cloud, "--output", next.path).status == 0)
        let contents = next.appendingPathComponent("contents")
        let source = try String(contentsOf: contents, encoding: .utf8)
        let attribute = #"<attribute name="text" optional="YES" attributeType="String"/>"#
        // Both the note, which the store holds, and the draft, which it does not, get pages.
        let more = attribute + #"<attribute name="pages" optional="YES" attributeType="Integer 32"/>"#
        try Data(source.replacing(attribute, with: more).utf8).write(to: contents)
        let run = CommandRun("migrate", cloud, "--to", next.path, "--dry-run")
        #expect(run.output.contains("~ entity Note\n    + attribute pages\n"), "\(run.output)\(run.errors)")
        #expect(!run.output.contains("Draft"))
    }

    @Test("is copied as it is")
    func copy() throws {
        let copy = folder.file("copy.sqlite")
        let run = CommandRun("copy", cloud, copy.path)
        #expect(run.status == 0, "\(run.errors)")
        #expect(try CommandRun("dump", copy.path, "--json").objects().keys.sorted() == ["Note", "Tag"])
    }

    @Test("is refused where an entity without a version hash has a table, whose rows would not be shown")
    func strayTable() throws {
        try execute(
            "CREATE TABLE ZDRAFT (Z_PK INTEGER PRIMARY KEY, Z_ENT, Z_OPT, ZTEXT)", in: folder.file("Cloud.sqlite"))
        let run = CommandRun("dump", cloud)
        #expect(run.status == 1)
        #expect(run.errors.contains("they differ in entity Draft"))
    }
}
