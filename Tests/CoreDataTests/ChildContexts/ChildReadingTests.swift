import CoreData
import Testing

@Suite("Child contexts: reading through the parent")
struct ChildReadingTests {
    let family: Family
    var parent: NSManagedObjectContext { family.parent }
    var child: NSManagedObjectContext { family.child }

    init() throws { family = try Family() }

    @Test("A child has its parent's coordinator")
    func coordinator() {
        #expect(child.persistentStoreCoordinator === parent.persistentStoreCoordinator)
        #expect(child.parent === parent)
    }

    @Test("A child's fetch finds what the parent has not saved")
    func unsavedInsertion() throws {
        let identifier = parent.performAndWait { parent.make("Author", ["name": "A"]).objectID }
        try child.performAndWait {
            let found = try #require(try child.all("Author").first)
            #expect(found.objectID == identifier)
            #expect(found.string("name") == "A")
            #expect(found.managedObjectContext === child)
        }
    }

    @Test("A child sees the parent's unsaved values, and neither what it deleted nor what matches no more")
    func unsavedChanges() throws {
        try parent.performAndWait {
            for name in ["A", "B", "C"] { parent.make("Author", ["name": name]) }
            try parent.save()
            let authors = try parent.all("Author", by: "name")
            authors[0].setValue("Z", forKey: "name")
            parent.delete(authors[1])
        }
        try child.performAndWait {
            let found = try child.all("Author", by: "name")
            #expect(found.map { $0.string("name") } == ["C", "Z"])
            let matching = try child.all("Author", NSPredicate(format: "name = 'A'"))
            #expect(matching.isEmpty)
            #expect(try child.count(for: NSFetchRequest<NSManagedObject>(entityName: "Author")) == 2)
        }
    }

    @Test("A child's own changes come on top of the parent's")
    func changesOnTop() throws {
        parent.performAndWait { _ = parent.make("Author", ["name": "A"]) }
        try child.performAndWait {
            let author = try #require(try child.all("Author").first)
            author.setValue("B", forKey: "name")
            child.make("Author", ["name": "C"])
            #expect(try child.all("Author", by: "name").map { $0.string("name") } == ["B", "C"])
        }
        try parent.performAndWait {
            let found = try parent.all("Author", by: "name")
            #expect(found.map { $0.string("name") } == ["A"])
        }
    }

    @Test("A fault that is fired in a child takes the values that the parent has by then")
    func faultFiredLater() throws {
        try parent.performAndWait {
            parent.make("Author", ["name": "A"])
            try parent.save()
        }
        try child.performAndWait {
            let author = try #require(try child.all("Author").first)
            #expect(author.isFault)
            try parent.performAndWait { try parent.all("Author").first?.setValue("B", forKey: "name") }
            #expect(author.string("name") == "B")
        }
    }

    @Test("Relationships are followed through the parent's unsaved changes")
    func relationships() throws {
        parent.performAndWait {
            let author = parent.make("Author", ["name": "A"])
            parent.make("Book", ["title": "T", "author": author])
        }
        try child.performAndWait {
            let author = try #require(try child.all("Author").first)
            #expect(author.objects("books").map { $0.string("title") } == ["T"])
            let book = try #require(try child.all("Book").first)
            #expect(book.value(forKeyPath: "author.name") as? String == "A")
        }
    }

    @Test("object(with:) and existingObject(with:) find the parent's unsaved objects by their temporary IDs")
    func byIdentifier() throws {
        let identifier = parent.performAndWait { parent.make("Author", ["name": "A"]).objectID }
        #expect(identifier.isTemporaryID)
        try child.performAndWait {
            let existing = try child.existingObject(with: identifier)
            #expect(existing.string("name") == "A")
            #expect(child.object(with: identifier) === existing)
        }
    }

    @Test("existingObject(with:) throws for an object that the parent deleted without saving")
    func deletedInParent() throws {
        let identifier = try parent.performAndWait {
            let author = parent.make("Author", ["name": "A"])
            try parent.save()
            parent.delete(author)
            return author.objectID
        }
        child.performAndWait {
            let error = #expect(throws: NSError.self) { try child.existingObject(with: identifier) }
            #expect(error?.code == 133000)
        }
    }

    @Test("A batch of a child is loaded at once, and dictionaries and IDs are fetched, through the parent")
    func otherResults() throws {
        try parent.performAndWait {
            for number in 0..<10 { parent.make("Author", ["name": "A\(number)"]) }
            try parent.save()
        }
        try child.performAndWait {
            let batched = NSFetchRequest<NSManagedObject>(entityName: "Author")
            batched.fetchBatchSize = 5
            batched.sortDescriptors = [NSSortDescriptor(key: "name", ascending: true)]
            let authors = try child.fetch(batched)
            #expect(authors[0].string("name") == "A0")
            #expect(authors.map(\.isFault) == Array(repeating: false, count: 5) + Array(repeating: true, count: 5))
            let dictionaries = NSFetchRequest<NSDictionary>(entityName: "Author")
            dictionaries.resultType = .dictionaryResultType
            dictionaries.propertiesToFetch = ["name"]
            #expect(try child.fetch(dictionaries).count == 10)
            let identifiers = NSFetchRequest<NSManagedObjectID>(entityName: "Author")
            identifiers.resultType = .managedObjectIDResultType
            #expect(try child.fetch(identifiers).count == 10)
        }
    }

    @Test("A grandchild reads through both contexts above it")
    func grandchild() throws {
        let grandchild = Family.child(of: child)
        parent.performAndWait { _ = parent.make("Author", ["name": "A"]) }
        child.performAndWait { _ = child.make("Author", ["name": "B"]) }
        try grandchild.performAndWait {
            let found = try grandchild.all("Author", by: "name")
            #expect(found.map { $0.string("name") } == ["A", "B"])
        }
    }

    @Test("refresh(_:mergeChanges: true) takes the parent's values under the changes made in the child")
    func refresh() throws {
        let identifier = parent.performAndWait {
            parent.make("Author", ["name": "A", "age": 1]).objectID
        }
        child.performAndWait {
            let author = child.object(with: identifier)
            author.setValue("mine", forKey: "name")
            parent.performAndWait {
                parent.object(with: identifier).setValue("theirs", forKey: "name")
                parent.object(with: identifier).setValue(2, forKey: "age")
            }
            child.refresh(author, mergeChanges: true)
            #expect(author.string("name") == "mine")
            #expect(author.value(forKey: "age") as? Int == 2)
            child.refresh(author, mergeChanges: false)
            #expect(author.string("name") == "theirs")
        }
    }
}
