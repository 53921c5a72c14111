import CoreData
import Testing

@Suite("Relationships of objects that a merge policy brings up to date")
struct PolicyRelationshipTests {
    /// Three authors, the first with a book, and three shelves, the first with this book.
    private let container: NSPersistentContainer
    private let (context, other): (NSManagedObjectContext, NSManagedObjectContext)

    init() throws {
        let model = Library.model()
        model.entitiesByName["Book"]?.uniquenessConstraints = [["isbn"]]
        container = try Library.inMemory(model)
        (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
        let other = other
        try other.performAndWait {
            let author = other.make("Author", ["name": "A1"])
            for name in ["A2", "A3"] { other.make("Author", ["name": name]) }
            let shelf = other.make("Shelf", ["code": "S1"])
            for code in ["S2", "S3"] { other.make("Shelf", ["code": code]) }
            other.make("Book", ["title": "T", "isbn": "1", "author": author, "shelf": shelf])
            try other.save()
        }
    }

    private static let merging: [NSMergePolicy] = [.mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump, .overwrite]

    private func find(_ entity: String, _ key: String, _ value: String, in context: NSManagedObjectContext) throws
        -> NSManagedObject
    { try #require(try context.all(entity, NSPredicate(format: "%K == %@", key, value)).first) }

    private func stored(_ entity: String, _ format: String) throws -> Int {
        let fresh = container.newBackgroundContext()
        return try fresh.performAndWait { try fresh.all(entity, NSPredicate(format: format)).count }
    }

    @Test("have the members that others added, so that a deletion finds them", arguments: merging)
    func members(policy: NSMergePolicy) throws {
        context.mergePolicy = policy
        try context.performAndWait {
            let author = try find("Author", "name", "A1", in: context)
            #expect(author.objects("books").count == 1)
            try other.performAndWait {
                other.make("Book", ["title": "U", "isbn": "2", "author": try find("Author", "name", "A1", in: other)])
                try other.save()
            }
            author.setValue(50, forKey: "age")
            try context.save()
            #expect(author.objects("books").count == 2)
            context.delete(author)
            try context.save()
        }
        #expect(try stored("Book", "TRUEPREDICATE") == 0)
    }

    @Test("have the order of the context where others have ordered them, too, whichever side wins", arguments: merging)
    func order(policy: NSMergePolicy) throws {
        let team = Library.entity("Team", [Library.attribute("name", .stringAttributeType)])
        let player = Library.entity("Player", [Library.attribute("name", .stringAttributeType)])
        Library.connect(team, "players", toMany: true, ordered: true, player, "team")
        let model = NSManagedObjectModel()
        model.entities = [team, player]
        let container = try Library.inMemory(model)
        let (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
        context.mergePolicy = policy
        func players(_ team: NSManagedObject) -> String {
            let players = team.value(forKey: "players") as? NSOrderedSet
            return players?.array.compactMap { ($0 as? NSManagedObject)?.string("name") }.joined() ?? ""
        }
        /// Moves a player, and saves.
        func move(_ index: Int, to place: Int, of team: NSManagedObject) throws {
            team.mutableOrderedSetValue(forKey: "players").moveObjects(at: [index], to: place)
            try team.managedObjectContext?.save()
        }
        try other.performAndWait {
            let players = ["a", "b", "c", "d", "e"].map { other.make("Player", ["name": $0]) }
            other.make("Team", ["players": NSOrderedSet(array: players)])
            try other.save()
        }
        try context.performAndWait {
            // Read once: a fetch would bring the new order.
            let team = try #require(try context.all("Team").first)
            #expect(players(team) == "abcde")
            try other.performAndWait {
                let team = try #require(try other.all("Team").first)
                try move(4, to: 0, of: team)
                #expect(players(team) == "eabcd")
            }
            try move(0, to: 3, of: team)
        }
        let fresh = container.newBackgroundContext()
        let stored = try fresh.performAndWait { players(try #require(try fresh.all("Team").first)) }
        #expect(stored == "bcdae")
    }

    @Test("have the members that others added once a fetch refreshes the object")
    func refetched() throws {
        try context.performAndWait {
            let author = try find("Author", "name", "A1", in: context)
            #expect(author.objects("books").count == 1)
            try other.performAndWait {
                other.make("Book", ["title": "U", "author": try find("Author", "name", "A1", in: other)])
                try other.save()
            }
            let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
            request.shouldRefreshRefetchedObjects = true
            _ = try context.fetch(request)
            #expect(author.objects("books").count == 2)
            context.delete(author)
            try context.save()
        }
        #expect(try stored("Book", "TRUEPREDICATE") == 0)
    }

    @Test("lead back from where the policy dropped the object", arguments: [true, false])
    func dropped(isRolledBack: Bool) throws {
        context.mergePolicy = isRolledBack ? NSMergePolicy.rollback : NSMergePolicy.mergeByPropertyStoreTrump
        try context.performAndWait {
            let authors = try context.all("Author", by: "name")
            #expect(authors.map { $0.objects("books").count } == [1, 0, 0])
            let book = try find("Book", "title", "T", in: context)
            #expect(book.value(forKey: "price") as? Double == nil)
            try other.performAndWait {
                try find("Book", "title", "T", in: other)
                    .setValue(try find("Author", "name", "A3", in: other), forKey: "author")
                try other.save()
            }
            book.setValue(authors[1], forKey: "author")
            try context.save()
            #expect(book.value(forKey: "author") as? NSManagedObject === authors[2])
            #expect(authors.map { $0.objects("books").count } == [0, 0, 1])
            #expect(!context.hasChanges)
            context.delete(authors[1])
            try context.save()
        }
        #expect(try stored("Book", "author.name == 'A3'") == 1)
    }

    @Test("lead back where both ends are to-one", arguments: [true, false], [true, false])
    func toOne(isRolledBack: Bool, isMoved: Bool) throws {
        context.mergePolicy = isRolledBack ? NSMergePolicy.rollback : NSMergePolicy.mergeByPropertyStoreTrump
        let expected = isMoved ? "S3" : isRolledBack ? "S1" : "S2"
        try context.performAndWait {
            let shelves = try context.all("Shelf", by: "code")
            #expect(shelves[0].value(forKey: "book") != nil)
            let book = try find("Book", "title", "T", in: context)
            #expect(book.value(forKey: "price") as? Double == nil)
            try other.performAndWait {
                let book = try find("Book", "title", "T", in: other)
                book.setValue(5, forKey: "price")
                if isMoved { book.setValue(try find("Shelf", "code", "S3", in: other), forKey: "shelf") }
                try other.save()
            }
            book.setValue(shelves[1], forKey: "shelf")
            try context.save()
            #expect((book.value(forKey: "shelf") as? NSManagedObject)?.string("code") == expected)
            #expect(shelves.filter { $0.value(forKey: "book") != nil }.map { $0.string("code") } == [expected])
        }
        #expect(try stored("Shelf", "book != nil") == 1)
        #expect(try stored("Shelf", "book.title == 'T' AND code == '\(expected)'") == 1)
        #expect(try stored("Book", "shelf.code == '\(expected)'") == 1)
    }

    @Test("lead back where a unique value was taken, and the store wins", arguments: [true, false])
    func taken(isRolledBack: Bool) throws {
        context.mergePolicy = isRolledBack ? NSMergePolicy.rollback : NSMergePolicy.mergeByPropertyStoreTrump
        try other.performAndWait {
            other.make("Book", ["title": "U", "isbn": "2"])
            try other.save()
        }
        try context.performAndWait {
            let authors = try context.all("Author", by: "name")
            #expect(authors.map { $0.objects("books").count } == [1, 0, 0])
            let book = try find("Book", "title", "T", in: context)
            #expect(book.value(forKey: "price") as? Double == nil)
            book.setValue("2", forKey: "isbn")
            book.setValue(authors[1], forKey: "author")
            try context.save()
            #expect(book.value(forKey: "author") as? NSManagedObject === authors[0])
            #expect(authors.map { $0.objects("books").count } == [1, 0, 0])
            context.delete(authors[1])
            try context.save()
        }
        #expect(try stored("Book", "author.name == 'A1' AND isbn == '1'") == 1)
    }
}
