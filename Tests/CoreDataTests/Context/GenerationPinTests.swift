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
}
