import CoreData
import Dispatch
import TestSupport
import Testing

@Suite("Many contexts at once")
struct StressTests {
    @Test("Contexts that read, write, merge, reset and come and go at once lose nothing", .timeLimit(.minutes(15)))
    func stress() async throws {
        let folder = try TestFolder()
        let container = try Library.stored(at: folder.file("library.sqlite"))
        let (writers, rounds) = (6, 15)
        let reader = container.newBackgroundContext()
        reader.automaticallyMergesChangesFromParent = true
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<writers {
                group.addTask {
                    for round in 0..<rounds { try Self.write(writer, round, container) }
                }
            }
            group.addTask {
                for _ in 0..<rounds {
                    try await reader.perform {
                        let authors = try reader.all("Author")
                        for author in authors.prefix(20) { _ = author.string("name") }
                        reader.reset()
                    }
                }
            }
            try await group.waitForAll()
        }
        let names = try await reader.perform { try reader.all("Author").compactMap { $0.string("name") } }
        #expect(Set(names).count == writers * rounds)
        #expect(names.allSatisfy { $0.hasSuffix("!") })
    }

    /// Makes an author in a child context, saves it level by level, and changes it in another context.
    private static func write(_ writer: Int, _ round: Int, _ container: NSPersistentContainer) throws {
        let parent = container.newBackgroundContext()
        let child = Family.child(of: parent)
        let name = "\(writer)-\(round)"
        try child.performAndWait {
            child.make("Book", ["title": name, "author": child.make("Author", ["name": name])])
            try child.save()
        }
        try parent.performAndWait { try parent.save() }
        let other = container.newBackgroundContext()
        try other.performAndWait {
            let found = try other.all("Author", NSPredicate(format: "name = %@", name))
            found.first?.setValue(name + "!", forKey: "name")
            try other.save()
        }
        child.performAndWait { child.reset() }
    }

    @Test("The main queue and private contexts wait for one another as Core Data allows", .timeLimit(.minutes(15)))
    @MainActor func mainAndPrivate() async throws {
        let container = try Library.inMemory()
        let view = container.viewContext
        view.automaticallyMergesChangesFromParent = true
        for round in 0..<20 {
            let background = container.newBackgroundContext()
            try background.performAndWait {
                background.make("Author", ["name": "\(round)"])
                try background.save()
            }
            let child = Family.child(of: view)
            // The child's block runs elsewhere and needs the main queue, which is free while this waits.
            try await child.perform {
                try child.all("Author").last?.setValue(round, forKey: "age")
                try child.save()
            }
            try view.save()
        }
        let count = try view.all("Author").count
        #expect(count == 20)
    }
}
