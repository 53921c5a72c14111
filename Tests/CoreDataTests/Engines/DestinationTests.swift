import Foundation
import SQLiteConnection
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import SQLGeneration
@testable import SQLiteEngine
@testable import StoreEngine

@Suite("Destinations of a relationship for many objects at once")
struct DestinationTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func model(ordered: Bool) -> NSManagedObjectModel {
        makeModel(
            makeEntity(
                "Book", makeAttribute("title", .stringAttributeType),
                makeToMany("pages", "Page", inverse: "book", ordered: ordered),
                makeToMany("tags", "Tag", inverse: "books", ordered: ordered)),
            makeEntity("Page", makeToOne("book", "Book", inverse: "pages")),
            makeEntity("Tag", makeToMany("books", "Book", inverse: "tags")))
    }

    private func sql(_ relationship: String, ordered: Bool) throws -> String {
        let schema = SQLSchema(layout: try model(ordered: ordered).compiledLayout())
        let book = try #require(schema.layout.entityByName["Book"])
        let layout = try #require(book.relationship(named: relationship))
        let mapping = try #require(schema.mapping(of: book))
        let toMany = try #require(mapping.toManys[layout.index])
        let destination = try #require(schema.mapping(of: layout.destination))
        return RowSQL.targets(toMany, destination: destination, count: 2).sqlite.text
    }

    @Test("The keys of the objects come first, and are in order before anything else is")
    func statements() throws {
        #expect(
            try sql("pages", ordered: true)
                == "SELECT t0.ZBOOK, t0.Z_PK FROM ZPAGE t0 WHERE t0.ZBOOK IN (?, ?) "
                + "ORDER BY t0.ZBOOK, t0.Z_FOK_BOOK, t0.Z_PK")
        #expect(
            try sql("tags", ordered: false)
                == "SELECT t1.Z_1BOOKS, t0.Z_PK FROM Z_1TAGS t1 JOIN ZTAG t0 ON t0.Z_PK = t1.Z_3TAGS "
                + "WHERE t1.Z_1BOOKS IN (?, ?) ORDER BY t1.Z_1BOOKS, t0.Z_PK")
    }

    @Test("Each object has the destinations that it has alone, in their order", arguments: [false, true])
    func lists(ordered: Bool) throws {
        var numbers = SplitMix(state: 7)
        let container = try Library.stored(at: folder.store, model(ordered: ordered))
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let tags = (0..<5).map { _ in context.make("Tag", [:]) }
            // More than one statement takes.
            for number in 0..<(EntityAccess.batch * 2 + 3) {
                let pages = (0..<Int.random(in: 0...3, using: &numbers)).map { _ in context.make("Page", [:]) }
                let own = tags.shuffled(using: &numbers).prefix(Int.random(in: 0...5, using: &numbers))
                context.make(
                    "Book",
                    [
                        "title": "\(number)",
                        "pages": ordered ? NSOrderedSet(array: pages) as Any : NSSet(array: pages),
                        "tags": ordered ? NSOrderedSet(array: Array(own)) as Any : NSSet(array: Array(own)),
                    ])
            }
            try context.save()
        }
        let engine = try #require(container.persistentStoreCoordinator.persistentStores.first?.engine)
        let book = try #require(container.managedObjectModel.compiledLayout().entityByName["Book"])
        let books = try engine.fetchIdentifiers(FetchPlan(entity: book)).shuffled(using: &numbers)
        for name in ["pages", "tags"] {
            let relationship = try #require(book.relationship(named: name))
            let together = try engine.destinations(of: relationship, for: books + [books[0]])
            let alone = try (books + [books[0]]).map { try engine.destinations(of: relationship, for: [$0])[0] }
            #expect(together == alone)
            #expect(together.contains { $0.count > 1 })
        }
    }

    @Test("Prefetching a relationship asks for all pairs at once, and gives every object its own")
    func prefetching() throws {
        let container = try Library.stored(at: folder.store, model(ordered: false))
        let context = container.newBackgroundContext()
        try context.performAndWait {
            for number in 0..<300 {
                let pages = (0..<number % 3).map { _ in context.make("Page", [:]) }
                context.make("Book", ["title": "\(number)", "pages": NSSet(array: pages)])
            }
            try context.save()
            context.reset()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Book")
            request.relationshipKeyPathsForPrefetching = ["pages"]
            let books = try context.fetch(request)
            // What was prefetched is there without the file.
            try Connection(path: folder.store.path, mode: .readWrite).execute("DELETE FROM ZPAGE")
            for book in books {
                let number = try #require(Int(book.string("title") ?? ""))
                #expect((book.value(forKey: "pages") as? NSSet)?.count == number % 3)
            }
        }
    }
}
