import CoreData
import Testing

@Suite("Child contexts: what others save between a child's reading and its saving")
struct ChildConflictTests {
    let family: Family
    let author: NSManagedObjectID
    var parent: NSManagedObjectContext { family.parent }

    init() throws {
        let family = try Family()
        self.family = family
        author = try family.parent.performAndWait {
            let author = family.parent.make("Author", ["name": "A", "age": 1])
            try family.parent.save()
            return author.objectID
        }
    }

    /// The contexts from the one that saves to the store down to a child, or a child's child.
    private func contexts(_ levels: Int) -> [NSManagedObjectContext] {
        var contexts = [parent]
        for _ in 1..<levels { contexts.append(Family.child(of: contexts[contexts.count - 1])) }
        return contexts
    }

    private func saveByAnother(_ age: Int) throws {
        let other = family.container.newBackgroundContext()
        try other.performAndWait {
            other.object(with: author).setValue(age, forKey: "age")
            try other.save()
        }
    }

    private func save(_ contexts: [NSManagedObjectContext]) throws {
        for context in contexts.reversed() { try context.performAndWait { try context.save() } }
    }

    @Test("is a conflict when the top saves, and is not overwritten", arguments: [2, 3])
    func lostUpdate(levels: Int) throws {
        let contexts = contexts(levels)
        let child = contexts[levels - 1]
        let object = try child.performAndWait { try child.existingObject(with: author) }
        let age = try #require(child.performAndWait { object.value(forKey: "age") as? Int })
        try saveByAnother(10)
        child.performAndWait { object.setValue(age + 1, forKey: "age") }
        let error = #expect(throws: NSError.self) { try save(contexts) }
        #expect(error?.code == NSManagedObjectMergeError)
        #expect(try family.column("SELECT ZAGE FROM ZAUTHOR") == ["10"])
    }

    @Test("is kept by a policy by which properties are merged", arguments: [2, 3])
    func merged(levels: Int) throws {
        let contexts = contexts(levels)
        let child = contexts[levels - 1]
        parent.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
        let object = try child.performAndWait { try child.existingObject(with: author) }
        try saveByAnother(10)
        child.performAndWait { object.setValue("B", forKey: "name") }
        try save(contexts)
        #expect(try family.column("SELECT ZNAME || ZAGE FROM ZAUTHOR") == ["B10"])
    }

    @Test("is not deleted unseen", arguments: [2, 3])
    func deleted(levels: Int) throws {
        let contexts = contexts(levels)
        let child = contexts[levels - 1]
        let object = try child.performAndWait { try child.existingObject(with: author) }
        try saveByAnother(10)
        child.performAndWait { child.delete(object) }
        let error = #expect(throws: NSError.self) { try save(contexts) }
        #expect(error?.code == NSManagedObjectMergeError)
        #expect(try family.column("SELECT ZAGE FROM ZAUTHOR") == ["10"])
    }

    @Test(
        "is not a conflict where the child itself has saved, others saved other objects, or the child refreshed",
        arguments: [2, 3])
    func ownSaves(levels: Int) throws {
        let contexts = contexts(levels)
        let child = contexts[levels - 1]
        let object = try child.performAndWait { try child.existingObject(with: author) }
        let made = child.performAndWait { child.make("Author", ["name": "M", "age": 0]) }
        for round in 1...4 {
            let other = family.container.newBackgroundContext()
            try other.performAndWait {
                other.make("Author", ["name": "O", "age": 0])
                try other.save()
            }
            child.performAndWait {
                object.setValue(round, forKey: "age")
                made.setValue(round, forKey: "age")
            }
            try save(contexts)
        }
        try saveByAnother(20)
        child.performAndWait {
            child.refresh(object, mergeChanges: false)
            object.setValue((object.value(forKey: "age") as? Int ?? 0) + 1, forKey: "age")
        }
        try save(contexts)
        #expect(try family.column("SELECT ZNAME || ZAGE FROM ZAUTHOR WHERE ZNAME <> 'O' ORDER BY 1") == ["A21", "M4"])
    }
}
