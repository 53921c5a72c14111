import CoreData
import Testing

@Suite("Both ends of relationships that two contexts change at once")
struct KeptDestinationTests {
    /// Two authors, two books and a shelf, of which none has another.
    private let container: NSPersistentContainer
    private let (context, other): (NSManagedObjectContext, NSManagedObjectContext)

    init() throws {
        container = try Library.inMemory()
        (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
        let other = other
        try other.performAndWait {
            for name in ["A1", "A2"] { other.make("Author", ["name": name]) }
            for title in ["B1", "B2"] { other.make("Book", ["title": title]) }
            other.make("Shelf", ["code": "S"])
            try other.save()
            other.reset()
        }
    }

    private func find(_ entity: String, _ key: String, _ value: String, in context: NSManagedObjectContext) throws
        -> NSManagedObject
    { try #require(try context.all(entity, NSPredicate(format: "%K == %@", key, value)).first) }

    private func book(_ title: String, in context: NSManagedObjectContext) throws -> NSManagedObject {
        try find("Book", "title", title, in: context)
    }

    private func shelf(in context: NSManagedObjectContext) throws -> NSManagedObject {
        try find("Shelf", "code", "S", in: context)
    }

    /// Saves the second book with the shelf in the other context.
    ///
    /// - Parameter merges: whether the first context then merges it.
    /// - Throws: the errors of the save.
    private func shelveElsewhere(merges: Bool) throws {
        let context = context
        let token = NotificationCenter.default.addObserver(
            forName: .NSManagedObjectContextDidSave, object: other, queue: nil
        ) { note in if merges { context.mergeChanges(fromContextDidSave: note) } }
        defer { NotificationCenter.default.removeObserver(token) }
        try other.performAndWait {
            try book("B2", in: other).setValue(try shelf(in: other), forKey: "shelf")
            try other.save()
        }
    }

    /// The titles of the books with a shelf, and the title of the shelf's book, as they are stored.
    private func stored() throws -> (shelved: [String?], onShelf: String?) {
        let fresh = container.newBackgroundContext()
        return try fresh.performAndWait {
            let shelved = try fresh.all("Book", by: "title").filter { $0.value(forKey: "shelf") != nil }
            let onShelf = try fresh.all("Shelf").first?.value(forKey: "book") as? NSManagedObject
            return (shelved.map { $0.string("title") }, onShelf?.string("title"))
        }
    }

    @Test(
        "agree where a change made here is kept in a merge, and where a merge policy keeps it",
        arguments: [true, false])
    func kept(merges: Bool) throws {
        context.mergePolicy = merges ? NSMergePolicy.error : NSMergePolicy.mergeByPropertyObjectTrump
        try context.performAndWait {
            let (first, second, shelf) = try (book("B1", in: context), book("B2", in: context), shelf(in: context))
            #expect(second.value(forKey: "shelf") == nil)
            first.setValue(shelf, forKey: "shelf")
            try shelveElsewhere(merges: merges)
            try context.save()
            #expect(second.value(forKey: "shelf") == nil)
            #expect(shelf.value(forKey: "book") as? NSManagedObject === first)
        }
        let stored = try stored()
        #expect(stored.shelved == ["B1"] && stored.onShelf == "B1")
    }

    @Test("agree where a change made here is kept when the object is refreshed")
    func refreshed() throws {
        try context.performAndWait {
            let (first, second, shelf) = try (book("B1", in: context), book("B2", in: context), shelf(in: context))
            #expect(second.value(forKey: "shelf") == nil)
            first.setValue(shelf, forKey: "shelf")
            try shelveElsewhere(merges: false)
            context.refresh(shelf, mergeChanges: true)
            try context.save()
        }
        let stored = try stored()
        #expect(stored.shelved == ["B1"] && stored.onShelf == "B1")
    }

    @Test("agree in a context that had changed one of them and deleted it before the merge")
    func deleted() throws {
        try context.performAndWait {
            let (first, second, shelf) = try (book("B1", in: context), book("B2", in: context), shelf(in: context))
            #expect(second.value(forKey: "shelf") == nil)
            first.setValue(shelf, forKey: "shelf")
            context.delete(shelf)
            context.processPendingChanges()
            try shelveElsewhere(merges: true)
            try context.save()
            #expect(second.value(forKey: "shelf") == nil)
        }
        #expect(try stored().shelved == [])
    }

    @Test("agree where a deleted object led to one that was read before others connected them")
    func outdatedDestination() throws {
        try context.performAndWait {
            let second = try book("B2", in: context)
            #expect(second.value(forKey: "shelf") == nil)
            try shelveElsewhere(merges: false)
            let shelf = try shelf(in: context)
            #expect(shelf.value(forKey: "book") as? NSManagedObject === second)
            context.delete(shelf)
            try context.save()
            #expect(second.value(forKey: "shelf") == nil)
        }
        #expect(try stored().shelved == [])
    }

    @Test(
        "agree where a deleted object led to one that was set to what it was before others connected them",
        arguments: [NSMergePolicyType.mergeByPropertyStoreTrumpMergePolicyType, .overwriteMergePolicyType])
    func unchangedDestination(policy: NSMergePolicyType) throws {
        context.mergePolicy = NSMergePolicy(merge: policy)
        try context.performAndWait {
            let (second, shelf) = try (book("B2", in: context), shelf(in: context))
            second.setValue(nil, forKey: "shelf")
            #expect(shelf.value(forKey: "book") == nil)
            context.delete(shelf)
            try shelveElsewhere(merges: false)
            try context.save()
            #expect(second.value(forKey: "shelf") == nil)
        }
        #expect(try stored().shelved == [])
    }

    @Test("agree where others changed one end only, as batch requests do")
    func oneEnd() throws {
        try context.performAndWait {
            let book = try book("B1", in: context)
            let (from, to) = try (find("Author", "name", "A1", in: context), find("Author", "name", "A2", in: context))
            book.setValue(from, forKey: "author")
            try context.save()
            #expect(from.objects("books") == [book] && to.objects("books") == [])
            try other.performAndWait {
                let author = try find("Author", "name", "A2", in: other)
                try self.book("B1", in: other).setValue(author, forKey: "author")
                try other.save()
            }
            NSManagedObjectContext.mergeChanges(
                fromRemoteContextSave: [NSUpdatedObjectsKey: [book.objectID]], into: [context])
            #expect(from.objects("books") == [] && to.objects("books") == [book])
        }
    }

    @Test("agree where a collection is read after a merge that kept a member elsewhere")
    func keptElsewhere() throws {
        try context.performAndWait {
            let book = try book("B1", in: context)
            let mine = try find("Author", "name", "A1", in: context)
            let theirs = try find("Author", "name", "A2", in: context)
            book.setValue(mine, forKey: "author")
            let context = context
            let token = NotificationCenter.default.addObserver(
                forName: .NSManagedObjectContextDidSave, object: other, queue: nil
            ) { context.mergeChanges(fromContextDidSave: $0) }
            defer { NotificationCenter.default.removeObserver(token) }
            try other.performAndWait {
                let author = try find("Author", "name", "A2", in: other)
                try self.book("B1", in: other).setValue(author, forKey: "author")
                try other.save()
            }
            #expect(mine.objects("books") == [book] && theirs.objects("books") == [])
            try context.save()
            #expect(mine.objects("books") == [book] && theirs.objects("books") == [])
        }
    }

    @Test("agree where a book keeps a shelf that led to it, and that others have emptied since it was read")
    func emptied() throws {
        context.mergePolicy = NSMergePolicy.overwrite
        try context.performAndWait {
            let first = try book("B1", in: context)
            #expect(first.value(forKey: "shelf") == nil)
            try change { try self.shelf(in: $0).setValue(try book("B1", in: $0), forKey: "book") }
            let shelf = try shelf(in: context)
            #expect(shelf.value(forKey: "book") as? NSManagedObject == first)
            try change { try self.shelf(in: $0).setValue(nil, forKey: "book") }
            first.setValue(shelf, forKey: "shelf")
            try context.save()
        }
        let stored = try stored()
        #expect(stored.shelved == ["B1"])
        #expect(stored.onShelf == "B1")
    }

    @Test("agree where a book loses the shelf that others gave it, and the shelf was only set to what it was")
    func overwritten() throws {
        context.mergePolicy = NSMergePolicy.overwrite
        try context.performAndWait {
            let (first, shelf) = try (book("B1", in: context), shelf(in: context))
            #expect(first.value(forKey: "shelf") == nil)
            #expect(shelf.value(forKey: "book") == nil)
            try change { try self.shelf(in: $0).setValue(try book("B1", in: $0), forKey: "book") }
            first.setValue(2.5, forKey: "price")
            shelf.setValue("S", forKey: "code")
            try context.save()
        }
        let stored = try stored()
        #expect(stored.shelved.isEmpty)
        #expect(stored.onShelf == nil)
    }

    @Test("agree where an object that others took away follows one that loses its unique value to another")
    func replaced() throws {
        let item = Library.entity(
            "Item",
            [Library.attribute("uid", .stringAttributeType), Library.attribute("level", .integer16AttributeType)])
        item.uniquenessConstraints = [["uid"]]
        Library.connect(item, "boss", toMany: false, item, "staff", inverseToMany: true)
        let model = NSManagedObjectModel()
        model.entities = [item]
        let container = try Library.inMemory(model)
        let (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
        context.mergePolicy = NSMergePolicy.overwrite
        try context.performAndWait {
            let boss = context.make("Item", ["uid": "boss"])
            let member = context.make("Item", ["uid": "member", "boss": boss])
            try context.save()
            try other.performAndWait {
                other.object(with: member.objectID).setValue(nil, forKey: "boss")
                other.object(with: boss.objectID).setValue(nil, forKey: "uid")
                other.make("Item", ["uid": "boss"])
                try other.save()
            }
            for object in [boss, member] { object.setValue(1, forKey: "level") }
            try context.save()
            let left = try context.all("Item", NSPredicate(format: "uid == 'boss'"))
            #expect(left.count == 1 && left.first != boss)
            #expect(member.value(forKey: "boss") as? NSManagedObject == left.first)
            #expect(left.first?.objects("staff") == [member])
        }
    }

    /// Changes something in the other context, and saves it.
    private func change(_ body: (NSManagedObjectContext) throws -> Void) throws {
        try other.performAndWait {
            try body(other)
            try other.save()
        }
    }
}
