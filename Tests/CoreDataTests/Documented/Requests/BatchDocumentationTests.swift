import CoreData
import TestSupport
import Testing

/// Checks from the pages of `NSBatchInsertRequest`, `NSBatchUpdateRequest`, `NSBatchDeleteRequest` and their results.
@MainActor @Suite("Documented: batch requests")
struct BatchDocumentationTests {
    private let folder: TestFolder
    private let container: NSPersistentContainer
    private var context: NSManagedObjectContext { container.viewContext }

    init() throws {
        folder = try TestFolder()
        container = try Library.stored(at: folder.file("Library"))
        let context = container.viewContext
        let author = context.make("Author", ["name": "Ann"])
        context.make("Book", ["title": "A", "author": author])
        context.make("Comic", ["title": "B", "author": author])
        try context.save()
        context.reset()
    }

    private func entity(_ name: String) throws -> NSEntityDescription {
        try #require(container.managedObjectModel.entitiesByName[name])
    }

    private func titles() throws -> [String] {
        context.reset()
        return try context.all("Book", by: "title").map { $0.shown("title") }
    }

    // MARK: Insertions

    @Test("A batch insertion: by entity or by its name; its result is a status, unless it is said otherwise")
    func insertionRequests() throws {
        let request = NSBatchInsertRequest(entity: try entity("Book"), objects: [["title": "C"]])
        #expect(try request.entityName == "Book" && request.entity === entity("Book"))
        #expect(request.objectsToInsert?.count == 1 && request.resultType == .statusOnly)
        #expect(request.dictionaryHandler == nil && request.managedObjectHandler == nil)
        let result = try #require(try context.execute(request) as? NSBatchInsertResult)
        #expect(result.resultType == .statusOnly && result.result as? Bool == true)
        #expect(NSBatchInsertRequest(entityName: "Book", objects: [["title": "C"]]).entityName == "Book")
        #expect(try titles() == ["A", "B", "C"])
    }

    @Test("A handler is called until it returns true: with dictionaries to fill in", arguments: [true, false])
    func dictionaryHandlers(byName: Bool) throws {
        var number = 0
        let handler: (NSMutableDictionary) -> Bool = {
            number += 1
            $0["title"] = "H\(number)"
            return number > 2
        }
        let request =
            byName
            ? NSBatchInsertRequest(entityName: "Book", dictionaryHandler: handler)
            : NSBatchInsertRequest(entity: try entity("Book"), dictionaryHandler: handler)
        #expect(request.dictionaryHandler != nil)
        request.resultType = .count
        #expect((try context.execute(request) as? NSBatchInsertResult)?.result as? Int == 2)
        #expect(try titles() == ["A", "B", "H1", "H2"] && number == 3)
    }

    @Test("A handler is called until it returns true: with objects to fill in", arguments: [true, false])
    func objectHandlers(byName: Bool) throws {
        var number = 0
        let handler: (NSManagedObject) -> Bool = {
            number += 1
            $0.setValue("O\(number)", forKey: "title")
            return number > 1
        }
        let request =
            byName
            ? NSBatchInsertRequest(entityName: "Book", managedObjectHandler: handler)
            : NSBatchInsertRequest(entity: try entity("Book"), managedObjectHandler: handler)
        #expect(request.managedObjectHandler != nil)
        request.resultType = .objectIDs
        let result = try #require(try context.execute(request) as? NSBatchInsertResult)
        #expect(result.resultType == .objectIDs && (result.result as? [NSManagedObjectID])?.count == 1)
        #expect(try titles() == ["A", "B", "O1"])
    }

    // MARK: Updates

    @Test("A batch update: by entity or by its name, of all objects unless there is a predicate, with subentities")
    func updates() throws {
        let request = NSBatchUpdateRequest(entity: try entity("Book"))
        #expect(try request.entityName == "Book" && request.entity === entity("Book") && request.predicate == nil)
        #expect(request.includesSubentities && request.resultType == .statusOnlyResultType)
        request.propertiesToUpdate = ["title": "X"]
        let result = try #require(try context.execute(request) as? NSBatchUpdateResult)
        #expect(result.resultType == .statusOnlyResultType && result.result as? Bool == true)
        #expect(try titles() == ["X", "X"])
    }

