import Testing

@testable import CoreData
@testable import CoreDataModel

@Suite("Undo of changes to large to-many relationships")
struct UndoneMembersTests {
    private let context: NSManagedObjectContext

    init() throws {
        let model = makeModel(
            makeEntity(
                "List", makeToMany("items", "Item", inverse: "list", ordered: true),
                makeToMany("marks", "Item", inverse: "marker")),
            makeEntity(
                "Item", makeAttribute("name", .stringAttributeType), makeToOne("list", "List", inverse: "items"),
                makeToOne("marker", "List", inverse: "marks")))
        context = try Library.inMemory(model).newBackgroundContext()
        let manager = UndoManager()
        manager.groupsByEvent = false
        context.undoManager = manager
    }

    private func step(_ change: () -> Void) {
        change()
        context.processPendingChanges()
    }

    private func names(_ list: NSManagedObject) -> [String] {
        (list.value(forKey: "items") as? NSOrderedSet)?.compactMap { ($0 as? NSManagedObject)?.string("name") } ?? []
    }

    /// How many objects the steps keep, apart from those that they are about.
    private func kept(_ value: Any) -> Int {
        if let objects = value as? [NSManagedObject] { return objects.count }
        if value is NSManagedObject || value is RelationshipLayout { return 0 }
        return Mirror(reflecting: value).children.reduce(0) { $0 + kept($1.value) }
    }

    @Test("keeps what each step has changed, not all members", arguments: ["items", "marks"])
    func memory(relationship: String) {
        context.performAndWait {
            let list = context.make("List")
            let inverse = relationship == "items" ? "list" : "marker"
            for number in 0..<50 { context.make("Item", ["name": "\(number)", inverse: list]) }
            let items = (0..<50).map { context.make("Item", ["name": "\($0)"]) }
            context.processPendingChanges()
            let record = context.beginRecord()
            for item in items { step { item.setValue(list, forKey: inverse) } }
            #expect(record.steps.count == 50)
            #expect(record.steps.reduce(0) { $0 + $1.reduce(0) { $0 + kept($1) } } == 50)
            context.end(record)
            for _ in items { context.undo() }
            let members = list.value(forKey: relationship)
            #expect((members as? NSSet)?.count ?? (members as? NSOrderedSet)?.count == 50)
        }
    }

    @Test("restores order and members step by step, and redo does as well")
    func order() {
        context.performAndWait {
            let list = context.make("List")
            var items = ["a", "b", "c", "d"].map { context.make("Item", ["name": $0]) }
            list.setValue(NSOrderedSet(array: items), forKey: "items")
            context.processPendingChanges()
            let ordered = list.mutableOrderedSetValue(forKey: "items")
            items.append(context.make("Item", ["name": "e"]))
            context.processPendingChanges()
            var states = [names(list)]
            let steps: [() -> Void] = [
                { ordered.insert(items[4], at: 1) }, { ordered.remove(items[2]) },
                { ordered.exchangeObject(at: 0, withObjectAt: 3) },
                { ordered.moveObjects(at: [1], to: 3) }, { ordered.removeObject(at: 0) },
                { list.setValue(NSOrderedSet(array: [items[2], items[0]]), forKey: "items") },
                { list.setValue(NSOrderedSet(), forKey: "items") },
            ]
            for change in steps {
                step(change)
                states.append(names(list))
            }
            #expect(Set(states).count == states.count)
            for state in states.dropLast().reversed() {
                context.undo()
                #expect(names(list) == state)
            }
            for state in states.dropFirst() {
                context.redo()
                #expect(names(list) == state)
            }
        }
    }
}
