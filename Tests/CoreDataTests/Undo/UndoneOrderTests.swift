import Testing

@testable import CoreData
@testable import CoreDataModel

@Suite("Undo of changes to ordered relationships, and of ones that had not been read")
struct UndoneOrderTests {
    private let container: NSPersistentContainer
    private let context: NSManagedObjectContext

    init() throws {
        container = try Library.inMemory(
            makeModel(
                makeEntity(
                    "List", makeToMany("items", "Item", inverse: "list", ordered: true),
                    makeToMany("marks", "Item", inverse: "marker")),
                makeEntity(
                    "Item", makeAttribute("name", .stringAttributeType), makeToOne("list", "List", inverse: "items"),
                    makeToOne("marker", "List", inverse: "marks"))))
        context = container.newBackgroundContext()
        let manager = UndoManager()
        manager.groupsByEvent = false
        context.undoManager = manager
        let context = context
        try context.performAndWait {
            let list = context.make("List")
            let items = ["a", "b", "c"].map { context.make("Item", ["name": $0]) }
            list.setValue(NSOrderedSet(array: items), forKey: "items")
            list.setValue(Set(items.prefix(1)), forKey: "marks")
            try context.save()
            context.undoManager?.removeAllActions()
            context.reset()
        }
    }

    private func list(_ context: NSManagedObjectContext) throws -> NSManagedObject {
        try #require(try context.all("List").first)
    }

    private func items(_ context: NSManagedObjectContext) throws -> [NSManagedObject] {
        (try list(context).value(forKey: "items") as? NSOrderedSet)?.compactMap { $0 as? NSManagedObject } ?? []
    }

    private func names(_ context: NSManagedObjectContext) throws -> [String?] {
        try items(context).map { $0.string("name") }
    }

    private func stored() throws -> [String?] {
        let other = container.newBackgroundContext()
        return try other.performAndWait { try names(other) }
    }

    @Test("The order before a saved change is saved again, and the changed one is after redo")
    func savedOrder() throws {
        try context.performAndWait {
            let list = try list(context)
            list.setValue(NSOrderedSet(array: try items(context).reversed()), forKey: "items")
            try context.save()
            #expect(try stored() == ["c", "b", "a"])
            context.undo()
            #expect(context.hasChanges)
            try context.save()
            #expect(try names(context) == ["a", "b", "c"])
            #expect(try stored() == ["a", "b", "c"])
            context.redo()
            try context.save()
            #expect(try stored() == ["c", "b", "a"])
        }
    }

    @Test("A change of the order that was not registered stays, and is saved")
    func unregisteredOrder() throws {
        try context.performAndWait {
            let list = try list(context)
            _ = try items(context)
            let ordered = list.mutableOrderedSetValue(forKey: "items")
            ordered.add(context.make("Item", ["name": "x"]))
            context.processPendingChanges()
            context.undoManager?.disableUndoRegistration()
            ordered.exchangeObject(at: 0, withObjectAt: 1)
            context.processPendingChanges()
            context.undoManager?.enableUndoRegistration()
            context.undo()
            #expect(try names(context) == ["b", "a", "c"])
            try context.save()
            #expect(try stored() == ["b", "a", "c"])
        }
    }

    @Test("A change back to the stored order leaves nothing to save")
    func sameOrder() throws {
        try context.performAndWait {
            let list = try list(context)
            list.setValue(NSOrderedSet(array: try items(context).reversed()), forKey: "items")
            context.processPendingChanges()
            context.undo()
            #expect(try names(context) == ["a", "b", "c"])
            #expect(!list.hasChanges)
        }
    }

    @Test("An earlier change, whose object was refreshed with its changes, stays", arguments: ["items", "marks"])
    func refreshed(relationship: String) throws {
        let inverse = relationship == "items" ? "list" : "marker"
        try context.performAndWait {
            let list = try list(context)
            func names() -> Set<String> {
                let members = list.value(forKey: relationship)
                let all = (members as? NSOrderedSet)?.array ?? (members as? NSSet)?.allObjects ?? []
                return Set(all.compactMap { ($0 as? NSManagedObject)?.string("name") })
            }
            let former = names()
            let (first, second) = (context.make("Item", ["name": "x"]), context.make("Item", ["name": "y"]))
            context.processPendingChanges()
            let removed = try #require(try context.all("Item", NSPredicate(format: "name == 'a'")).first)
            first.setValue(list, forKey: inverse)
            removed.setValue(nil, forKey: inverse)
            context.processPendingChanges()
            context.refresh(list, mergeChanges: true)
            second.setValue(list, forKey: inverse)
            context.processPendingChanges()
            context.undo()
            #expect(names() == former.subtracting(["a"]).union(["x"]))
            context.undo()
            #expect(names() == former)
        }
    }

    @Test("An item that leaves a list which was not read returns to its place, also if the list is read meanwhile")
    func unread() throws {
        try context.performAndWait {
            let item = try #require(try context.all("Item", NSPredicate(format: "name == 'a'")).first)
            item.setValue(nil, forKey: "list")
            context.processPendingChanges()
            #expect(try names(context) == ["b", "c"])
            context.undo()
            #expect(try names(context) == ["a", "b", "c"])
            #expect(!context.hasChanges)
            context.redo()
            try context.save()
            #expect(try stored() == ["b", "c"])
            context.undo()
            try context.save()
            #expect(try stored() == ["a", "b", "c"])
        }
    }

    @Test("The order of a list that was not read returns after a child has saved another")
    func child() throws {
        let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        child.parent = context
        try child.performAndWait {
            let items = try items(child)
            try list(child).setValue(NSOrderedSet(array: [items[2], items[0]]), forKey: "items")
            try child.save()
        }
        try context.performAndWait {
            #expect(try names(context) == ["c", "a"])
            context.undo()
            #expect(try names(context) == ["a", "b", "c"])
            context.redo()
            try context.save()
            #expect(try stored() == ["c", "a"])
        }
    }

    @Test("The stored order has a member once, also where a damaged store has it twice")
    func duplicates() throws {
        try context.performAndWait {
            let items = try items(context)
            let members = ToManyMembers(isOrdered: true, isLoaded: false)
            members.remove(items[0])
            members.load([items[1], items[0], items[1]])
            #expect(members.all == [items[1]])
            #expect(members.storedOrder == [items[1], items[0]])
        }
    }
}