    @Test("includesSubentities: false leaves the objects of subentities alone")
    func updatesWithoutSubentities() throws {
        let request = NSBatchUpdateRequest(entityName: "Book")
        request.includesSubentities = false
        request.propertiesToUpdate = ["title": "X"]
        request.resultType = .updatedObjectsCountResultType
        #expect((try context.execute(request) as? NSBatchUpdateResult)?.result as? Int == 1)
        #expect(try titles() == ["B", "X"])
    }

    @Test("A batch update gives the IDs of the objects that satisfied its predicate")
    func updatedIdentifiers() throws {
        let book = try #require(try context.all("Book", NSPredicate(format: "title == 'A'")).first)
        let request = NSBatchUpdateRequest(entityName: "Book")
        request.predicate = NSPredicate(format: "title == 'A'")
        request.propertiesToUpdate = ["title": "X"]
        request.resultType = .updatedObjectIDsResultType
        let result = try context.execute(request) as? NSBatchUpdateResult
        #expect(result?.result as? [NSManagedObjectID] == [book.objectID])
    }

    @Test("Result types of a batch update: a status, the IDs, the number")
    func updateResults() {
        let types: [NSBatchUpdateRequestResultType] = [
            .statusOnlyResultType, .updatedObjectIDsResultType, .updatedObjectsCountResultType,
        ]
        #expect(types.map(\.rawValue) == [0, 1, 2])
    }

    // MARK: Deletions

    @Test("A batch deletion by IDs makes a fetch request that finds these; by a request, has that one")
    func deletionRequests() throws {
        let books = try context.all("Book", by: "title")
        let byIdentifiers = NSBatchDeleteRequest(objectIDs: [books[0].objectID])
        #expect(try context.count(for: byIdentifiers.fetchRequest) == 1)
        let fetch = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
        let byRequest = NSBatchDeleteRequest(fetchRequest: fetch)
        #expect(byRequest.fetchRequest.entityName == "Book" && byRequest.resultType == .resultTypeStatusOnly)
        let result = try #require(try context.execute(byRequest) as? NSBatchDeleteResult)
        #expect(result.resultType == .resultTypeStatusOnly && result.result as? Bool == true)
        #expect(try titles().isEmpty)
    }

    @Test("Result types of a batch deletion: a status, the IDs, the number")
    func deletionResults() throws {
        #expect(NSBatchDeleteRequestResultType.resultTypeStatusOnly.rawValue == 0)
        #expect(NSBatchDeleteRequestResultType.resultTypeObjectIDs.rawValue == 1)
        #expect(NSBatchDeleteRequestResultType.resultTypeCount.rawValue == 2)
        let request = NSBatchDeleteRequest(fetchRequest: NSFetchRequest<NSManagedObject>(entityName: "Book"))
        request.resultType = .resultTypeObjectIDs
        let identifiers = (try context.execute(request) as? NSBatchDeleteResult)?.result as? [NSManagedObjectID]
        #expect(identifiers?.count == 2)
        #expect((try context.execute(request) as? NSBatchDeleteResult)?.result as? [NSManagedObjectID] == [])
    }

    @Test("IDs of several entities are an error when the deletion is executed")
    func mixedEntities() throws {
        let (book, author) = (try context.all("Book")[0], try context.all("Author")[0])
        let request = NSBatchDeleteRequest(objectIDs: [book.objectID, author.objectID])
        #expect(throws: NSError.self) { try context.execute(request) }
        #expect(try context.all("Book").count == 2)
    }

    @Test("A batch deletion follows the rules of relationships, and contexts hear of it by a merge of the IDs only")
    func deletionRules() throws {
        let books = try context.all("Book")
        let author = try #require(try context.all("Author").first)
        let request = NSBatchDeleteRequest(objectIDs: [author.objectID])
        request.resultType = .resultTypeObjectIDs
        let result = (try context.execute(request) as? NSBatchDeleteResult)?.result
        #expect(!author.isDeleted)
        let deleted = try #require(result as? [NSManagedObjectID])
        NSManagedObjectContext.mergeChanges(fromRemoteContextSave: [NSDeletedObjectsKey: deleted], into: [context])
        #expect(author.isDeleted)
        #expect(try titles().isEmpty)
        withExtendedLifetime(books) {}
    }
}
