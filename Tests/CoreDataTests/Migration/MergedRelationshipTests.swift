import CoreData
import Foundation
import Testing

@Suite("Relationships of several subentities that become one of their parent")
struct MergedRelationshipTests {
    private let store: MigratingStore

    init() throws { store = try MigratingStore() }

    /// Books and discs, which are items, and another entity.
    private func model(
        item: [NSPropertyDescription] = [], book: [NSPropertyDescription] = [], disc: [NSPropertyDescription] = [],
        _ other: NSEntityDescription
    ) -> NSManagedObjectModel {
        let items = makeEntity("Item", makeAttribute("name", .stringAttributeType))
        let (books, discs) = (makeEntity("Book"), makeEntity("Disc"))
        items.properties += item
        books.properties = book
        discs.properties = disc
        items.subentities = [books, discs]
        return makeModel(items, books, discs, other)
    }

    private func fill(
        _ model: NSManagedObjectModel, _ entity: String, _ relationship: String, isShared: Bool = false
    ) throws {
        try store.open(model) { context in
            let others = ["1", "2", "3"].map { context.make(entity, ["name": $0]) }
            context.make("Book", ["name": "b", relationship: NSSet(array: [others[0], others[1]])])
            context.make("Disc", ["name": "d", relationship: NSSet(array: [others[isShared ? 1 : 2]])])
        }
    }

    private func expectAll(_ context: NSManagedObjectContext, _ relationship: String, disc: [String]) throws {
        let items = try context.all("Item", by: "name")
        #expect(items.map { $0.names(relationship) } == [["1", "2"], disc])
    }

    @Test("Many-to-many ones keep the pairs of all")
    func manyToMany() throws {
        let old = model(
            book: [makeToMany("tags", "Tag", inverse: "books")], disc: [makeToMany("tags", "Tag", inverse: "discs")],
            makeEntity(
                "Tag", makeAttribute("name", .stringAttributeType), makeToMany("books", "Book", inverse: "tags"),
                makeToMany("discs", "Disc", inverse: "tags")))
        try fill(old, "Tag", "tags", isShared: true)
        let new = model(
            item: [makeToMany("tags", "Tag", inverse: "items")],
            makeEntity(
                "Tag", makeAttribute("name", .stringAttributeType),
                makeToMany("items", "Item", inverse: "tags").renamed(from: "books")))
        try store.open(new) { context in
            try expectAll(context, "tags", disc: ["2"])
            let items = try context.all("Tag", by: "name").map { $0.names("items") }
            #expect(items == [["b"], ["b", "d"], []])
        }
    }

    @Test("One-to-many ones do so, too, whose other side takes the name of one of them")
    func oneToMany() throws {
        let old = model(
            book: [makeToMany("pages", "Page", inverse: "book")], disc: [makeToMany("pages", "Page", inverse: "disc")],
            makeEntity(
                "Page", makeAttribute("name", .stringAttributeType), makeToOne("book", "Book", inverse: "pages"),
                makeToOne("disc", "Disc", inverse: "pages")))
        try fill(old, "Page", "pages")
        try store.open(merged()) { context in
            try expectAll(context, "pages", disc: ["3"])
            let items = try context.all("Page", by: "name").map { $0.names("item") }
            #expect(items == [["b"], ["b"], ["d"]])
        }
    }

    private func merged() -> NSManagedObjectModel {
        model(
            item: [makeToMany("pages", "Page", inverse: "item")],
            makeEntity(
                "Page", makeAttribute("name", .stringAttributeType),
                makeToOne("item", "Item", inverse: "pages").renamed(from: "book")))
    }

    @Test("An object that has two of them, and may keep one, stops the migration: 134110")
    func both() throws {
        let old = model(
            book: [makeToMany("pages", "Page", inverse: "book")], disc: [makeToMany("pages", "Page", inverse: "disc")],
            makeEntity(
                "Page", makeAttribute("name", .stringAttributeType), makeToOne("book", "Book", inverse: "pages"),
                makeToOne("disc", "Disc", inverse: "pages")))
        try fill(old, "Page", "pages", isShared: true)
        let error = #expect(throws: NSError.self) { try store.open(merged()) }
        #expect(error?.code == 134110)
        #expect(error?.localizedDescription.contains("“Page.item”") == true)
        #expect(try store.open(old) { try $0.all("Disc")[0].names("pages") } == ["2"])
    }

    @Test("Those without inverse keep the objects of all", arguments: [false, true])
    func withoutInverse(ordered: Bool) throws {
        let page = { makeEntity("Page", makeAttribute("name", .stringAttributeType)) }
        let pages = { makeToMany("pages", "Page", inverse: nil) }
        try fill(model(book: [pages()], disc: [pages()], page()), "Page", "pages")
        let new = model(item: [makeToMany("pages", "Page", inverse: nil, ordered: ordered)], page())
        try store.open(new) { try expectAll($0, "pages", disc: ["3"]) }
    }
}
