import CoreData
import Testing

@Suite("Permanent IDs that a child context obtains")
struct ChildPermanentIDTests {
    private let family: Family
    private let contexts: [NSManagedObjectContext]

    init() throws {
        family = try Family()
        contexts = [family.parent, family.child, Family.child(of: family.child)]
    }

    private func saveAll(upTo level: Int) throws {
        for context in contexts[...level].reversed() { try context.performAndWait { try context.save() } }
    }

    private func books(_ format: String) throws -> Int {
        let fresh = family.container.newBackgroundContext()
        return try fresh.performAndWait { try fresh.all("Book", NSPredicate(format: format)).count }
    }

    @Test("leave the to-one relationships that were set before", arguments: [1, 2], [false, true])
    func new(level: Int, ofAll: Bool) throws {
        let child = contexts[level]
        try child.performAndWait {
            let author = child.make("Author", ["name": "A"])
            child.make("Book", ["title": "T", "author": author])
            try child.obtainPermanentIDs(for: ofAll ? Array(child.insertedObjects) : [author])
        }
        try saveAll(upTo: level)
        #expect(try books("author.name == 'A'") == 1)
    }

    @Test("leave those of objects that were saved before", arguments: [1, 2])
    func changed(level: Int) throws {
        let child = contexts[level]
        _ = child.performAndWait { child.make("Book", ["title": "T"]) }
        try saveAll(upTo: level)
        try child.performAndWait {
            let author = child.make("Author", ["name": "A"])
            try #require(try child.all("Book").first).setValue(author, forKey: "author")
            try child.obtainPermanentIDs(for: [author])
        }
        try saveAll(upTo: level)
        #expect(try books("author.name == 'A'") == 1)
    }

    @Test("leave those that were saved from a context below")
    func below() throws {
        let (middle, child) = (contexts[1], contexts[2])
        try child.performAndWait {
            child.make("Book", ["title": "T", "author": child.make("Author", ["name": "A"])])
            try child.save()
        }
        try middle.performAndWait {
            try middle.obtainPermanentIDs(for: try middle.all("Author"))
            let book = try #require(try middle.all("Book").first)
            #expect((book.value(forKey: "author") as? NSManagedObject)?.string("name") == "A")
        }
        try saveAll(upTo: 2)
        #expect(try books("author.name == 'A'") == 1)
    }
}
