import CoreData
import TestSupport
import Testing

@Suite("An object that comes back in a store that is read and written as a whole")
struct ReturnedNodeTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func container(_ type: String) throws -> NSPersistentContainer {
        NSPersistentStoreCoordinator.registerStoreClass(ListStore.self, forStoreType: ListStore.type.rawValue)
        let model = NSManagedObjectModel()
        model.entities = [
            Library.entity(
                "Note",
                [Library.attribute("name", .stringAttributeType), Library.attribute("n", .integer16AttributeType)])
        ]
        let description = NSPersistentStoreDescription(url: folder.file("notes"))
        description.type = type
        let container = try Library.container(model, description)
        let context = container.newBackgroundContext()
        try context.performAndWait {
            context.make("Note", ["name": "a"])
            try context.save()
        }
        return container
    }

    private func change(_ name: String, in context: NSManagedObjectContext) throws {
        try context.performAndWait {
            try #require(try context.all("Note").first).setValue(name, forKey: "name")
            try context.save()
        }
    }

    private func names(_ container: NSPersistentContainer) throws -> [String?] {
        let fresh = container.newBackgroundContext()
        return try fresh.performAndWait { try fresh.all("Note").map { $0.string("name") } }
    }

    private static let types = [NSXMLStoreType, NSBinaryStoreType, ListStore.type.rawValue]

    @Test("can be changed again, here and elsewhere, if undo brought it back", arguments: types)
    func undone(type: String) throws {
        let container = try container(type)
        let context = container.newBackgroundContext()
        context.undoManager = UndoManager()
        try context.performAndWait {
            context.delete(try #require(try context.all("Note").first))
            try context.save()
        }
        try context.performAndWait {
            context.undo()
            try context.save()
        }
        try change("b", in: context)
        #expect(try names(container) == ["b"])
        try change("c", in: container.newBackgroundContext())
        #expect(try names(container) == ["c"])
    }

    @Test(
        "can be changed again if a merge policy brought it back; who knew the former one has a conflict",
        arguments: types)
    func byPolicy(type: String) throws {
        let container = try container(type)
        let (mine, theirs) = (container.newBackgroundContext(), container.newBackgroundContext())
        let known = try theirs.performAndWait { try #require(try theirs.all("Note").first) }
        theirs.performAndWait { #expect(known.string("name") == "a") }
        mine.mergePolicy = NSMergePolicy.overwrite
        try mine.performAndWait {
            let note = try #require(try mine.all("Note").first)
            note.setValue("mine", forKey: "name")
            let other = container.newBackgroundContext()
            try other.performAndWait {
                for note in try other.all("Note") { other.delete(note) }
                try other.save()
            }
            try mine.save()
            mine.mergePolicy = NSMergePolicy.error
            note.setValue("newer", forKey: "name")
            try mine.save()
        }
        theirs.performAndWait {
            known.setValue(1, forKey: "n")
            let error = #expect(throws: NSError.self) { try theirs.save() }
            #expect(error?.code == NSManagedObjectMergeError)
        }
        #expect(try names(container) == ["newer"])
    }
}
