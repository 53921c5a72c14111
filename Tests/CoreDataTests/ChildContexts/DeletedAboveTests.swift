import CoreData
import Testing

@Suite("A child context's changes of an object that was deleted above")
struct DeletedAboveTests {
    /// A parent with a note that a child has changed.
    private func changedNote(_ policy: NSMergePolicy) throws -> (
        container: NSPersistentContainer, parent: NSManagedObjectContext, child: NSManagedObjectContext
    ) {
        let note = Library.entity("Note", [Library.attribute("name", .stringAttributeType)])
        let model = NSManagedObjectModel()
        model.entities = [note]
        let container = try Library.inMemory(model)
        let parent = container.newBackgroundContext()
        try parent.performAndWait {
            parent.make("Note", ["name": "old"])
            try parent.save()
            parent.reset()
        }
        let child = Family.child(of: parent)
        child.mergePolicy = policy
        try child.performAndWait { try child.all("Note").first?.setValue("new", forKey: "name") }
        return (container, parent, child)
    }

    private func names(_ container: NSPersistentContainer) throws -> [String?] {
        let fresh = container.newBackgroundContext()
        return try fresh.performAndWait { try fresh.all("Note").map { $0.string("name") } }
    }

    @Test("are a conflict, also where the parent has not read the object", arguments: [false, true])
    func deletedAbove(isRead: Bool) throws {
        let (container, parent, child) = try changedNote(.error)
        try parent.performAndWait {
            let note = try #require(try parent.all("Note").first)
            if isRead { #expect(note.string("name") == "old") }
            parent.delete(note)
        }
        let error = #expect(throws: NSError.self) { try child.performAndWait { try child.save() } }
        #expect(error?.code == NSManagedObjectMergeError)
        #expect(child.performAndWait { child.hasChanges })
        try parent.performAndWait { try parent.save() }
        #expect(try names(container) == [])
    }

    @Test(
        "bring back the object that the parent or another context deleted, if the child's merge policy says so",
        arguments: [NSMergePolicy.overwrite, .mergeByPropertyObjectTrump], ["read", "unread", "merged", "merged read"])
    func broughtBack(policy: NSMergePolicy, how: String) throws {
        let (container, parent, child) = try changedNote(policy)
        try parent.performAndWait {
            let note = try #require(try parent.all("Note").first)
            if how.hasSuffix("read"), how != "unread" { #expect(note.string("name") == "old") }
            guard how.hasPrefix("merged") else { return parent.delete(note) }
            parent.automaticallyMergesChangesFromParent = true
            let other = container.newBackgroundContext()
            try other.performAndWait {
                for note in try other.all("Note") { other.delete(note) }
                try other.save()
            }
            #expect(note.isDeleted)
        }
        try child.performAndWait { try child.save() }
        try parent.performAndWait { try parent.save() }
        #expect(try names(container) == ["new"])
        // Both go on with the object.
        for (context, name) in [(child, "newer"), (parent, "newest")] {
            try context.performAndWait {
                try #require(try context.all("Note").first).setValue(name, forKey: "name")
                try context.save()
            }
            try parent.performAndWait { try parent.save() }
            #expect(try names(container) == [name])
        }
    }

    @Test("are lost with the object if the child's merge policy says so", arguments: [true, false])
    func givenUp(isRolledBack: Bool) throws {
        let (container, parent, child) = try changedNote(
            isRolledBack ? .rollback : .mergeByPropertyStoreTrump)
        try parent.performAndWait { for note in try parent.all("Note") { parent.delete(note) } }
        try child.performAndWait { try child.save() }
        try parent.performAndWait { try parent.save() }
        #expect(try names(container) == [])
    }
}
