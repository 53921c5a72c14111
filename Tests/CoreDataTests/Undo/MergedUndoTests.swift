import CoreData
import Testing

@Suite("Undo beside others who save")
struct MergedUndoTests {
    private let container: NSPersistentContainer
    private let context: NSManagedObjectContext

    init() throws {
        container = try Library.inMemory()
        context = container.newBackgroundContext()
        context.undoManager = UndoManager()
        context.automaticallyMergesChangesFromParent = true
        try others { other in
            other.make("Book", ["title": "T", "price": 10, "author": other.make("Author", ["name": "A"])])
            other.make("Author", ["name": "B"])
            other.make("Author", ["name": "C"])
        }
    }

    private func event(_ block: () throws -> Void) throws { try context.performAndWait { try block() } }

    /// Another context's save.
    private func others(_ change: (NSManagedObjectContext) throws -> Void) throws {
        let other = container.newBackgroundContext()
        try other.performAndWait {
            try change(other)
            try other.save()
        }
    }

    private func stored<Value>(_ read: (NSManagedObjectContext) throws -> Value) throws -> Value {
        let other = container.newBackgroundContext()
        return try other.performAndWait { try read(other) }
    }

    private func object(
        _ entity: String, _ name: String? = nil, in context: NSManagedObjectContext? = nil
    ) throws -> NSManagedObject {
        let key = entity == "Author" ? "name" : "title"
        let predicate = name.map { NSPredicate(format: "%K == %@", key, $0) }
        return try #require(try (context ?? self.context).all(entity, predicate).first)
    }

    private func storedBook() throws -> [String?] {
        try stored { other in
            try other.all("Book").map { book in
                let author = (book.value(forKey: "author") as? NSManagedObject)?.string("name")
                return "\(book.string("title") ?? "-") \(book.value(forKey: "price") ?? "-") \(author ?? "-")"
            }
        }
    }

    private func undoAndSave() throws {
        try event {
            context.undo()
            try context.save()
            #expect(!context.hasChanges)
        }
    }

    // MARK: In the middle of an event

    @Test("A merge in the middle of an event stays when the event is undone")
    func mergedWithin() throws {
        try event {
            let book = try object("Book")
            book.setValue("X", forKey: "title")
            try others { try object("Book", in: $0).setValue(20, forKey: "price") }
            #expect(book.value(forKey: "price") as? Double == 20)
        }
        try undoAndSave()
        #expect(try storedBook() == ["T 20.0 A"])
    }

    @Test(
        "Values that the event takes from the store stay when it is undone", arguments: ["merging", "fault", "fetch"])
    func refreshedWithin(_ way: String) throws {
        context.automaticallyMergesChangesFromParent = false
        try event {
            let book = try object("Book")
            book.setValue("X", forKey: "title")
            try others { try object("Book", in: $0).setValue(20, forKey: "price") }
            switch way {
            case "fetch":
                let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
                request.shouldRefreshRefetchedObjects = true
                request.includesPendingChanges = false
                #expect(try context.fetch(request) == [book])
            default: context.refresh(book, mergeChanges: way == "merging")
            }
            #expect(book.value(forKey: "price") as? Double == 20)
        }
        try undoAndSave()
        #expect(try storedBook() == ["T 20.0 A"])
    }

    // MARK: What others have deleted

    @Test("What others have deleted does not come back with an earlier change", arguments: [false, true])
    func deletedByOthers(savesBetween: Bool) throws {
        try event {
            try object("Book").setValue("X", forKey: "title")
            try context.save()
        }
        try others { $0.delete(try object("Book", in: $0)) }
        if savesBetween {
            try event {
                context.make("Tag")
                try context.save()
            }
            try undoAndSave()
        }
        try undoAndSave()
        #expect(try storedBook() == [])
        try event {
            context.rollback()
            let left = try context.all("Book").count
            #expect(left == 0)
        }
    }

    @Test("What the event deleted comes back, though others have deleted it, too", arguments: [false, true])
    func deletedByBoth(isSaved: Bool) throws {
        try event {
            context.delete(try object("Book"))
            if isSaved { try context.save() }
        }
        if !isSaved { try others { $0.delete(try object("Book", in: $0)) } }
        try undoAndSave()
        #expect(try storedBook() == ["T 10.0 A"])
    }

    @Test("A relationship is not restored to an object that others have deleted", arguments: [false, true])
    func lostDestination(savesBetween: Bool) throws {
        try event {
            try object("Book").setValue(nil, forKey: "author")
            try context.save()
        }
        try others { $0.delete(try object("Author", "A", in: $0)) }
        if savesBetween { try event { try context.save() } }
        try undoAndSave()
        #expect(try storedBook() == ["T 10.0 -"])
        #expect(try stored { try $0.all("Book", NSPredicate(format: "author == nil")).count } == 1)
    }

    @Test("Members that others have deleted are not restored")
    func lostMember() throws {
        try event {
            let book = try object("Book")
            book.setValue(NSSet(array: [context.make("Tag", ["name": "a"]), context.make("Tag")]), forKey: "tags")
            try context.save()
        }
        try event {
            try object("Book").setValue(NSSet(), forKey: "tags")
            try context.save()
        }
        try others { for tag in try $0.all("Tag", NSPredicate(format: "name == nil")) { $0.delete(tag) } }
        try undoAndSave()
        let names = try stored { try object("Book", in: $0).objects("tags").map { $0.string("name") } }
        #expect(names == ["a"])
    }

    // MARK: What others have moved

    @Test("A destination that others have set since gives up the object that undo takes back")
    func moved() throws {
        try event {
            try object("Book").setValue(try object("Author", "B"), forKey: "author")
            try context.save()
        }
        try others { try object("Book", in: $0).setValue(try object("Author", "C", in: $0), forKey: "author") }
        try event {
            let third = try object("Author", "C")
            #expect(third.objects("books").count == 1)
            context.undo()
            #expect(third.objects("books").isEmpty)
            try context.save()
            context.delete(third)
            try context.save()
        }
        #expect(try storedBook() == ["T 10.0 A"])
    }

    @Test("So does one at the end of a one-to-one relationship")
    func movedOneToOne() throws {
        try others { other in
            try object("Book", in: other).setValue(other.make("Shelf"), forKey: "shelf")
            other.make("Book", ["title": "U"])
        }
        try event {
            try object("Book", "T").setValue(nil, forKey: "shelf")
            try context.save()
        }
        try others { try object("Book", "U", in: $0).setValue(try $0.all("Shelf").first, forKey: "shelf") }
        try event {
            let second = try object("Book", "U")
            #expect(second.value(forKey: "shelf") != nil)
            context.undo()
            #expect(second.value(forKey: "shelf") == nil)
            try context.save()
        }
        let held = try stored { try $0.all("Book", NSPredicate(format: "shelf != nil")).map { $0.string("title") } }
        #expect(held == ["T"])
    }
}
