import CoreData
import Synchronization
import Testing

@Suite("Child contexts: saving into the parent")
struct ChildSavingTests {
    let family: Family
    var parent: NSManagedObjectContext { family.parent }
    var child: NSManagedObjectContext { family.child }

    init() throws { family = try Family() }

    @Test("A child's save goes one level up, and reaches the store when the parent saves")
    func oneLevel() throws {
        try child.performAndWait {
            child.make("Book", ["title": "T", "author": child.make("Author", ["name": "A"])])
            try child.save()
            #expect(!child.hasChanges)
        }
        #expect(try family.column("SELECT ZNAME FROM ZAUTHOR").isEmpty)
        try parent.performAndWait {
            #expect(parent.insertedObjects.count == 2)
            let book = try #require(try parent.all("Book").first)
            #expect(book.value(forKeyPath: "author.name") as? String == "A")
            #expect(book.value(forKeyPath: "author.books") as? Set<NSManagedObject> == [book])
            try parent.save()
        }
        #expect(
            try family.column("SELECT ZNAME || ZTITLE FROM ZAUTHOR JOIN ZBOOK ON ZBOOK.ZAUTHOR = ZAUTHOR.Z_PK") == [
                "AT"
            ])
    }

    @Test("What the child made is changed by it again after the parent has saved it and let it go (INCoreData)")
    func changedAfterParentsSave() throws {
        for name in ["A", "B", "C"] {
            try child.performAndWait {
                let known = child.registeredObjects.first { $0.entity.name == "Author" }
                (known ?? child.make("Author")).setValue(name, forKey: "name")
                child.retainsRegisteredObjects = true
                try child.save()
            }
            try parent.performAndWait { try parent.save() }
            #expect(parent.performAndWait { parent.registeredObjects.isEmpty })
        }
        #expect(try family.column("SELECT ZNAME FROM ZAUTHOR") == ["C"])
    }

    @Test("Only what the child changed is changed in the parent")
    func changedPropertiesOnly() throws {
        let identifier = try parent.performAndWait {
            let author = parent.make("Author", ["name": "A", "age": 1])
            try parent.save()
            return author.objectID
        }
        try child.performAndWait {
            child.object(with: identifier).setValue("B", forKey: "name")
            parent.performAndWait { parent.object(with: identifier).setValue(2, forKey: "age") }
            try child.save()
        }
        parent.performAndWait {
            let author = parent.object(with: identifier)
            #expect(author.string("name") == "B")
            #expect(author.value(forKey: "age") as? Int == 2)
            #expect(Set(author.changedValues().keys) == ["name", "age"])
        }
    }

    @Test("An object that the parent does not hold is changed there without a conflict, save after save")
    func notRegisteredInParent() throws {
        try parent.performAndWait {
            parent.make("Author", ["name": "A"])
            try parent.save()
        }
        try child.performAndWait {
            let author = try #require(try child.all("Author").first)
            for name in ["B", "C"] {
                author.setValue(name, forKey: "name")
                try child.save()
                try parent.performAndWait { try parent.save() }
                #expect(try family.column("SELECT ZNAME FROM ZAUTHOR") == [name])
            }
        }
        #expect(try family.column("SELECT Z_OPT FROM ZAUTHOR") == ["3"])
    }

    @Test("A deletion in a child deletes in the parent, as the delete rules say")
    func deletion() throws {
        try parent.performAndWait {
            parent.make("Book", ["title": "T", "author": parent.make("Author", ["name": "A"])])
            try parent.save()
        }
        try child.performAndWait {
            child.delete(try #require(try child.all("Author").first))
            try child.save()
            #expect(try child.all("Book").isEmpty)
        }
        try parent.performAndWait {
            #expect(parent.deletedObjects.count == 2)
            try parent.save()
        }
        #expect(try family.column("SELECT Z_PK FROM ZBOOK").isEmpty)
    }

    @Test("Many-to-many and ordered relationships arrive whole")
    func toMany() throws {
        try child.performAndWait {
            let book = child.make("Book", ["title": "T"])
            book.setValue(
                NSSet(array: [child.make("Tag", ["name": "x"]), child.make("Tag", ["name": "y"])]), forKey: "tags")
            let chapters = ["1", "2", "3"].map { child.make("Chapter", ["title": $0]) }
            book.setValue(NSOrderedSet(array: chapters), forKey: "chapters")
            try child.save()
            book.setValue(NSOrderedSet(array: chapters.reversed()), forKey: "chapters")
            try child.save()
        }
        try parent.performAndWait {
            let book = try #require(try parent.all("Book").first)
            #expect(Set(book.objects("tags").compactMap { $0.string("name") }) == ["x", "y"])
            let chapters = book.value(forKey: "chapters") as? NSOrderedSet
            #expect(chapters?.compactMap { ($0 as? NSManagedObject)?.string("title") } == ["3", "2", "1"])
            try parent.save()
        }
        #expect(try family.column("SELECT ZTITLE FROM ZCHAPTER ORDER BY Z_FOK_BOOK") == ["3", "2", "1"])
    }

    @Test("Where parent and child both moved an object, the child's move holds, on both ends")
    func movedOnBothSides() throws {
        try parent.performAndWait {
            parent.make("Book", ["title": "T", "author": parent.make("Author", ["name": "A"])])
            for name in ["B", "C"] { parent.make("Author", ["name": name]) }
            try parent.save()
        }
        func move(_ context: NSManagedObjectContext, to name: String) throws {
            let author = try context.all("Author", NSPredicate(format: "name = %@", name)).first
            try context.all("Book").first?.setValue(author, forKey: "author")
        }
        try child.performAndWait {
            try move(child, to: "C")
            try parent.performAndWait { try move(parent, to: "B") }
            try child.save()
        }
        try parent.performAndWait {
            let books = try parent.all("Author", by: "name").map { $0.objects("books").count }
            #expect(books == [0, 0, 1])
            #expect(try parent.all("Book").first?.value(forKeyPath: "author.name") as? String == "C")
        }
    }

    @Test(
        "An object that the parent deleted cannot be saved by a child; a policy in which the child wins gives it back")
    func deletedMeanwhile() throws {
        let identifier = try parent.performAndWait {
            let author = parent.make("Author", ["name": "A"])
            try parent.save()
            return author.objectID
        }
        try child.performAndWait {
            child.object(with: identifier).setValue("B", forKey: "name")
            parent.performAndWait { parent.delete(parent.object(with: identifier)) }
            let error = #expect(throws: NSError.self) { try child.save() }
            #expect(error?.code == 133020)
            #expect(child.object(with: identifier).string("name") == "B")
            child.mergePolicy = NSMergePolicy.overwrite
            try child.save()
        }
        try parent.performAndWait { try parent.save() }
        #expect(try family.column("SELECT ZNAME FROM ZAUTHOR") == ["B"])
    }

    @Test("A child validates when it saves, and nothing reaches the parent when it fails")
    func validation() throws {
        child.performAndWait {
            child.make("Author")
            let error = #expect(throws: NSError.self) { try child.save() }
            #expect(error?.code == 1570)
            #expect(child.insertedObjects.count == 1)
        }
        parent.performAndWait { #expect(!parent.hasChanges) }
    }

    @Test("A save of a child posts its own objects, and a change in the parent with the parent's")
    func notifications() throws {
        let log = Mutex<[String]>([])
        let tokens = [Notification.Name.NSManagedObjectContextDidSave, .NSManagedObjectContextObjectsDidChange].map {
            NotificationCenter.default.addObserver(forName: $0, object: nil, queue: nil) { note in
                guard let context = note.object as? NSManagedObjectContext, context === parent || context === child,
                    let objects = note.userInfo?[NSInsertedObjectsKey] as? Set<NSManagedObject>
                else { return }
                let isOwn = objects.allSatisfy { $0.managedObjectContext === context }
                let kind = note.name == .NSManagedObjectContextDidSave ? "save" : "change"
                log.withLock {
                    $0.append("\(context === child ? "child" : "parent") \(kind) \(objects.count) \(isOwn)")
                }
            }
        }
        defer { tokens.forEach(NotificationCenter.default.removeObserver) }
        try child.performAndWait {
            child.make("Author", ["name": "A"])
            try child.save()
        }
        #expect(log.withLock { $0 } == ["child change 1 true", "parent change 1 true", "child save 1 true"])
    }

    @Test("awakeFromInsert is called in each context in which an object is new; the child's values win")
    func awakeFromInsert() throws {
        try child.performAndWait {
            child.make("Author", ["name": "A", "rating": 4.5])
            try child.save()
        }
        try parent.performAndWait {
            let author = try parent.all("Author").first
            #expect(author?.value(forKey: "rating") as? Double == 4.5)
        }
    }

    @Test("A grandchild's save reaches the store by three saves")
    func grandchild() throws {
        let grandchild = Family.child(of: child)
        try grandchild.performAndWait {
            grandchild.make("Author", ["name": "A"])
            try grandchild.save()
        }
        for context in [child, parent] {
            #expect(try family.column("SELECT ZNAME FROM ZAUTHOR").isEmpty)
            try context.performAndWait { try context.save() }
        }
        #expect(try family.column("SELECT ZNAME FROM ZAUTHOR") == ["A"])
    }

    @Test("What a child rolls back never was in the parent")
    func rollback() throws {
        child.performAndWait {
            child.make("Author", ["name": "A"])
            child.rollback()
            #expect(!child.hasChanges)
        }
        parent.performAndWait { #expect(parent.registeredObjects.isEmpty) }
    }

    @Test("An object that the child deletes without having read it is deleted in the parent")
    func unreadDeletion() throws {
        let entity = Library.entity("Note", [Library.attribute("name", .stringAttributeType)])
        let model = NSManagedObjectModel()
        model.entities = [entity]
        let parent = try Library.inMemory(model).newBackgroundContext()
        try parent.performAndWait {
            for name in ["A", "B"] { parent.make("Note", ["name": name]) }
            try parent.save()
            parent.reset()
        }
        let child = Family.child(of: parent)
        for batchSize in [0, 10] {
            try child.performAndWait {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Note")
                request.fetchBatchSize = batchSize
                let note = try #require(try child.fetch(request).first)
                #expect(note.isFault)
                child.delete(note)
                try child.save()
            }
            try parent.performAndWait {
                #expect(parent.deletedObjects.count == 1)
                try parent.save()
            }
        }
        let left = try parent.performAndWait { try parent.all("Note").count }
        #expect(left == 0)
    }

    // NSManagedObjectContextInvestigation_Tests of CoreDataPlus.
    @Test("A save takes transient values along to the parent; a child reads none of its parent's")
    func transientValues() throws {
        try child.performAndWait {
            child.make("Author", ["name": "A", "nickname": "Al"])
            try child.save()
        }
        try parent.performAndWait {
            let author = try #require(try parent.all("Author").first)
            #expect(author.string("nickname") == "Al")
            try child.performAndWait {
                child.reset()
                let read = try #require(try child.all("Author").first)
                #expect(read.string("name") == "A")
                #expect(read.string("nickname") == nil)
            }
        }
    }
}
