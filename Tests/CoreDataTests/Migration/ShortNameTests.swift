import CoreData
import Foundation
import Testing

@Suite("An entity that is called as statements call tables")
struct ShortNameTests {
    private let store: MigratingStore

    init() throws { store = try MigratingStore() }

    private func model(_ name: String, _ inverse: NSRelationshipDescription, ordered: Bool) -> NSManagedObjectModel {
        makeModel(
            makeEntity(
                "Book", makeAttribute("name", .stringAttributeType),
                makeToMany("parts", name, inverse: inverse.name, ordered: ordered)),
            makeEntity(name, makeAttribute("name", .stringAttributeType), inverse))
    }

    @Test("is migrated as any other", arguments: ["P", "O", "U", "D", "T", "J"])
    func migrated(_ name: String) throws {
        try store.open(model(name, makeToMany("books", "Book", inverse: "parts"), ordered: false)) { context in
            let parts = ["1", "2"].map { context.make(name, ["name": $0]) }
            context.make("Book", ["name": "A", "parts": NSSet(array: parts)])
        }
        try store.open(model(name, makeToOne("book", "Book", inverse: "parts"), ordered: true)) { context in
            let books = try context.all(name, by: "name").map { $0.names("book") }
            #expect(books == [["A"], ["A"]])
            #expect(try context.all("Book")[0].names("parts") == ["1", "2"])
        }
    }
}
