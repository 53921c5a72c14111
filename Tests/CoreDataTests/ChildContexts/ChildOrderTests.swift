import CoreData
import Testing

@Suite("Child contexts: the order of a relationship that the child has not read")
struct ChildOrderTests {
    let family: Family
    let book: NSManagedObjectID

    init() throws {
        let family = try Family()
        self.family = family
        book = try family.parent.performAndWait {
            let book = family.parent.make("Book")
            for title in ["1", "2"] { family.parent.make("Chapter", ["title": title, "book": book]) }
            try family.parent.save()
            return book.objectID
        }
    }

    /// Makes chapters, which come to the book by their own side.
    private func add(_ titles: String..., in context: NSManagedObjectContext) {
        for title in titles { context.make("Chapter", ["title": title, "book": context.object(with: book)]) }
    }

    private func titles(in context: NSManagedObjectContext) -> [String?] {
        context.performAndWait {
            let chapters = context.object(with: book).value(forKey: "chapters") as? NSOrderedSet
            return (chapters ?? []).map { ($0 as? NSManagedObject)?.string("title") }
        }
    }

    /// The titles in the parent, which must be those that another context reads from the store afterwards.
    private func savedTitles() throws -> [String?] {
        let titles = titles(in: family.parent)
        try family.parent.performAndWait { try family.parent.save() }
        #expect(self.titles(in: family.container.newBackgroundContext()) == titles)
        return titles
    }

    @Test("New objects go to its end in the parent, whether the parent has read it or not", arguments: [false, true])
    func appended(isRead: Bool) throws {
        family.parent.performAndWait { family.parent.reset() }
        if isRead { #expect(titles(in: family.parent) == ["1", "2"]) }
        try family.child.performAndWait {
            add("3", "4", in: family.child)
            try family.child.save()
        }
        #expect(try savedTitles() == ["1", "2", "3", "4"])
    }

    @Test("They follow those that the parent has not saved either, child after child")
    func afterUnsaved() throws {
        family.parent.performAndWait { add("3", in: family.parent) }
        for title in ["4", "5"] {
            let child = Family.child(of: family.parent)
            try child.performAndWait {
                add(title, in: child)
                try child.save()
            }
        }
        #expect(try savedTitles() == ["1", "2", "3", "4", "5"])
    }

    @Test("So they do from grandchildren, through a child that has not read it")
    func grandchildren() throws {
        for title in ["3", "4"] {
            let grandchild = Family.child(of: family.child)
            try grandchild.performAndWait {
                add(title, in: grandchild)
                try grandchild.save()
            }
        }
        try family.child.performAndWait { try family.child.save() }
        #expect(try savedTitles() == ["1", "2", "3", "4"])
    }

    @Test("A member that left and came back is at its end")
    func returned() throws {
        let first = try family.parent.performAndWait {
            try #require(try family.parent.all("Chapter", by: "title").first).objectID
        }
        try family.child.performAndWait {
            let chapter = family.child.object(with: first)
            chapter.setValue(nil, forKey: "book")
            chapter.setValue(family.child.object(with: book), forKey: "book")
            try family.child.save()
        }
        #expect(try savedTitles() == ["2", "1"])
    }
}
