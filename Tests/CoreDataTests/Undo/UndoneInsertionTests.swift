import CoreData
import Testing

@Suite("An object whose insertion is undone, or whose deletion is redone")
struct UndoneInsertionTests {
    private let container: NSPersistentContainer
    private let context: NSManagedObjectContext

    init() throws {
        container = try Library.inMemory()
        context = container.newBackgroundContext()
        context.undoManager = UndoManager()
        context.automaticallyMergesChangesFromParent = true
        try save(in: container.newBackgroundContext()) { other in
            other.make("Book", ["title": "T", "author": other.make("Author", ["name": "A"])])
        }
    }

    private func save(in context: NSManagedObjectContext, _ change: (NSManagedObjectContext) throws -> Void) throws {
        try context.performAndWait {
            try change(context)
            try context.save()
        }
    }

    private func count(_ entity: String, _ format: String = "TRUEPREDICATE") throws -> Int {
        let other = container.newBackgroundContext()
        return try other.performAndWait { try other.all(entity, NSPredicate(format: format)).count }
    }

    @Test("takes along what others have added to it, by its rule “cascade”; redo brings both back")
    func cascade() throws {
        try save(in: context) { $0.make("Author", ["name": "B"]) }
        try save(in: container.newBackgroundContext()) { other in
            let author = try other.all("Author", NSPredicate(format: "name == 'B'")).first
            other.make("Book", ["title": "U", "author": author])
        }
        try save(in: context) { $0.undo() }
        #expect(try count("Author") == 1)
        #expect(try count("Book") == 1)
        try save(in: context) { $0.redo() }
        #expect(try count("Book", "title == 'U' AND author.name == 'B'") == 1)
    }

    @Test("leaves nobody who leads to it, by its rule “nullify”")
    func nullify() throws {
        try save(in: context) { $0.make("Shelf") }
        try save(in: container.newBackgroundContext()) { other in
            try other.all("Book").first?.setValue(try other.all("Shelf").first, forKey: "shelf")
        }
        try save(in: context) { $0.undo() }
        #expect(try count("Shelf") == 0)
        #expect(try count("Book", "shelf == nil") == 1)
    }

    @Test("leaves what the event had given it where it was before")
    func given() throws {
        try save(in: context) { context in
            try context.all("Book").first?.setValue(context.make("Author", ["name": "B"]), forKey: "author")
        }
        try save(in: context) { $0.undo() }
        #expect(try count("Author") == 1)
        #expect(try count("Book", "author.name == 'A'") == 1)
        try save(in: context) { $0.redo() }
        #expect(try count("Book", "author.name == 'B'") == 1)
    }

    @Test("is not kept by its rule “deny” for what the event had given it")
    func denied() throws {
        let (team, player) = (Library.entity("Team", []), Library.entity("Player", []))
        Library.connect(team, "players", toMany: true, deleteRule: .denyDeleteRule, player, "team")
        let model = NSManagedObjectModel()
        model.entities = [team, player]
        let container = try Library.inMemory(model)
        let context = container.newBackgroundContext()
        try save(in: context) { $0.make("Player") }
        context.undoManager = UndoManager()
        try save(in: context) { try $0.all("Player").first?.setValue($0.make("Team"), forKey: "team") }
        try save(in: context) { $0.undo() }
        let counts = try context.performAndWait {
            [try context.all("Team").count, try context.all("Player", NSPredicate(format: "team == nil")).count]
        }
        #expect(counts == [0, 1])
    }

    @Test("follows its rules at the save, if a context follows them only then")
    func late() throws {
        context.propagatesDeletesAtEndOfEvent = false
        try context.performAndWait { context.delete(try #require(try context.all("Author").first)) }
        try save(in: context) { context in
            context.undo()
            context.redo()
        }
        #expect(try count("Author") == 0)
        #expect(try count("Book") == 0)
    }
}
