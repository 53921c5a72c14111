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

    /// A team with a player, and a second player.
    private func team(isRequired: Bool = false) throws -> NSPersistentContainer {
        let (team, player) = (
            Library.entity("Team", []), Library.entity("Player", [Library.attribute("age", .integer16AttributeType)])
        )
        Library.connect(team, "players", toMany: true, player, "team")
        Library.connect(team, "captain", toMany: false, player, "leads")
        player.relationshipsByName["team"]?.isOptional = !isRequired
        let model = NSManagedObjectModel()
        model.entities = [team, player]
        let container = try Library.inMemory(model)
        let context = container.newBackgroundContext()
        try context.performAndWait {
            if !isRequired { context.make("Player", ["age": 20]) }
            context.make("Player", ["age": 30]).setValue(context.make("Team"), forKey: "team")
            try context.save()
        }
        return container
    }

    private static let policies: [NSMergePolicy] = [
        .overwrite, .mergeByPropertyObjectTrump, .mergeByPropertyStoreTrump,
    ]

    @Test(
        "is emptied where another context made it, and the merge policy goes on deleting", arguments: policies,
        ["team", "leads"])
    func madeElsewhere(policy: NSMergePolicy, key: String) throws {
        let container = try team()
        let (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
        context.mergePolicy = policy
        try context.performAndWait {
            let team = try #require(try context.all("Team").first)
            #expect((team.value(forKey: "players") as? NSSet)?.count == 1)
            #expect(team.value(forKey: "captain") == nil)
            // Read before, so that it does not know of the team.
            let players = try context.all("Player")
            #expect(players.filter { $0.value(forKey: key) == nil }.count >= 1)
            defer { withExtendedLifetime(players) {} }
            try other.performAndWait {
                for player in try other.all("Player") where player.value(forKey: "age") as? Int == 20 {
                    player.setValue(try other.all("Team").first, forKey: key)
                }
                try other.save()
            }
            context.delete(team)
            try context.save()
        }
        let fresh = container.newBackgroundContext()
        let free = try fresh.performAndWait { try fresh.all("Player", NSPredicate(format: "%K == nil", key)).count }
        #expect(free == 2)
        #expect(try fresh.performAndWait { try fresh.all("Team").count } == 0)
    }

    @Test("is emptied where another context made it, and the deleted object is refreshed", arguments: [false, true])
    func refreshed(isRead: Bool) throws {
        let container = try team()
        let (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
        try context.performAndWait {
            let team = try #require(try context.all("Team").first)
            #expect((team.value(forKey: "players") as? NSSet)?.count == 1)
            let players = isRead ? try context.all("Player") : []
            #expect(players.filter { $0.value(forKey: "team") == nil }.count == (isRead ? 1 : 0))
            try other.performAndWait {
                for player in try other.all("Player") { player.setValue(try other.all("Team").first, forKey: "team") }
                try other.save()
            }
            context.delete(team)
            #expect(throws: (any Error).self) { try context.save() }
            context.refresh(team, mergeChanges: true)
            for player in players { context.refresh(player, mergeChanges: true) }
            try context.save()
        }
        let fresh = container.newBackgroundContext()
        #expect(try fresh.performAndWait { try fresh.all("Player", NSPredicate(format: "team == nil")).count } == 2)
    }

    @Test(
        "is emptied where another context made it, and this comes to the deletion", arguments: ["merge", "fetch"],
        [false, true])
    func cameToDeletion(how: String, isRead: Bool) throws {
        let container = try team()
        let (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
        context.automaticallyMergesChangesFromParent = how == "merge"
        try context.performAndWait {
            let team = try #require(try context.all("Team").first)
            #expect((team.value(forKey: "players") as? NSSet)?.count == 1)
            let players = isRead ? try context.all("Player") : []
            #expect(players.filter { $0.value(forKey: "team") == nil }.count == (isRead ? 1 : 0))
            context.delete(team)
            context.processPendingChanges()
            try other.performAndWait {
                for player in try other.all("Player") { player.setValue(try other.all("Team").first, forKey: "team") }
                try other.save()
            }
            if how == "fetch" {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Team")
                request.shouldRefreshRefetchedObjects = true
                #expect(try context.fetch(request).isEmpty)
            }
            try context.save()
            withExtendedLifetime(players) {}
        }
        let fresh = container.newBackgroundContext()
        #expect(try fresh.performAndWait { try fresh.all("Team").count } == 0)
        #expect(try fresh.performAndWait { try fresh.all("Player", NSPredicate(format: "team == nil")).count } == 2)
    }

    @Test("is emptied where the merge policy would write it over the row", arguments: [false, true])
    func overwritten(isRequired: Bool) throws {
        let container = try team(isRequired: isRequired)
        let (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
        context.mergePolicy = NSMergePolicy.overwrite
        try context.performAndWait {
            let player = try #require(try context.all("Player", NSPredicate(format: "age == 30")).first)
            let team = try #require(player.value(forKey: "team") as? NSManagedObject)
            #expect(!team.isDeleted && (team.value(forKey: "players") as? NSSet)?.count == 1)
            try other.performAndWait {
                let player = try #require(try other.all("Player", NSPredicate(format: "age == 30")).first)
                if isRequired { player.setValue(other.make("Team"), forKey: "team") }
                other.delete(other.object(with: team.objectID))
                try other.save()
            }
            player.setValue(5, forKey: "age")
            guard !isRequired else {
                let error = #expect(throws: NSError.self) { try context.save() }
                #expect(error?.userInfo[NSValidationKeyErrorKey] as? String == "team")
                return
            }
            try context.save()
            #expect(player.value(forKey: "team") == nil)
            #expect(team.isDeleted || team.managedObjectContext == nil)
            #expect(!context.hasChanges)
        }
        let fresh = container.newBackgroundContext()
        try fresh.performAndWait {
            #expect(try fresh.all("Team").count == (isRequired ? 1 : 0))
            let ages = try fresh.all("Player", NSPredicate(format: "team.captain == nil AND team != nil"))
            #expect(ages.map { $0.value(forKey: "age") as? Int } == (isRequired ? [30] : []))
        }
    }

    @Test("is emptied where the merge policy takes it from the row, and this save deletes its destination")
    func takenFromRow() throws {
        let container = try team()
        let (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
        context.mergePolicy = NSMergePolicy.rollback
        try context.performAndWait {
            let team = try #require(try context.all("Team").first)
            let player = try #require(try context.all("Player", NSPredicate(format: "team != nil")).first)
            #expect(player.value(forKey: "age") as? Int == 30)
            try other.performAndWait {
                for player in try other.all("Player") {
                    player.setValue(player.value(forKey: "age") as? Int == 30 ? 31 : 21, forKey: "age")
                }
                try other.save()
            }
            context.delete(team)
            try context.save()
            #expect(player.value(forKey: "age") as? Int == 31)
            #expect(player.value(forKey: "team") == nil)
        }
        let fresh = container.newBackgroundContext()
        #expect(try fresh.performAndWait { try fresh.all("Player", NSPredicate(format: "team == nil")).count } == 2)
    }

    @Test(
        "is emptied where a policy merges the row, and the object was only set to what it was", arguments: policies,
        [false, true])
    func setToItself(policy: NSMergePolicy, isSet: Bool) throws {
        let author = Library.entity("Author", [Library.attribute("name", .stringAttributeType)])
        let book = Library.entity("Book", [Library.attribute("title", .stringAttributeType)])
        // Without an inverse, so that the author is not changed by the book.
        let relationship = NSRelationshipDescription()
        (relationship.name, relationship.destinationEntity, relationship.maxCount) = ("author", author, 1)
        book.properties.append(relationship)
        let model = NSManagedObjectModel()
        model.entities = [author, book]
        let container = try Library.inMemory(model)
        let (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
        context.mergePolicy = policy
        try context.performAndWait {
            let book = context.make("Book", ["title": "Emma"])
            let author = context.make("Author", ["name": "Ann"])
            try context.save()
            if isSet { author.setValue("Ann", forKey: "name") }
            book.setValue(author, forKey: "author")
            try other.performAndWait {
                for author in try other.all("Author") { other.delete(author) }
                for book in try other.all("Book") { book.setValue("Persuasion", forKey: "title") }
                try other.save()
            }
            try context.save()
            #expect(book.value(forKey: "author") == nil)
            #expect(!context.hasChanges)
        }
        let fresh = container.newBackgroundContext()
        #expect(try fresh.performAndWait { try fresh.all("Book", NSPredicate(format: "author == nil")).count } == 1)
    }
}
