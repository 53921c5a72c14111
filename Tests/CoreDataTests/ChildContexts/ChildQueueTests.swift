import CoreData
import Testing

@Suite("Child contexts: queues that wait for one another")
struct ChildQueueTests {
    @Test("The main queue may wait for a private child, which reads and saves through its parent of the main queue")
    @MainActor func mainWaitsForChild() throws {
        let container = try Library.inMemory()
        let child = Family.child(of: container.viewContext)
        container.viewContext.make("Author", ["name": "A"])
        try child.performAndWait {
            let author = try #require(try child.all("Author").first)
            author.setValue("B", forKey: "name")
            try child.save()
        }
        #expect(try container.viewContext.all("Author").map { $0.string("name") } == ["B"])
    }

    @Test("A parent's queue may wait for its child, and the child for the parent within")
    func parentWaitsForChild() throws {
        let family = try Family()
        let (parent, child) = (family.parent, family.child)
        try parent.performAndWait {
            parent.make("Author", ["name": "A"])
            try child.performAndWait {
                let before = try child.all("Author").count
                parent.performAndWait { _ = parent.make("Author", ["name": "B"]) }
                let after = try child.all("Author").count
                #expect(before == 1 && after == 2)
            }
        }
    }

    @Test("A child of the main queue reads through a private parent")
    @MainActor func mainChild() throws {
        let container = try Library.inMemory()
        let parent = container.newBackgroundContext()
        let child = NSManagedObjectContext(.mainQueue)
        child.parent = parent
        child.make("Author", ["name": "A"])
        try child.save()
        let count = try parent.performAndWait { try parent.all("Author").count }
        #expect(count == 1)
    }

    @Test("A child keeps its parent alive, and goes when nobody has it")
    func lifetime() throws {
        let container = try Library.inMemory()
        weak var parent: NSManagedObjectContext?
        weak var gone: NSManagedObjectContext?
        var child: NSManagedObjectContext?
        do {
            let made = container.newBackgroundContext()
            parent = made
            child = Family.child(of: made)
        }
        #expect(parent != nil)
        #expect(child?.parent != nil)
        gone = child
        child = nil
        #expect(gone == nil)
        #expect(parent == nil)
    }
}
