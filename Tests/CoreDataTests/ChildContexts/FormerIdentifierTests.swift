import CoreData
import Testing

@Suite("Contexts below contexts: objects under the IDs that they had before they were saved")
struct FormerIdentifierTests {
    let family: Family
    let grandchild: NSManagedObjectContext
    var parent: NSManagedObjectContext { family.parent }
    var child: NSManagedObjectContext { family.child }

    init() throws {
        family = try Family()
        grandchild = Family.child(of: family.child)
    }

    /// Saves what the grandchild has changed, up to the store.
    private func saveAll() throws {
        try grandchild.performAndWait { try grandchild.save() }
        try child.performAndWait { try child.save() }
        try parent.performAndWait { try parent.save() }
    }

    private func makeAuthor() -> Unchecked<NSManagedObject> {
        grandchild.performAndWait { Unchecked(grandchild.make("Author", ["name": "A"])) }
    }

    @Test("A grandchild's object has its permanent ID once the grandchild is at work, even if its parent was not")
    func grandchildIsTold() throws {
        let author = makeAuthor()
        try saveAll()
        grandchild.performAndWait { #expect(!author.value.objectID.isTemporaryID) }
        let stored = try parent.performAndWait { try parent.all("Author").map(\.objectID) }
        grandchild.performAndWait { #expect([author.value.objectID] == stored) }
    }

    @Test("A grandchild that was told before its parent was finds its object by both IDs")
    func toldBeforeParent() throws {
        let author = makeAuthor()
        let temporary = grandchild.performAndWait { author.value.objectID }
        try grandchild.performAndWait { try grandchild.save() }
        // Held, so that the child knows it by the temporary ID when the grandchild asks.
        let held = child.performAndWait { Unchecked(child.object(with: temporary)) }
        try child.performAndWait { try child.save() }
        try parent.performAndWait { try parent.save() }
        grandchild.performAndWait {
            #expect(grandchild.object(with: temporary) === author.value)
            #expect(grandchild.object(with: author.value.objectID) === author.value)
        }
        child.performAndWait { #expect(child.object(with: temporary) === held.value) }
    }

    @Test("A grandchild that its parent got after the save, before it was told, is told, too")
    func lateGrandchild() throws {
        let author = child.performAndWait { Unchecked(child.make("Author", ["name": "A"])) }
        let late = try child.performAndWait {
            try child.save()
            try parent.performAndWait { try parent.save() }
            let late = Family.child(of: child)
            let identifier = author.value.objectID
            #expect(identifier.isTemporaryID)
            late.performAndWait { #expect(late.object(with: identifier).string("name") == "A") }
            return late
        }
        child.performAndWait { #expect(!author.value.objectID.isTemporaryID) }
        late.performAndWait { #expect(late.registeredObjects.allSatisfy { !$0.objectID.isTemporaryID }) }
    }

    @Test("A context finds the object that it saved by the temporary ID, and what is set on it is saved")
    func askedByTemporaryIdentifier() throws {
        let author = makeAuthor()
        let temporary = grandchild.performAndWait { author.value.objectID }
        #expect(temporary.isTemporaryID)
        try saveAll()
        for context in [grandchild, child, parent] {
            try context.performAndWait {
                let found = context.object(with: temporary)
                #expect(!found.objectID.isTemporaryID)
                let existing = try context.existingObject(with: temporary)
                #expect(existing === found)
                #expect(context.registeredObject(for: temporary) === found)
            }
        }
        try parent.performAndWait {
            parent.object(with: temporary).setValue("B", forKey: "name")
            try parent.save()
        }
        #expect(try family.column("SELECT ZNAME FROM ZAUTHOR") == ["B"])
    }

    @Test("A block of a child's that saves up to the store may go on with the ID that its object still has")
    func withinOneBlock() throws {
        try child.performAndWait {
            let author = child.make("Author", ["name": "A"])
            try child.save()
            try parent.performAndWait { try parent.save() }
            let identifier = author.objectID
            try parent.performAndWait {
                parent.object(with: identifier).setValue("B", forKey: "name")
                try parent.save()
            }
        }
        #expect(try family.column("SELECT ZNAME FROM ZAUTHOR") == ["B"])
    }

    @Test("Relationships of an object that still has its temporary ID are read of the object that was saved")
    func relationshipsWithinOneBlock() throws {
        try child.performAndWait {
            let author = child.make("Author", ["name": "A"])
            do {
                let book = child.make("Book", ["title": "T", "author": author])
                try child.save()
                try parent.performAndWait { try parent.save() }
                child.refresh(book, mergeChanges: false)
            }
            child.refresh(author, mergeChanges: false)
            let books = author.value(forKey: "books") as? Set<NSManagedObject>
            #expect(books?.map { $0.string("title") } == ["T"])
        }
    }

    @Test("A temporary ID that a context gave away for a permanent one leads to the object before it is saved")
    func obtained() throws {
        try parent.performAndWait {
            let author = parent.make("Author", ["name": "A"])
            let temporary = author.objectID
            try parent.obtainPermanentIDs(for: [author])
            #expect(parent.object(with: temporary) === author)
        }
    }

    @Test("Each of many objects of several entities is found by the ID that it had")
    func many() throws {
        try parent.performAndWait {
            var objects: [NSManagedObject] = []
            for number in 0..<60 {
                objects.append(parent.make("Author", ["name": "\(number)"]))
                if number % 3 == 0 { objects.append(parent.make("Book", ["title": "\(number)"])) }
            }
            let temporary = objects.map(\.objectID)
            try parent.save()
            #expect(temporary.map { parent.object(with: $0) } == objects)
            #expect(objects.allSatisfy { !$0.objectID.isTemporaryID })
        }
    }

    @Test("A save that failed leaves the temporary ID the object's own")
    func failedSave() throws {
        parent.performAndWait {
            let author = parent.make("Author", ["name": "A"])
            let temporary = author.objectID
            parent.make("Author")
            #expect(throws: (any Error).self) { try parent.save() }
            #expect(author.objectID == temporary)
            #expect(parent.object(with: temporary) === author)
        }
    }

    @Test("A context that never had the object does not find it by its temporary ID")
    func otherContext() throws {
        let author = makeAuthor()
        let temporary = grandchild.performAndWait { author.value.objectID }
        try saveAll()
        let other = family.container.newBackgroundContext()
        #expect(throws: (any Error).self) {
            try other.performAndWait { _ = try other.existingObject(with: temporary) }
        }
    }

    @Test("A predicate with the temporary ID that an object had finds it, alone and in a list, in every context")
    func predicates() throws {
        let temporary = grandchild.performAndWait {
            let author = grandchild.make("Author", ["name": "A"])
            grandchild.make("Book", ["title": "T", "author": author])
            grandchild.make("Book", ["title": "U"])
            return author.objectID
        }
        func titles(in context: NSManagedObjectContext) throws -> [[String?]] {
            let predicates = [
                NSPredicate(format: "author == %@", temporary), NSPredicate(format: "author IN %@", [temporary]),
                NSComparisonPredicate(
                    leftExpression: NSExpression(forKeyPath: "author"),
                    rightExpression: NSExpression(forConstantValue: temporary), modifier: .direct, type: .equalTo),
                NSCompoundPredicate(andPredicateWithSubpredicates: [NSPredicate(format: "author == %@", temporary)]),
                NSPredicate(format: "NOT (author != %@)", temporary),
            ]
            return try predicates.map { predicate in
                let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
                request.predicate = predicate
                #expect(try context.count(for: request) == 1)
                return try context.fetch(request).map { $0.string("title") }
            }
        }
        let expected: [[String?]] = Array(repeating: ["T"], count: 5)
        #expect(try grandchild.performAndWait { try titles(in: grandchild) } == expected)
        try saveAll()
        for context in [grandchild, child, parent] {
            #expect(try context.performAndWait { try titles(in: context) } == expected)
        }
    }

    @Test("Batch requests take the temporary IDs that objects had, in their predicates and as objects to delete")
    func batchRequests() throws {
        try parent.performAndWait {
            let (author, other) = (parent.make("Author", ["name": "A"]), parent.make("Author", ["name": "B"]))
            let temporary = [author.objectID, other.objectID]
            try parent.save()
            let update = NSBatchUpdateRequest(entityName: "Author")
            update.predicate = NSPredicate(format: "SELF == %@", temporary[0])
            update.propertiesToUpdate = ["name": "C"]
            try parent.execute(update)
            #expect(try family.column("SELECT ZNAME FROM ZAUTHOR ORDER BY ZNAME") == ["B", "C"])
            try parent.execute(NSBatchDeleteRequest(objectIDs: [temporary[1]]))
            #expect(try family.column("SELECT ZNAME FROM ZAUTHOR") == ["C"])
        }
    }
}
