import CoreData
import Testing

@Suite("Child contexts: IDs and merging")
struct ChildIdentifierTests {
    let family: Family
    var parent: NSManagedObjectContext { family.parent }
    var child: NSManagedObjectContext { family.child }

    init() throws { family = try Family() }

    @Test("A new object keeps its temporary ID in child and parent until the parent saves")
    func temporaryUntilParentSaves() throws {
        let author = try child.performAndWait {
            let author = child.make("Author", ["name": "A"])
            try child.save()
            #expect(author.objectID.isTemporaryID)
            return Unchecked(author)
        }
        try parent.performAndWait {
            let counterpart = try #require(parent.insertedObjects.first)
            #expect(counterpart.objectID == child.performAndWait { author.value.objectID })
            try parent.save()
        }
        try child.performAndWait {
            #expect(!author.value.objectID.isTemporaryID)
            let found = try child.all("Author")
            #expect(found.map { $0 === author.value } == [true])
        }
    }

    @Test("A relationship to an object that was saved under a permanent ID still leads to it")
    func relationshipAcrossPromotion() throws {
        try child.performAndWait {
            let author = child.make("Author", ["name": "A"])
            let book = child.make("Book", ["title": "T", "author": author])
            try child.save()
            try parent.performAndWait { try parent.save() }
            child.refresh(book, mergeChanges: false)
            #expect(book.value(forKey: "author") as? NSManagedObject === author)
            author.setValue("B", forKey: "name")
            try child.save()
        }
        try parent.performAndWait { try parent.save() }
        #expect(try family.column("SELECT ZNAME FROM ZAUTHOR") == ["B"])
    }

    @Test("obtainPermanentIDs in a child gives IDs that child, parent and store agree on")
    func obtain() throws {
        let identifier = try child.performAndWait {
            let author = child.make("Author", ["name": "A"])
            try child.obtainPermanentIDs(for: [author])
            #expect(!author.objectID.isTemporaryID)
            try child.save()
            return author.objectID
        }
        try parent.performAndWait {
            #expect(parent.registeredObject(for: identifier)?.isInserted == true)
            try parent.save()
        }
        let key = try family.column("SELECT Z_PK FROM ZAUTHOR")
        #expect(identifier.uriRepresentation().lastPathComponent == "p\(key[0])")
    }

    @Test("obtainPermanentIDs works for an object that was saved to the parent already")
    func obtainAfterSave() throws {
        try child.performAndWait {
            let author = child.make("Author", ["name": "A"])
            try child.save()
            try child.obtainPermanentIDs(for: [author])
            #expect(!author.objectID.isTemporaryID)
            let identifier = author.objectID
            parent.performAndWait { #expect(parent.registeredObject(for: identifier)?.isInserted == true) }
        }
    }

    // INCoreData's tests, which pass on Apple's framework, ask for both halves.
    @Test("A child that merges automatically takes what a sibling saves to the parent when the parent saves it")
    func siblings() async throws {
        let sibling = Family.child(of: parent)
        sibling.automaticallyMergesChangesFromParent = true
        let identifier = try parent.performAndWait {
            let author = parent.make("Author", ["name": "A"])
            try parent.save()
            return author.objectID
        }
        let seen = sibling.performAndWait {
            let author = sibling.object(with: identifier)
            #expect(author.string("name") == "A")
            return Unchecked(author)
        }
        try child.performAndWait {
            child.object(with: identifier).setValue("B", forKey: "name")
            try child.save()
        }
        await sibling.perform { #expect(seen.value.string("name") == "A") }
        try parent.performAndWait { try parent.save() }
        // After the merge, which waits on the sibling's queue already.
        await sibling.perform { #expect(seen.value.string("name") == "B") }
    }

    @Test("A child that does not merge keeps the values that it has")
    func noMerging() throws {
        let identifier = parent.performAndWait { parent.make("Author", ["name": "A"]).objectID }
        child.performAndWait {
            let author = child.object(with: identifier)
            #expect(author.string("name") == "A")
            parent.performAndWait { parent.object(with: identifier).setValue("B", forKey: "name") }
            #expect(author.string("name") == "A")
        }
    }
}

/// An object that a test takes from block to block of its queue.
struct Unchecked<Value>: @unchecked Sendable {
    // @unchecked Sendable: used on the queue of the value's context only.
    let value: Value
    init(_ value: Value) { self.value = value }
}
