import Foundation
import PredicateFormat
import SQLGeneration
import SQLiteConnection
import StoreEngine
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import SQLiteEngine

private typealias NSExpression = PredicateFormat.NSExpression

@Suite("Objects whose aggregates a transaction computes at its end")
struct CollectedAggregatesTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private static func sum(_ name: String, _ path: String) -> NSDerivedAttributeDescription {
        makeDerived(name, .integer64AttributeType, NSExpression(forKeyPath: path))
    }

    /// Carts, and items with a unique name.
    private static func carts() -> NSManagedObjectModel {
        makeModel(
            makeEntity("Cart", sum("total", "items.@sum.price"), makeToMany("items", "Item", inverse: "cart")),
            makeEntity(
                "Item", makeAttribute("uid", .stringAttributeType), makeAttribute("price", .integer64AttributeType),
                makeToOne("cart", "Cart", inverse: "items")
            ).with(constraint: "uid"))
    }

    /// Shops with items, and carts with parts.
    private static func shopsAndCarts() -> NSManagedObjectModel {
        makeModel(
            makeEntity("Shop", sum("cart_total", "items.@sum.price"), makeToMany("items", "Item", inverse: "shop")),
            makeEntity(
                "Item", makeAttribute("price", .integer64AttributeType), makeToOne("shop", "Shop", inverse: "items")),
            makeEntity("Shop_cart", sum("total", "parts.@sum.price"), makeToMany("parts", "Part", inverse: "cart")),
            makeEntity(
                "Part", makeAttribute("price", .integer64AttributeType),
                makeToOne("cart", "Shop_cart", inverse: "parts")))
    }

    private func opened(_ container: NSPersistentContainer) throws -> OpenStore {
        let store = container.persistentStoreCoordinator.persistentStores.first?.engine as? SQLiteEngine
        return try #require(store?.opened)
    }

    /// A cart with items at a price of 1.
    private func filled(_ count: Int) throws -> (container: NSPersistentContainer, context: NSManagedObjectContext) {
        let container = try Library.stored(at: folder.store, Self.carts())
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let cart = context.make("Cart")
            for number in 0..<count { context.make("Item", ["uid": "item \(number)", "price": 1, "cart": cart]) }
            try context.save()
        }
        return (container, context)
    }

    private var totals: [String] { get throws { try plainSQL("SELECT ZTOTAL FROM ZCART", in: folder.store) } }

    @Test("are collected once where a batch insertion updates stored rows")
    func upsert() throws {
        let (container, context) = try filled(3)
        try context.performAndWait {
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            let rows = (0..<300).map { ["uid": "item \($0 % 2)", "price": 10] as [String: Any] }
            try context.execute(NSBatchInsertRequest(entityName: "Item", objects: rows))
        }
        #expect(try totals == ["21"])
        // The triggers did not compute them.
        #expect(try collects(container))
    }

    /// Whether a transaction collected objects on the store's connection.
    private func collects(_ container: NSPersistentContainer) throws -> Bool {
        try plainSQL("SELECT name FROM temp.sqlite_master", in: opened(container).connection)
            .contains { $0.hasPrefix("PippinKeys_aggregate") }
    }

    @Test("are not collected where a batch request changes a few rows")
    func few() throws {
        let (container, context) = try filled(20)
        try context.performAndWait {
            let rows = (20..<60).map { ["uid": "item \($0)", "price": 1] as [String: Any] }
            try context.execute(NSBatchInsertRequest(entityName: "Item", objects: rows))
            for format in ["uid == 'item 3'", "uid BEGINSWITH 'item 1'"] {
                let update = NSBatchUpdateRequest(entityName: "Item")
                (update.predicate, update.propertiesToUpdate) = (NSPredicate(format: format), ["price": 10])
                update.resultType = format.contains("3") ? .updatedObjectIDsResultType : .statusOnlyResultType
                try context.execute(update)
            }
            let items = NSFetchRequest<any NSFetchRequestResult>(entityName: "Item")
            items.predicate = NSPredicate(format: "uid IN {'item 3', 'item 4'}")
            try context.execute(NSBatchDeleteRequest(fetchRequest: items))
        }
        // Of the first 20 items, 11 cost 10, and two are gone; the others were inserted without a cart.
        #expect(try totals == ["\(11 * 10 + 7)"])
        #expect(try !collects(container))
    }

    @Test(
        "are collected where a batch update or deletion changes many rows, also by a delete rule",
        arguments: [("update", ["600"]), ("Item", ["1"]), ("Cart", [])])
    func many(changed: String, expected: [String]) throws {
        _ = try filled(300)
        let container = try Library.stored(at: folder.store, Self.carts())
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let update = NSBatchUpdateRequest(entityName: "Item")
            update.propertiesToUpdate = ["price": 2]
            let rows = NSFetchRequest<any NSFetchRequestResult>(entityName: changed)
            rows.predicate = changed == "Item" ? NSPredicate(format: "uid != 'item 7'") : nil
            try context.execute(changed == "update" ? update : NSBatchDeleteRequest(fetchRequest: rows))
        }
        #expect(try totals == expected)
        #expect(try collects(container))
    }

    @Test("are left out for a damaged reference that is not a number")
    func damagedReference() throws {
        let (container, context) = try filled(3)
        try opened(container).connection.execute("UPDATE ZITEM SET ZCART = 'lost' WHERE ZUID = 'item 0'")
        try context.performAndWait {
            let update = NSBatchUpdateRequest(entityName: "Item")
            update.propertiesToUpdate = ["price": 5]
            try context.execute(update)
        }
        #expect(try totals == ["10"])
        #expect(try plainSQL("SELECT ZPRICE FROM ZITEM", in: folder.store) == ["5", "5", "5"])
    }

    @Test("are told apart if the names of their entities and attributes, joined, are the same")
    func names() throws {
        let context = try Library.stored(at: folder.store, Self.shopsAndCarts()).newBackgroundContext()
        try context.performAndWait {
            let (shop, cart) = (context.make("Shop"), context.make("Shop_cart"))
            for _ in 0..<150 {
                context.make("Item", ["price": 1, "shop": shop])
                context.make("Part", ["price": 2, "cart": cart])
            }
            try context.save()
        }
        let sql = "SELECT ZCART_TOTAL FROM ZSHOP UNION ALL SELECT ZTOTAL FROM ZSHOP_CART"
        #expect(try plainSQL(sql, in: folder.store) == ["150", "300"])
    }

    @Test("are left to the triggers while rows are read, so that a save which fails does not end the reading")
    func openCursor() throws {
        let (container, context) = try filled(300)
        let (coordinator, store) = (container.persistentStoreCoordinator, try opened(container))
        let engine = try #require(coordinator.persistentStores.first?.engine)
        let item = try #require(store.schema.layout.entityByName["Item"])
        try context.performAndWait {
            context.automaticallyMergesChangesFromParent = false
            let stale = try context.all("Item")
            for item in stale { _ = item.value(forKey: "price") }
            let other = container.newBackgroundContext()
            try other.performAndWait {
                try other.all("Item").first?.setValue(2, forKey: "price")
                try other.save()
            }
            let portions = try coordinator.withLock { try engine.portions(FetchPlan(entity: item)) }
            let first = try coordinator.withLock { try portions.next(10) }
            for item in stale { item.setValue(3, forKey: "price") }
            #expect(throws: (any Error).self) { try context.save() }
            let others = try coordinator.withLock { try portions.next(1000) }
            #expect(first.count + others.count == 300)
        }
        #expect(try totals == ["301"])
    }

    @Test("are left to the triggers in a circle of aggregates, which recursive triggers follow to its end")
    func circle() throws {
        let model = makeModel(
            makeEntity(
                "Folder", Self.sum("total", "boxes.@sum.total"), makeToMany("boxes", "Box", inverse: "folder"),
                makeToOne("box", "Box", inverse: "folders")),
            makeEntity(
                "Box", Self.sum("total", "folders.@sum.total"), makeToMany("folders", "Folder", inverse: "box"),
                makeToOne("folder", "Folder", inverse: "boxes")))
        let description = NSPersistentStoreDescription(url: folder.store)
        description.setValue("1" as NSString, forPragmaNamed: "recursive_triggers")
        let container = try Library.container(model, description)
        let context = container.newBackgroundContext()
        try context.performAndWait {
            var last = context.make("Folder")
            for _ in 0..<4 { last = context.make("Folder", ["box": context.make("Box", ["folder": last])]) }
            let boxes = (0..<250).map { _ in context.make("Box") }
            try context.save()
            // Nothing else gives a circle its values.
            try opened(container).connection.execute("UPDATE ZBOX SET ZTOTAL = 1 WHERE ZFOLDER IS NULL")
            for box in boxes { box.setValue(last, forKey: "folder") }
            try context.save()
        }
        let sql = "SELECT DISTINCT ZTOTAL FROM ZFOLDER UNION SELECT ZTOTAL FROM ZBOX WHERE ZTOTAL <> 1"
        #expect(try plainSQL(sql, in: folder.store) == ["250"])
    }
}
