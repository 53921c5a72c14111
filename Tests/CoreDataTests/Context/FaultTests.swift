import CoreData
import SQLiteConnection
import TestSupport
import Testing

@Suite("Faults: what the store lost, damaged or changed")
struct FaultTests {
    let folder: TestFolder
    let container: NSPersistentContainer
    let context: NSManagedObjectContext
    var url: URL { folder.file("library.sqlite") }

    init() throws {
        folder = try TestFolder()
        container = try Library.stored(at: folder.file("library.sqlite"))
        context = container.newBackgroundContext()
        try context.performAndWait { [context] in
            context.make("Author", ["name": "A", "age": 1])
            context.make("Author", ["name": "B", "age": 2])
            for title in ["A", "B"] { context.make("Book", ["title": title]) }
            try context.save()
            context.reset()
        }
    }

    /// Changes the store behind Core Data's back.
    private func run(_ sql: String) throws { try Connection(path: url.path, mode: .readWrite).execute(sql) }

    /// An author as a fault without values.
    private func fault(_ name: String) throws -> NSManagedObject {
        let request = NSFetchRequest<NSManagedObject>(entityName: "Author")
        request.predicate = NSPredicate(format: "name = %@", name)
        request.includesPropertyValues = false
        return try #require(try context.fetch(request).first)
    }

    @Test("A fault that the store lost shows no values and counts as deleted")
    func inaccessible() throws {
        try context.performAndWait {
            let author = try fault("A")
            try run("DELETE FROM ZAUTHOR WHERE ZNAME = 'A'")
            #expect(!author.isDeleted)
            #expect(author.string("name") == nil)
            #expect(author.isDeleted)
            #expect(throws: NSError.self) { try context.existingObject(with: author.objectID) }
        }
    }

    @Test("With shouldDeleteInaccessibleFaults off, a fault that the store lost stops the program")
    func inaccessibleStops() async {
        await #expect(processExitsWith: .failure) {
            let tests = try FaultTests()
            try tests.context.performAndWait {
                tests.context.shouldDeleteInaccessibleFaults = false
                let author = try tests.fault("A")
                try tests.run("DELETE FROM ZAUTHOR")
                _ = author.string("name")
            }
        }
    }

    @Test("A context's subclass decides what becomes of a fault that the store lost")
    func handled() throws {
        final class Lenient: NSManagedObjectContext, @unchecked Sendable {
            // @unchecked Sendable: as its superclass.
            var asked: [String] = []
            override func shouldHandleInaccessibleFault(
                _ fault: NSManagedObject, for oid: NSManagedObjectID,
                triggeredByProperty property: NSPropertyDescription?
            ) -> Bool {
                asked.append(oid.entity.name ?? "")
                return true
            }
        }
        let lenient = Lenient(.privateQueue)
        lenient.persistentStoreCoordinator = container.persistentStoreCoordinator
        lenient.shouldDeleteInaccessibleFaults = false
        try context.performAndWait {
            let identifier = try fault("A").objectID
            try run("DELETE FROM ZAUTHOR WHERE ZNAME = 'A'")
            lenient.performAndWait { _ = lenient.object(with: identifier).string("name") }
        }
        #expect(lenient.asked == ["Author"])
    }

    /// A row of an entity that the model does not have.
    private let damage = "UPDATE ZBOOK SET Z_ENT = 99 WHERE ZTITLE = 'A'"

    @Test("A damaged row shows no values, and a save does not write over it; once repaired, a refresh shows it again")
    func damaged() throws {
        try context.performAndWait {
            let entity = try plainSQL("SELECT Z_ENT FROM ZBOOK LIMIT 1", in: url)[0]
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            request.predicate = NSPredicate(format: "title = 'A'")
            request.includesPropertyValues = false
            let book = try #require(try context.fetch(request).first)
            try run(damage)
            #expect(book.string("title") == nil)
            #expect(!book.isDeleted)
            book.setValue("C", forKey: "title")
            #expect(throws: NSError.self) { try context.save() }
            #expect(try plainSQL("SELECT ZTITLE FROM ZBOOK ORDER BY Z_PK", in: url) == ["A", "B"])
            try run("UPDATE ZBOOK SET Z_ENT = \(entity)")
            context.refresh(book, mergeChanges: false)
            #expect(book.string("title") == "A")
            book.setValue("C", forKey: "title")
            try context.save()
            context.delete(book)
            try context.save()
        }
        #expect(try plainSQL("SELECT ZTITLE FROM ZBOOK", in: url) == ["B"])
    }

    @Test("In a batch, one damaged row keeps no other from being read")
    func damagedInBatch() throws {
        try context.performAndWait {
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            request.sortDescriptors = [NSSortDescriptor(key: "title", ascending: true)]
            request.fetchBatchSize = 10
            let books = try context.fetch(request)
            try run(damage)
            #expect(books.map { $0.string("title") } == [nil, "B"])
        }
    }

    @Test("stalenessInterval 0 has a fault that was fetched with its values read the store once more")
    func staleness() throws {
        try context.performAndWait {
            let author = try #require(try context.all("Author", by: "name").first)
            try run("UPDATE ZAUTHOR SET ZNAME = 'Z' WHERE ZNAME = 'A'")
            context.stalenessInterval = 0
            #expect(author.string("name") == "Z")
            let other = try #require(try context.all("Author", NSPredicate(format: "name = 'B'")).first)
            try run("UPDATE ZAUTHOR SET ZNAME = 'Y' WHERE ZNAME = 'B'")
            context.stalenessInterval = -1
            #expect(other.string("name") == "B")
        }
    }

    @Test("propagatesDeletesAtEndOfEvent false leaves cascades to the save")
    func deletesAtSave() throws {
        try context.performAndWait {
            let author = try #require(try context.all("Author", by: "name").first)
            let book = context.make("Book", ["author": author])
            try context.save()
            context.propagatesDeletesAtEndOfEvent = false
            context.delete(author)
            context.processPendingChanges()
            #expect(!book.isDeleted)
            try context.save()
            #expect(book.managedObjectContext == nil)
        }
        #expect(try plainSQL("SELECT COUNT(*) FROM ZBOOK", in: url) == ["2"])
    }
}
