import CoreData
import Testing

@Suite("A relationship to an object that another context has deleted")
struct LostDestinationTests {
    private let container: NSPersistentContainer

    init() throws {
        container = try Library.inMemory()
        let context = container.newBackgroundContext()
        try context.performAndWait {
            context.make("Author", ["name": "Ann"])
            context.make("Book", ["title": "Emma"])
            context.make("Tag", ["name": "new"])
            try context.save()
        }
    }

    private func delete(_ entity: String) throws {
        let other = container.newBackgroundContext()
        try other.performAndWait {
            for object in try other.all(entity) { other.delete(object) }
            try other.save()
        }
    }

    private func check(_ context: NSManagedObjectContext, _ format: String) throws {
        let found = try context.performAndWait { try context.all("Book", NSPredicate(format: format)).count }
        #expect(found == 1)
        #expect(context.performAndWait { !context.hasChanges })
    }

    @Test("is emptied where the merge policy leaves it deleted", arguments: ["rollback", "store"])
    func toOne(policy: String) throws {
        let context = container.newBackgroundContext()
        context.mergePolicy = policy == "store" ? NSMergePolicy.mergeByPropertyStoreTrump : NSMergePolicy.rollback
        try context.performAndWait {
            let book = try #require(try context.all("Book").first)
            book.setValue(try context.all("Author").first, forKey: "author")
            book.setValue("Persuasion", forKey: "title")
            try delete("Author")
            try context.save()
            #expect(book.value(forKey: "author") == nil)
        }
        try check(context, "author == nil AND title == 'Persuasion'")
        try check(container.newBackgroundContext(), "author == nil AND title == 'Persuasion'")
    }

    @Test("loses the pair where it is many-to-many", arguments: ["rollback", "store"])
    func manyToMany(policy: String) throws {
        let context = container.newBackgroundContext()
        context.mergePolicy = policy == "store" ? NSMergePolicy.mergeByPropertyStoreTrump : NSMergePolicy.rollback
        try context.performAndWait {
            let book = try #require(try context.all("Book").first)
            book.setValue(NSSet(array: try context.all("Tag")), forKey: "tags")
            try delete("Tag")
            try context.save()
            #expect((book.value(forKey: "tags") as? NSSet)?.count == 0)
        }
        try check(container.newBackgroundContext(), "tags.@count == 0")
    }

    @Test("leads to the object that the merge policy saves again", arguments: ["overwrite", "object"])
    func again(policy: String) throws {
        let context = container.newBackgroundContext()
        context.mergePolicy = policy == "object" ? NSMergePolicy.mergeByPropertyObjectTrump : NSMergePolicy.overwrite
        try context.performAndWait {
            let book = try #require(try context.all("Book").first)
            let author = try #require(try context.all("Author").first)
            book.setValue(author, forKey: "author")
            try delete("Author")
            try context.save()
            #expect(book.value(forKey: "author") as? NSManagedObject == author)
        }
        try check(container.newBackgroundContext(), "author.name == 'Ann'")
    }
}
