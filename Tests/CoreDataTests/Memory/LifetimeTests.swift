import CoreData
import TestSupport
import Testing
import SQLiteEngine

@Suite("Memory: what goes when nobody has it")
struct LifetimeTests {
    @Test(
        "A container goes with its last reference, and coordinator, store and contexts with it",
        .timeLimit(.minutes(15))
    )
    func container() async throws {
        let folder = try TestFolder()
        weak var container: NSPersistentContainer?
        weak var coordinator: NSPersistentStoreCoordinator?
        weak var store: NSPersistentStore?
        weak var view: NSManagedObjectContext?
        weak var background: NSManagedObjectContext?
        weak var child: NSManagedObjectContext?
        do {
            let description = NSPersistentStoreDescription(url: folder.file("library.sqlite"))
            description.setOption(true as NSNumber, forKey: NSPersistentHistoryTrackingKey)
            description.setOption(true as NSNumber, forKey: NSPersistentStoreRemoteChangeNotificationPostOptionKey)
            let made = try Library.container(Library.model(), description)
            let context = made.newBackgroundContext()
            context.automaticallyMergesChangesFromParent = true
            let below = Family.child(of: context)
            try below.performAndWait {
                below.make("Book", ["author": below.make("Author", ["name": "A"])])
                try below.save()
                try context.performAndWait { try context.save() }
                _ = try below.all("Book")
            }
            (container, coordinator, store) = (made, made.persistentStoreCoordinator, nil)
            store = made.persistentStoreCoordinator.persistentStores.first
            (view, background, child) = (made.viewContext, context, below)
            #expect(store != nil && child != nil)
        }
        #expect(container == nil)
        #expect(child == nil && background == nil && view == nil)
        // The thread that watches the file may have the coordinator just now, and be the one that lets both go.
        while coordinator != nil || store != nil { await Task.yield() }
    }

    /// Two objects that know one another, as weak references.
    private func cycle(in context: NSManagedObjectContext) throws -> (author: Weak, book: Weak) {
        let author = try #require(try context.all("Author").first)
        let book = try #require(author.objects("books").first)
        _ = book.value(forKey: "author")
        return (Weak(author), Weak(book))
    }

    private func context() throws -> NSManagedObjectContext {
        let context = try Library.inMemory().newBackgroundContext()
        try context.performAndWait {
            context.make("Book", ["author": context.make("Author", ["name": "A"])])
            try context.save()
            context.reset()
        }
        return context
    }

    @Test("Objects that followed a relationship keep one another, until one of them is refreshed")
    func refresh() throws {
        let context = try context()
        try context.performAndWait {
            let (author, book) = try cycle(in: context)
            #expect(author.object != nil && book.object != nil)
            try context.all("Author").forEach { context.refresh($0, mergeChanges: false) }
            context.processPendingChanges()
            #expect(author.object == nil && book.object == nil)
        }
    }

    @Test("refreshAllObjects and reset break all cycles")
    func all() throws {
        let context = try context()
        try context.performAndWait {
            let first = try cycle(in: context)
            context.refreshAllObjects()
            context.processPendingChanges()
            #expect(first.author.object == nil && first.book.object == nil)
            let second = try cycle(in: context)
            context.reset()
            #expect(second.author.object == nil && second.book.object == nil)
        }
    }

    @Test("Who reads portion after portion within one block, and refreshes all after each, keeps one portion at most")
    func portions() throws {
        let context = try Library.inMemory().newBackgroundContext()
        try context.performAndWait {
            for number in 0..<60 { context.make("Author", ["name": "\(number)"]) }
            try context.save()
            context.reset()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
            request.fetchLimit = 10
            for portion in 0..<6 {
                request.fetchOffset = 10 * portion
                #expect(try context.fetch(request).compactMap { $0.value(forKey: "name") }.count == 10)
                #expect(context.registeredObjects.count <= 20)
                context.refreshAllObjects()
            }
        }
    }

    @Test("A context that goes breaks the cycles of its objects")
    func gone() throws {
        var context: NSManagedObjectContext? = try context()
        let pair = try context?.performAndWait { Unchecked(try cycle(in: try #require(context))) }
        context = nil
        #expect(pair?.value.author.object == nil && pair?.value.book.object == nil)
    }

    @Test("A saved deletion, and a rolled back insertion, leave nothing behind, whatever the context keeps")
    func forgotten() throws {
        let context = try context()
        try context.performAndWait {
            context.retainsRegisteredObjects = true
            let (author, book) = try cycle(in: context)
            try context.all("Author").forEach(context.delete)
            try context.save()
            #expect(author.object == nil && book.object == nil)
            weak var new: NSManagedObject?
            new = context.make("Author", ["name": "N"])
            context.rollback()
            #expect(new == nil)
        }
    }

    @Test("A fetch with a batch size keeps nothing of results that nobody has")
    func batches() throws {
        let context = try context()
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
            request.fetchBatchSize = 10
            weak var author: NSManagedObject?
            weak var identifier: NSManagedObjectID?
            do {
                let found = try context.fetch(request)
                (author, identifier) = (found.first, found.first?.objectID)
                #expect(author != nil)
            }
            #expect(author == nil)
            request.predicate = NSPredicate(format: "name = 'none'")
            _ = try context.fetch(request)
            #expect(identifier == nil)
        }
    }

    private final class Weak {
        weak var object: NSManagedObject?
        init(_ object: NSManagedObject) { self.object = object }
    }
}
