import CoreData
import Dispatch
import TestSupport
import Testing

@Suite("Child contexts: queues that wait for one another", .ownThread)
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

    private static func names(of context: NSManagedObjectContext) -> [String?] {
        ((try? context.all("Author")) ?? []).map { $0.string("name") }
    }

    @Test("A main queue that waits for a child whose block asks the main queue lends it to the child")
    @MainActor func mainWaitsForBusyChild() throws {
        let container = try Library.inMemory()
        let parent = container.viewContext
        parent.make("Author", ["name": "A"])
        try parent.save()
        let child = Family.child(of: parent)
        for _ in 0..<20 {
            let began = DispatchSemaphore(value: 0)
            nonisolated(unsafe) var names: [String?] = []  // written before the performAndWait returns
            child.perform {
                began.signal()
                names = Self.names(of: child)
            }
            began.wait()
            child.performAndWait {}
            #expect(names == ["A"])
        }
    }

    @Test("A parent that saves and then waits for a child that merges automatically sees it merged", arguments: [1, 2])
    func parentWaitsForMerge(generations: Int) throws {
        let family = try Family()
        let parent = family.parent
        let between = generations == 1 ? parent : family.child
        let child = Family.child(of: between)
        child.automaticallyMergesChangesFromParent = true
        between.automaticallyMergesChangesFromParent = true
        try parent.performAndWait {
            let author = parent.make("Author", ["name": "0"])
            try parent.save()
            let identifier = author.objectID
            let seen = try child.performAndWait { Unchecked(try child.existingObject(with: identifier)) }
            child.performAndWait { _ = seen.value.string("name") }
            for round in 1...20 {
                author.setValue("\(round)", forKey: "name")
                try parent.save()
                between.performAndWait {}
                child.performAndWait {}
            }
            guard generations == 1 else { return }
            let name = child.performAndWait { seen.value.string("name") }
            #expect(name == "20")
        }
    }

    @Test("A queue that answers a child on the child's thread begins its own blocks after that")
    func borrowed() throws {
        let family = try Family()
        let (parent, child) = (family.parent, family.child)
        let group = DispatchGroup()
        for number in 0..<50 {
            group.enter()
            child.perform {
                child.make("Author", ["name": "\(number)"])
                try? child.save()
                group.leave()
            }
            group.enter()
            parent.perform {
                parent.make("Author", ["name": "\(100 + number)"])
                group.leave()
            }
        }
        group.wait()
        try parent.performAndWait {
            try parent.save()
            let count = try parent.all("Author").count
            #expect(count == 100)
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
