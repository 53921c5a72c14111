import CoreData
import Testing

@Suite("Prefetched members of a relationship")
struct PrefetchedMembersTests {
    private let container: NSPersistentContainer
    private let context: NSManagedObjectContext

    init() throws {
        container = try Library.inMemory()
        context = container.newBackgroundContext()
        try context.performAndWait { [context] in
            let author = context.make("Author", ["name": "A"])
            for number in 1...3 { context.make("Book", ["title": "T\(number)", "author": author]) }
            // Many at once, so that their members are registered together.
            for number in 1...20 { context.make("Author", ["name": "B\(number)"]) }
            try context.save()
            context.reset()
        }
    }

    private func author(prefetching: Bool = true) throws -> NSManagedObject {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
        if prefetching { request.relationshipKeyPathsForPrefetching = ["books"] }
        return try #require(try context.fetch(request).first { $0.string("name") == "A" })
    }

    private func books(of author: NSManagedObject) throws -> Set<NSManagedObject> {
        let books = try #require(author.value(forKey: "books") as? NSSet)
        return Set(books.compactMap { $0 as? NSManagedObject })
    }

    @Test("The context knows them: a fetch afterwards gives the same objects")
    func areRegistered() throws {
        try context.performAndWait {
            let members = try books(of: try author())
            #expect(members.count == 3)
            #expect(Set(try context.all("Book")) == members)
            #expect(members.allSatisfy { context.registeredObject(for: $0.objectID) === $0 })
        }
    }

    @Test("Those that the context knew before are themselves, with their unsaved changes")
    func areThoseKnown() throws {
        try context.performAndWait {
            let known = try #require(try context.all("Book", NSPredicate(format: "title == 'T2'")).first)
            known.setValue("New", forKey: "title")
            let members = try books(of: try author())
            #expect(members.contains(known))
            #expect(Set(members.compactMap { $0.string("title") }) == ["T1", "New", "T3"])
        }
    }

    @Test("What was added and removed before counts")
    func withUnsavedMembers() throws {
        try context.performAndWait {
            let first = try author(prefetching: false)
            let new = context.make("Book", ["title": "T4", "author": first])
            let gone = try #require(try context.all("Book", NSPredicate(format: "title == 'T1'")).first)
            gone.setValue(nil, forKey: "author")
            let members = try books(of: try author())
            #expect(members.contains(new) && !members.contains(gone))
            #expect(members.count == 3)
        }
    }

    @Test("They lead back to the object whose members they are")
    func leadBack() throws {
        try context.performAndWait {
            let author = try author()
            for book in try books(of: author) { #expect(book.value(forKey: "author") as? NSManagedObject === author) }
        }
    }

    @Test("A set that was read is as it was when the relationship changes afterwards")
    func earlierSets() throws {
        try context.performAndWait {
            let author = try author()
            let before = try #require(author.value(forKey: "books") as? NSSet)
            let gone = try #require(before.allObjects.first as? NSManagedObject)
            gone.setValue(nil, forKey: "author")
            #expect(before.count == 3)
            #expect(try books(of: author).count == 2)
            #expect(author.hasChanges)
            author.mutableSetValue(forKey: "books").add(gone)
            #expect(try books(of: author).count == 3)
        }
    }
}
