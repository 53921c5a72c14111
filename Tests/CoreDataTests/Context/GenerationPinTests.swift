import CoreData
import TestSupport
import Testing

@Suite("Contexts pinned to a query generation")
struct GenerationPinTests {
    let folder: TestFolder
    let container: NSPersistentContainer
    let pinned: NSManagedObjectContext
    let writer: NSManagedObjectContext

    init() throws {
        folder = try TestFolder()
        container = try Library.stored(at: folder.file("library.sqlite"))
        pinned = container.newBackgroundContext()
        writer = container.newBackgroundContext()
        try write("A")
    }

    private func write(_ name: String) throws {
        try writer.performAndWait {
            writer.make("Author", ["name": name])
            try writer.save()
        }
    }

    private func names() throws -> [String?] {
        try pinned.performAndWait { try pinned.all("Author", by: "name").map { $0.string("name") } }
    }

    @Test("current pins a context at its next read; what others save is not seen until it is unpinned")
    func current() throws {
        #expect(pinned.queryGenerationToken == nil)
        try pinned.setQueryGenerationFrom(.current)
        #expect(pinned.queryGenerationToken == .current)
        #expect(try names() == ["A"])
        #expect(pinned.queryGenerationToken != .current)
        try write("B")
        #expect(try names() == ["A"])
        try pinned.setQueryGenerationFrom(nil)
        #expect(try names() == ["A", "B"])
    }

    @Test("A pinned context fires faults in its generation")
    func faults() throws {
        try pinned.setQueryGenerationFrom(.current)
        let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
        request.includesPropertyValues = false
        try pinned.performAndWait {
            let author = try #require(try pinned.fetch(request).first)
            try writer.performAndWait {
                try writer.all("Author").first?.setValue("Z", forKey: "name")
                try writer.save()
            }
            #expect(author.string("name") == "A")
        }
    }

    @Test("Saving, resetting and merging move a pinned context to what is current then")
    func advancing() throws {
        try pinned.setQueryGenerationFrom(.current)
        #expect(try names() == ["A"])
        try write("B")
        pinned.performAndWait { pinned.reset() }
        #expect(try names() == ["A", "B"])
        try write("C")
        try pinned.performAndWait {
            pinned.make("Author", ["name": "D"])
            try pinned.save()
        }
        #expect(try names() == ["A", "B", "C", "D"])
    }

    @Test("Another context can be pinned by the token of the first, and a child cannot be pinned")
    func token() throws {
        try pinned.setQueryGenerationFrom(.current)
        #expect(try names() == ["A"])
        try write("B")
        let other = container.newBackgroundContext()
        try other.setQueryGenerationFrom(pinned.queryGenerationToken)
        let count = try other.performAndWait { try other.all("Author").count }
        #expect(count == 1)
        #expect(throws: NSError.self) { try Family.child(of: other).setQueryGenerationFrom(.current) }
    }

    @Test("A child's first read pins its parent, at any depth")
    func children() throws {
        try pinned.setQueryGenerationFrom(.current)
        let child = Family.child(of: Family.child(of: pinned))
        let count = { try child.performAndWait { try child.all("Author").count } }
        #expect(try count() == 1)
        try write("B")
        #expect(try count() == 1)
        #expect(try names() == ["A"])
    }

    @Test("Reading a relationship pins a context")
    func relationships() throws {
        try pinned.performAndWait {
            let author = try #require(try pinned.all("Author").first)
            #expect(author.string("name") == "A")
            try pinned.setQueryGenerationFrom(.current)
            #expect(author.objects("books").isEmpty)
            try writer.performAndWait {
                writer.make("Book", ["author": try writer.all("Author").first])
                try writer.save()
            }
            #expect(try pinned.all("Book").count == 0)
        }
    }

    @Test("Merging pins a context to the state that it has merged")
    func merging() throws {
        try pinned.setQueryGenerationFrom(.current)
        #expect(try names() == ["A"])
        let held = try pinned.performAndWait { try pinned.all("Author").filter { $0.string("name") == "A" } }
        try writer.performAndWait {
            let author = try #require(try writer.all("Author").first)
            author.setValue("Z", forKey: "name")
            try writer.save()
            pinned.performAndWait {
                pinned.mergeChanges(
                    fromContextDidSave: Notification(
                        name: .NSManagedObjectContextDidSave, userInfo: [NSUpdatedObjectsKey: Set([author])]))
            }
        }
        try write("B")
        #expect(try names() == ["Z"])
        withExtendedLifetime(held) {}
    }

    @Test("What a hook reads during a save does not pin the context to the state before it")
    func saving() throws {
        try pinned.setQueryGenerationFrom(.current)
        let pinned = pinned
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextWillSave, object: pinned, queue: nil
        ) { _ in _ = try? pinned.all("Author") }
        defer { NotificationCenter.default.removeObserver(token) }
        try pinned.performAndWait {
            pinned.make("Author", ["name": "D"])
            try pinned.save()
        }
        #expect(try names() == ["A", "D"])
    }
}
