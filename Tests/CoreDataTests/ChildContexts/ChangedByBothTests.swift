import CoreData
import TestSupport
import Testing

/// The child knows one end of a relationship from before the parent changed it, and the other end from afterwards.
@Suite("Child contexts: both ends of relationships that the parent changed while the child knew only one")
struct ChangedByBothTests {
    private let family: Family
    private var parent: NSManagedObjectContext { family.parent }
    private var child: NSManagedObjectContext { family.child }

    init() throws { family = try Family() }

    /// Makes objects in the parent, and saves them.
    private func make(_ objects: (String, [String: Any?])...) throws -> [NSManagedObjectID] {
        let parent = parent
        return try parent.performAndWait {
            let made = objects.map { parent.make($0.0, $0.1) }
            try parent.save()
            return made.map(\.objectID)
        }
    }

    @Test("A place that the child takes from a shelf known as empty is empty in the parent, too")
    func oneToOne() throws {
        let ids = try make(("Book", ["title": "B"]), ("Shelf", ["code": "old"]), ("Shelf", ["code": "new"]))
        let (parent, child) = (parent, child)
        try child.performAndWait {
            let old = child.object(with: ids[1])
            #expect(old.value(forKey: "book") == nil)
            parent.performAndWait {
                parent.object(with: ids[0]).setValue(parent.object(with: ids[1]), forKey: "shelf")
            }
            child.object(with: ids[0]).setValue(child.object(with: ids[2]), forKey: "shelf")
            try child.save()
            withExtendedLifetime(old) {}
        }
        parent.performAndWait {
            #expect(parent.object(with: ids[1]).value(forKey: "book") == nil)
            #expect(
                parent.object(with: ids[2]).value(forKey: "book") as? NSManagedObject == parent.object(with: ids[0]))
        }
    }

    @Test("A book that the child gives to an author who has it there already is among the author's in the parent")
    func toMany() throws {
        let ids = try make(("Author", ["name": "A"]), ("Book", ["title": "B"]))
        let (parent, child) = (parent, child)
        try parent.performAndWait {
            parent.object(with: ids[1]).setValue(parent.object(with: ids[0]), forKey: "author")
            try parent.save()
        }
        try child.performAndWait {
            let author = child.object(with: ids[0])
            #expect(author.objects("books").count == 1)
            parent.performAndWait { parent.object(with: ids[1]).setValue(nil, forKey: "author") }
            let book = child.object(with: ids[1])
            child.refresh(book, mergeChanges: false)
            #expect(book.value(forKey: "author") == nil)
            book.setValue(author, forKey: "author")
            try child.save()
        }
        parent.performAndWait {
            #expect(parent.object(with: ids[0]).objects("books").map(\.objectID) == [ids[1]])
        }
    }

    @Test("A pair that the child adds to one end, and knows at the other, is stored")
    func manyToMany() throws {
        let ids = try make(("Book", ["title": "B"]), ("Tag", ["name": "T"]))
        let (parent, child) = (parent, child)
        try parent.performAndWait {
            parent.object(with: ids[0]).mutableSetValue(forKey: "tags").add(parent.object(with: ids[1]))
            try parent.save()
        }
        try child.performAndWait {
            let tag = child.object(with: ids[1])
            #expect(tag.objects("books").count == 1)
            parent.performAndWait {
                parent.object(with: ids[0]).mutableSetValue(forKey: "tags").remove(parent.object(with: ids[1]))
            }
            let book = child.object(with: ids[0])
            child.refresh(book, mergeChanges: false)
            #expect(book.objects("tags").isEmpty)
            book.mutableSetValue(forKey: "tags").add(tag)
            try child.save()
        }
        try parent.performAndWait {
            #expect(parent.object(with: ids[1]).objects("books").map(\.objectID) == [ids[0]])
            try parent.save()
        }
        let fresh = family.container.newBackgroundContext()
        fresh.performAndWait {
            #expect(fresh.object(with: ids[0]).objects("tags").map(\.objectID) == [ids[1]])
            #expect(fresh.object(with: ids[1]).objects("books").map(\.objectID) == [ids[0]])
        }
    }

    @Test("A member that the child adds once more from its own side, unread, keeps its place in the parent's order")
    func addedAgain() throws {
        let list = Library.entity("List", [Library.attribute("name", .stringAttributeType)])
        let song = Library.entity("Song", [Library.attribute("title", .stringAttributeType)])
        Library.connect(list, "songs", toMany: true, ordered: true, song, "lists", inverseToMany: true)
        let model = NSManagedObjectModel()
        model.entities = [list, song]
        let container = try Library.inMemory(model)
        let parent = container.newBackgroundContext()
        let child = Family.child(of: parent)
        let (id, first) = try parent.performAndWait {
            let songs = ["1", "2", "3"].map { parent.make("Song", ["title": $0]) }
            let list = parent.make("List", ["songs": NSOrderedSet(array: songs)])
            try parent.save()
            return (list.objectID, songs[0].objectID)
        }
        try child.performAndWait {
            child.object(with: first).mutableSetValue(forKey: "lists").add(child.object(with: id))
            try child.save()
        }
        parent.performAndWait {
            let songs = parent.object(with: id).value(forKey: "songs") as? NSOrderedSet ?? []
            #expect(songs.map { ($0 as? NSManagedObject)?.string("title") } == ["1", "2", "3"])
        }
    }
}
