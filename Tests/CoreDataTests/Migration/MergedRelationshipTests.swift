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
        _ model: NSManagedObjectModel, _ entity: String, _ relationship: String, isShared: Bool = false,
        for way: MigratingStore.Way
    ) throws {
        try store.migrated(way).open(model) { context in
            let others = ["1", "2", "3"].map { context.make(entity, ["name": $0]) }
            context.make("Book", ["name": "b", relationship: NSSet(array: [others[0], others[1]])])
            context.make("Disc", ["name": "d", relationship: NSSet(array: [others[isShared ? 1 : 2]])])
        }
    }

    private func expectAll(_ context: NSManagedObjectContext, _ relationship: String, disc: [String]) throws {
        let items = try context.all("Item", by: "name")
        #expect(items.map { $0.names(relationship) } == [["1", "2"], disc])
    }

    @Test("Many-to-many ones keep the pairs of all", arguments: MigratingStore.Way.allCases)
    func manyToMany(_ way: MigratingStore.Way) throws {
        let old = model(
            book: [makeToMany("tags", "Tag", inverse: "books")], disc: [makeToMany("tags", "Tag", inverse: "discs")],
            makeEntity(
                "Tag", makeAttribute("name", .stringAttributeType), makeToMany("books", "Book", inverse: "tags"),
                makeToMany("discs", "Disc", inverse: "tags")))
        try fill(old, "Tag", "tags", isShared: true, for: way)
        let new = model(
            item: [makeToMany("tags", "Tag", inverse: "items")],
            makeEntity(
                "Tag", makeAttribute("name", .stringAttributeType),
                makeToMany("items", "Item", inverse: "tags").renamed(from: "books")))
        try store.migrated(way).migrate(way, from: old, to: new) { context in
            try expectAll(context, "tags", disc: ["2"])
            let items = try context.all("Tag", by: "name").map { $0.names("items") }
            #expect(items == [["b"], ["b", "d"], []])
        }
    }

    @Test(
        "One-to-many ones do so, too, whose other side takes the name of one of them",
        arguments: MigratingStore.Way.allCases)
    func oneToMany(_ way: MigratingStore.Way) throws {
        let old = model(
            book: [makeToMany("pages", "Page", inverse: "book")], disc: [makeToMany("pages", "Page", inverse: "disc")],
            makeEntity(
                "Page", makeAttribute("name", .stringAttributeType), makeToOne("book", "Book", inverse: "pages"),
                makeToOne("disc", "Disc", inverse: "pages")))
        try fill(old, "Page", "pages", for: way)
        try store.migrated(way).migrate(way, from: old, to: merged()) { context in
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

    @Test(
        "An object that has two of them, and may keep one, stops the migration: 134110",
        arguments: MigratingStore.Way.allCases)
    func both(_ way: MigratingStore.Way) throws {
        let old = model(
            book: [makeToMany("pages", "Page", inverse: "book")], disc: [makeToMany("pages", "Page", inverse: "disc")],
            makeEntity(
                "Page", makeAttribute("name", .stringAttributeType), makeToOne("book", "Book", inverse: "pages"),
                makeToOne("disc", "Disc", inverse: "pages")))
        try fill(old, "Page", "pages", isShared: true, for: way)
        let store = store.migrated(way)
        let error = #expect(throws: NSError.self) { try store.migrate(way, from: old, to: merged()) }
        #expect(error?.code == 134110)
        #expect(error?.localizedDescription.contains("“Page.item”") == true)
        #expect(try store.open(old) { try $0.all("Disc")[0].names("pages") } == ["2"])
    }

    @Test(
        "Those of which one is ordered keep its order, and the objects of the other one get an order, too",
        arguments: MigratingStore.Way.allCases)
    func oneOrdered(_ way: MigratingStore.Way) throws {
        let old = model(
            book: [makeToMany("pages", "Page", inverse: "book", ordered: true)],
            disc: [makeToMany("pages", "Page", inverse: "disc")],
            makeEntity(
                "Page", makeAttribute("name", .stringAttributeType), makeToOne("book", "Book", inverse: "pages"),
                makeToOne("disc", "Disc", inverse: "pages")))
        try store.migrated(way).open(old) { context in
            let pages = ["1", "2", "3", "4"].map { context.make("Page", ["name": $0]) }
            context.make("Book", ["name": "b", "pages": NSOrderedSet(array: [pages[1], pages[0]])])
            context.make("Disc", ["name": "d", "pages": NSSet(array: [pages[2], pages[3]])])
        }
        let new = model(
            item: [makeToMany("pages", "Page", inverse: "item", ordered: true)],
            makeEntity(
                "Page", makeAttribute("name", .stringAttributeType),
                makeToOne("item", "Item", inverse: "pages").renamed(from: "book")))
        try store.migrated(way).migrate(way, from: old, to: new) { context in
            let items = try context.all("Item", by: "name")
            let pages = items.map { ($0.value(forKey: "pages") as? NSOrderedSet)?.array as? [NSManagedObject] ?? [] }
            #expect(pages[0].compactMap { $0.string("name") } == ["2", "1"])
            #expect(Set(pages[1].compactMap { $0.string("name") }) == ["3", "4"])
            // A further object is put between two that have a place.
            items[1].mutableOrderedSetValue(forKey: "pages").insert(context.make("Page", ["name": "5"]), at: 1)
            try context.save()
            context.refreshAllObjects()
            let further = (items[1].value(forKey: "pages") as? NSOrderedSet)?.array[1] as? NSManagedObject
            #expect(further?.string("name") == "5")
        }
    }

    @Test("Those without inverse keep the objects of all", arguments: MigratingStore.Way.allCases, [false, true])
    func withoutInverse(_ way: MigratingStore.Way, ordered: Bool) throws {
        let page = { makeEntity("Page", makeAttribute("name", .stringAttributeType)) }
        let pages = { makeToMany("pages", "Page", inverse: nil) }
        let old = model(book: [pages()], disc: [pages()], page())
        try fill(old, "Page", "pages", for: way)
        let new = model(item: [makeToMany("pages", "Page", inverse: nil, ordered: ordered)], page())
        try store.migrated(way).migrate(way, from: old, to: new) { try expectAll($0, "pages", disc: ["3"]) }
    }
}
