import CoreData
import Testing

@MainActor @Suite("Conflicts between contexts, by merge policy")
struct ConflictTests {
    let container: NSPersistentContainer
    let first: NSManagedObjectContext
    let second: NSManagedObjectContext

    init() throws {
        container = try Library.inMemory()
        first = container.newBackgroundContext()
        second = container.newBackgroundContext()
        try first.performAndWait { [first] in
            first.make("Author", ["name": "A", "age": 1])
            try first.save()
        }
    }

    /// Both contexts read the author; the first sets the age to 2; the second sets the name to B and saves.
    private func conflict(_ policy: NSMergePolicy) throws -> NSManagedObject {
        second.mergePolicy = policy
        let mine = try #require(try second.all("Author").first)
        _ = mine.value(forKey: "name")
        let theirs = try #require(try first.all("Author").first)
        theirs.setValue(2, forKey: "age")
        theirs.setValue("Z", forKey: "name")
        try first.save()
        mine.setValue("B", forKey: "name")
        try second.save()
        return mine
    }

    @Test("The error policy refuses the save and names the conflict")
    func error() throws {
        let error = #expect(throws: NSError.self) { try conflict(.error) }
        #expect(error?.code == 133020)
        let conflicts = error?.userInfo["conflictList"] as? [NSMergeConflict]
        #expect(conflicts?.first?.oldVersionNumber == 1)
        #expect(conflicts?.first?.newVersionNumber == 2)
        // Another context of the coordinator saved: the conflict is with what the coordinator knows.
        #expect(conflicts?.first?.cachedSnapshot?["name"] as? String == "Z")
        #expect(conflicts?.first?.persistedSnapshot == nil)
    }

    @Test("Object trump keeps the context's changes and takes the store's others")
    func objectTrump() throws {
        let author = try conflict(.mergeByPropertyObjectTrump)
        #expect(author.string("name") == "B")
        #expect(author.value(forKey: "age") as? Int == 2)
    }

    @Test("Store trump takes the store's changes")
    func storeTrump() throws {
        let author = try conflict(.mergeByPropertyStoreTrump)
        #expect(author.string("name") == "Z")
        #expect(author.value(forKey: "age") as? Int == 2)
    }

    @Test("Overwrite writes the context's object whole")
    func overwrite() throws {
        let author = try conflict(.overwrite)
        #expect(author.string("name") == "B")
        #expect(author.value(forKey: "age") as? Int == 1)
        first.reset()
        #expect(try first.all("Author").first?.value(forKey: "age") as? Int == 1)
    }

    @Test("Rollback forgets the context's changes")
    func rollback() throws {
        let author = try conflict(.rollback)
        #expect(author.string("name") == "Z")
        #expect(!second.hasChanges)
    }
}

@MainActor @Suite("Uniqueness constraints, by merge policy")
struct UniquenessTests {
    let context: NSManagedObjectContext
    let container: NSPersistentContainer

    init() throws {
        let user = Library.entity(
            "User",
            [
                Library.attribute("uid", .stringAttributeType), Library.attribute("name", .stringAttributeType),
            ])
        user.uniquenessConstraints = [["uid"]]
        let model = NSManagedObjectModel()
        model.entities = [user]
        container = try Library.inMemory(model)
        context = container.viewContext
        context.make("User", ["uid": "1", "name": "old"])
        try context.save()
    }

    @Test("The error policy refuses a second object and names the values")
    func error() throws {
        context.make("User", ["uid": "1", "name": "new"])
        let error = #expect(throws: NSError.self) { try context.save() }
        #expect(error?.code == 133021)
        #expect(error?.localizedDescription.contains("uid = 1") == true)
        context.rollback()
        #expect(try context.all("User").count == 1)
    }

    @Test("Object trump updates the row that is there")
    func objectTrump() throws {
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        context.make("User", ["uid": "1", "name": "new"])
        try context.save()
        let users = try context.all("User")
        #expect(users.map { $0.string("name") } == ["new"])
    }

    @Test("Store trump keeps the row that is there")
    func storeTrump() throws {
        context.mergePolicy = NSMergePolicy.mergeByPropertyStoreTrump
        context.make("User", ["uid": "1", "name": "new"])
        try context.save()
        let users = try context.all("User")
        #expect(users.map { $0.string("name") } == ["old"])
    }

    @Test("Two new objects with the same values become one")
    func twoNew() throws {
        context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        context.make("User", ["uid": "2", "name": "first"])
        context.make("User", ["uid": "2", "name": "second"])
        try context.save()
        let users = try context.all("User", by: "uid")
        #expect(users.map { $0.string("name") } == ["old", "second"])
    }
}
