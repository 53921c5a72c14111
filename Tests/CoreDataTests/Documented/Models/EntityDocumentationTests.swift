import CodeGeneration
import CoreData
import TestSupport
import Testing

/// Checks from the pages of `NSEntityDescription`, `NSFetchIndexDescription` and `NSFetchIndexElementDescription`.
@Suite("Documented: entities and their indexes")
struct EntityDocumentationTests {
    private let model = Library.model()
    private let book: NSEntityDescription

    init() throws { book = try #require(model.entitiesByName["Book"]) }

    /// An entity with one attribute, changed.
    private func hash(_ change: (NSEntityDescription) -> Void) -> Data {
        let entity = Library.entity(
            "E", [Library.attribute("a", .stringAttributeType), Library.attribute("b", .stringAttributeType)])
        let model = NSManagedObjectModel()
        model.entities = [entity]
        change(entity)
        return entity.versionHash
    }

    // MARK: Entities

    @Test("managedObjectModel, userInfo and name: what an entity belongs to and is called; userInfo is the developer's")
    func basics() {
        #expect(book.managedObjectModel === model && book.name == "Book" && book.userInfo?.isEmpty == true)
        book.userInfo = ["key": "value"]
        #expect(book.userInfo?["key"] as? String == "value")
    }

    @Test("coreSpotlightDisplayNameExpression: kept with the model, in its files too")
    func spotlightName() throws {
        let expression = NSExpression(format: "title")
        #expect(book.coreSpotlightDisplayNameExpression == nil)
        let plain = model.copy() as? NSManagedObjectModel
        book.coreSpotlightDisplayNameExpression = expression
        #expect(model != plain && book.versionHash == plain?.entitiesByName["Book"]?.versionHash)
        let copy = model.copy() as? NSManagedObjectModel
        #expect(copy?.entitiesByName["Book"]?.coreSpotlightDisplayNameExpression == expression)
        let document = try ModelDocument(model)
        let compiled = try ModelArchiveReader.document(of: SourceModelCompiler.compiledData(of: document))
        let source = try SourceReader.document(of: Data(SourceWriter.contents(of: document).utf8))
        for read in [compiled, source] {
            let entity = try ModelAssembler.model(read).entitiesByName["Book"]
            #expect(entity?.coreSpotlightDisplayNameExpression == expression)
        }
    }

    // SafeCoreData's tests rely on it: their model has abstract entities only.
    @Test("isAbstract: says what is meant; objects of the entity itself are saved and fetched all the same")
    func abstract() throws {
        book.isAbstract = true
        let container = try Library.inMemory(model)
        let context = container.newBackgroundContext()
        try context.performAndWait {
            context.make("Comic", ["title": "C"])
            context.make("Book", ["title": "B"])
            _ = NSManagedObject(entity: book, insertInto: context)
            try context.save()
        }
        try context.performAndWait {
            try context.execute(NSBatchInsertRequest(entityName: "Book", objects: [["title": "D"]]))
            context.reset()
            let books = try context.all("Book")
            #expect(books.compactMap { $0.entity.name }.sorted() == ["Book", "Book", "Book", "Comic"])
            #expect(Set(books.compactMap { $0.string("title") }) == ["B", "C", "D"])
        }
    }

    @Test("subentities: set from above; superentity follows, and properties are inherited")
    func hierarchy() {
        let (parent, child) = (
            Library.entity("P", [Library.attribute("p", .stringAttributeType)]), Library.entity("C", [])
        )
        parent.subentities = [child]
        #expect(child.superentity === parent && parent.subentitiesByName == ["C": child] && parent.superentity == nil)
        #expect(child.attributesByName["p"] != nil && child.isKindOf(entity: parent))
    }

    @Test("versionHash: changes with name, abstractness, properties, constraints and the modifier; not with indexes")
    func versionHash() {
        let plain = hash { _ in }
        #expect(hash { _ in } == plain)
        #expect(hash { $0.name = "F" } != plain && hash { $0.isAbstract = true } != plain)
        #expect(hash { $0.properties = [$0.properties[0]] } != plain)
        #expect(hash { $0.uniquenessConstraints = [["a"]] } != plain)
        #expect(hash { $0.versionHashModifier = "2" } != plain)
        let indexed = hash { entity in
            let element = NSFetchIndexElementDescription(property: entity.properties[0], collationType: .binary)
            entity.indexes = [NSFetchIndexDescription(name: "i", elements: [element])]
        }
        #expect(indexed == plain && hash { $0.userInfo = ["a": 1] } == plain)
    }

    @Test("versionHash of a subentity changes with its superentity's")
    func versionHashOfSubentities() throws {
        let comic = try #require(model.entitiesByName["Comic"])
        let before = comic.versionHash
        book.versionHashModifier = "2"
        #expect(comic.versionHash != before)
    }

    @Test("uniquenessConstraints: names or descriptions; a second object with the same values is not saved")
    func constraints() throws {
        book.uniquenessConstraints = [[try #require(book.attributesByName["isbn"])], ["title", "price"]]
        let context = try Library.inMemory(model).newBackgroundContext()
        try context.performAndWait {
            context.make("Book", ["isbn": "1", "title": "A", "price": 1])
            context.make("Book", ["isbn": "2", "title": "A", "price": 2])
            try context.save()
            context.make("Book", ["isbn": "1", "title": "B", "price": 1])
            let error = #expect(throws: NSError.self) { try context.save() }
            #expect(error?.code == NSManagedObjectConstraintMergeError)
            context.rollback()
            context.make("Book", ["isbn": "3", "title": "A", "price": 2])
            #expect(throws: NSError.self) { try context.save() }
        }
    }

    @Test("compoundIndexes: names or descriptions in arrays, which are advice only")
    func compoundIndexes() throws {
        book.compoundIndexes = [["title", try #require(book.attributesByName["isbn"])]]
        #expect(book.compoundIndexes.count == 1 && book.compoundIndexes.first?.count == 2)
    }

    // MARK: Fetch indexes

    private func element(_ name: String, _ type: NSFetchIndexElementType = .binary) throws
        -> NSFetchIndexElementDescription
    {
        NSFetchIndexElementDescription(property: try #require(book.propertiesByName[name]), collationType: type)
    }

    @Test("NSFetchIndexDescription: a name, elements, the entity that has it, and maybe a predicate")
    func indexes() throws {
        let (title, price) = (try element("title"), try element("price"))
        let index = NSFetchIndexDescription(name: "byTitle", elements: [title, price])
        #expect(index.name == "byTitle" && index.elements == [title, price] && index.entity == nil)
        #expect(index.partialIndexPredicate == nil)
        book.indexes = [index]
        #expect(index.entity === book && title.indexDescription === index)
        index.partialIndexPredicate = NSPredicate(format: "price > 1")
        #expect(index.partialIndexPredicate == NSPredicate(format: "price > 1"))
    }

    @Test("NSFetchIndexElementDescription: a property and its name, a type, ascending unless it is said otherwise")
    func elements() throws {
        let element = try element("title")
        #expect(element.property === book.propertiesByName["title"] && element.propertyName == "title")
        #expect(element.collationType == .binary && element.isAscending)
        element.isAscending = false
        element.collationType = .rTree
        #expect(!element.isAscending && element.collationType == .rTree)
        #expect(NSFetchIndexElementType.binary.rawValue == 0 && NSFetchIndexElementType.rTree.rawValue == 1)
    }

    @Test("An index is made in the store, with its order and its predicate")
    func indexesInTheStore() throws {
        let folder = try TestFolder()
        let (title, price) = (try element("title"), try element("price"))
        price.isAscending = false
        let index = NSFetchIndexDescription(name: "byTitle", elements: [title, price])
        index.partialIndexPredicate = NSPredicate(format: "price > 1")
        book.indexes = [index]
        _ = try Library.stored(at: folder.file("Store"), model)
        let sql = try plainSQL("SELECT sql FROM sqlite_master WHERE name = 'Z_Book_byTitle'", in: folder.file("Store"))
        #expect(sql.first?.contains("ZTITLE") == true && sql.first?.contains("ZPRICE COLLATE BINARY DESC") == true)
        #expect(sql.first?.contains("WHERE") == true)
    }
}
