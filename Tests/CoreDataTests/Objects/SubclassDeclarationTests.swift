import CoreData
import Testing

/// Declares what subclasses in public code declare, in the ways that they do.
final class Bookmark: NSManagedObject {
    private(set) var creations = 0
    var refused: [String] = []

    // DuckDuckGo's BookmarkEntity.
    convenience init(context moc: NSManagedObjectContext) {
        self.init(entity: Bookmark.entity(in: moc), insertInto: moc)
        creations += 1
    }

    class func entity(in context: NSManagedObjectContext) -> NSEntityDescription {
        NSEntityDescription.entity(forEntityName: "Bookmark", in: context) ?? NSEntityDescription()
    }

    @nonobjc class func fetchRequest() -> NSFetchRequest<Bookmark> { NSFetchRequest(entityName: "Bookmark") }

    // CosmicMind's Graph (ManagedNode).
    subscript(name: String) -> Int? { name.count }

    override func validateValue(
        _ value: AutoreleasingUnsafeMutablePointer<AnyObject?>, forKey key: String
    ) throws {
        try super.validateValue(value, forKey: key)
        guard key == "title", let title = value.pointee as? String else { return }
        if title.isEmpty { throw CocoaError(.validationStringTooShort) }
        value.pointee = title.trimmingCharacters(in: .whitespaces) as NSString
    }

    override func value(forUndefinedKey key: String) -> Any? {
        key == "shout" ? (value(forKey: "title") as? String)?.uppercased() : super.value(forUndefinedKey: key)
    }

    override func setValue(_ value: Any?, forUndefinedKey key: String) { refused.append(key) }
}

final class Folder: NSManagedObject {
    convenience init(context: NSManagedObjectContext, name: String) {
        self.init(context: context)
        setValue(name, forKey: "name")
    }

    static func make(in context: NSManagedObjectContext) -> Self { Self(context: context) }
}

@Suite("Subclasses of managed objects, as public code declares them")
struct SubclassDeclarationTests {
    private let context: NSManagedObjectContext

    init() throws {
        let bookmark = Library.entity("Bookmark", [Library.attribute("title", .stringAttributeType)])
        bookmark.managedObjectClassName = NSStringFromClass(Bookmark.self)
        let folder = Library.entity(
            "Folder",
            [Library.attribute("name", .stringAttributeType), Library.attribute("size", .integer64AttributeType)])
        folder.managedObjectClassName = NSStringFromClass(Folder.self)
        Library.connect(folder, "bookmarks", toMany: true, bookmark, "folder")
        Library.connect(folder, "folders", toMany: true, folder, "parent")
        let model = NSManagedObjectModel()
        model.entities = [bookmark, folder]
        context = try Library.inMemory(model).newBackgroundContext()
    }

    @Test("A subclass's own init(context:) makes new objects, and is not called for fetched ones")
    func ownInitializer() throws {
        try context.performAndWait {
            #expect(Bookmark(context: context).creations == 1)
            try context.save()
            context.reset()
            let fetched = try context.fetch(Bookmark.fetchRequest())
            #expect(fetched.map(\.creations) == [0])
        }
    }

    @Test("init(context:) can be called by other initializers and by the type, however it is known")
    func inheritedInitializer() {
        func generic<Object: NSManagedObject>() -> Object { Object(context: context) }
        context.performAndWait {
            #expect(Folder(context: context, name: "Inbox").string("name") == "Inbox")
            #expect(Folder.make(in: context).isInserted)
            let folder: Folder = generic()
            let type: NSManagedObject.Type = Folder.self
            #expect(context.insertedObjects.contains(folder))
            #expect(type.init(context: context) is Folder)
        }
    }

    @Test("A generated fetchRequest() is meant where the inherited one would do as well")
    func generatedRequest() throws {
        try context.performAndWait {
            _ = Bookmark(context: context)
            let found = try context.fetch(Bookmark.fetchRequest())
            #expect(found.first?.creations == 1)
            let untyped: NSFetchRequest<any NSFetchRequestResult> = Folder.fetchRequest()
            #expect(try context.fetch(untyped).isEmpty)
        }
    }

    @Test("A subclass may have a subscript of its own; others read and write properties by theirs")
    func subscripts() {
        context.performAndWait {
            let (bookmark, folder) = (Bookmark(context: context), Folder(context: context))
            #expect(bookmark["title"] == 5)
            folder["name"] = "Inbox"
            #expect(folder["name"] as? String == "Inbox")
        }
    }

    @Test("validateValue takes a pointer to a variable of the caller's, which may come back changed")
    func validation() throws {
        try context.performAndWait {
            let bookmark = Bookmark(context: context)
            var value: AnyObject? = " Swift " as NSString
            try bookmark.validateValue(&value, forKey: "title")
            #expect(value as? String == "Swift")
            value = "" as NSString
            let error = #expect(throws: CocoaError.self) { try bookmark.validateValue(&value, forKey: "title") }
            #expect(error?.code == .validationStringTooShort)
        }
    }

    @Test("Keys that the entity does not have go to value(forUndefinedKey:) and setValue(_:forUndefinedKey:)")
    func undefinedKeys() {
        context.performAndWait {
            let bookmark = Bookmark(context: context)
            bookmark.setValue("hello", forKey: "title")
            bookmark.setValue(1, forKey: "unknown")
            #expect(bookmark.value(forKey: "shout") as? String == "HELLO")
            #expect(bookmark.refused == ["unknown"])
            #expect(NSPredicate(format: "shout BEGINSWITH %@", "HELL").evaluate(with: bookmark))
        }
    }

    @Test("Key paths compute with the objects of a to-many relationship by collection operators")
    func collectionOperators() {
        context.performAndWait {
            let parent = Folder(context: context, name: "All")
            for size in [2, 3, 7] {
                let folder = Folder(context: context)
                folder.setValue(size, forKey: "size")
                folder.setValue(parent, forKey: "parent")
            }
            #expect(parent.value(forKeyPath: "folders.@count") as? Int == 3)
            #expect(parent.value(forKeyPath: "folders.@sum.size") as? Int == 12)
            #expect(parent.value(forKeyPath: "folders.@avg.size") as? Double == 4)
            #expect(parent.value(forKeyPath: "folders.@max.size") as? Int == 7)
        }
    }

    @Test("An ID that is made of nothing equals itself only")
    func placeholderID() {
        let (first, second) = (NSManagedObjectID(), NSManagedObjectID())
        #expect(first == first)
        #expect(first != second)
        #expect(first.isTemporaryID)
        #expect(first.persistentStore == nil)
    }
}
