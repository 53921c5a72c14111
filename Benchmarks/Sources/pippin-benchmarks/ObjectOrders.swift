import CoreData
import Foundation
import PippinRecords

/// Northwind's large orders and their lines as managed objects.
final class LargeOrderObject: NSManagedObject {
    @NSManaged var id: Int64
    @NSManaged var customer: String?
    @NSManaged var orderDate: Date?
    @NSManaged var freight: Double
    @NSManaged var lines: NSOrderedSet?

    func add(to sum: inout OrderSum) {
        sum.add(Int(id))
        sum.add(customer)
        sum.add(orderDate)
        sum.add(Int(freight))
        for (place, line) in (lines?.array ?? []).enumerated() {
            (line as? OrderLineObject)?.add(to: &sum, place: place)
        }
    }
}

/// The same of a model whose lines have no order.
final class UnorderedOrderObject: NSManagedObject {
    @NSManaged var id: Int64
    @NSManaged var customer: String?
    @NSManaged var orderDate: Date?
    @NSManaged var freight: Double
    @NSManaged var lines: Set<UnorderedLineObject>

    func add(to sum: inout OrderSum) {
        sum.add(Int(id))
        sum.add(customer)
        sum.add(orderDate)
        sum.add(Int(freight))
        for line in lines {
            sum.add(Int(line.id))
            sum.add(line.product)
            sum.add(Int(line.unitPrice))
            sum.add(Int(line.quantity))
            sum.add(line.discount == 0 ? 0 : 1)
        }
    }
}

final class UnorderedLineObject: NSManagedObject {
    @NSManaged var id: Int64
    @NSManaged var product: String?
    @NSManaged var unitPrice: Double
    @NSManaged var quantity: Int64
    @NSManaged var discount: Double
}

final class OrderLineObject: NSManagedObject {
    @NSManaged var id: Int64
    @NSManaged var product: String?
    @NSManaged var unitPrice: Double
    @NSManaged var quantity: Int64
    @NSManaged var discount: Double

    func add(to sum: inout OrderSum, place: Int) {
        sum.add(Int(id) &* (place + 1))
        sum.add(product)
        sum.add(Int(unitPrice))
        sum.add(Int(quantity))
        sum.add(discount == 0 ? 0 : 1)
    }
}

extension Northwind {
    /// The model of the structs, with classes.
    private static func objectModel(
        _ order: NSManagedObject.Type, _ line: NSManagedObject.Type, isOrdered: Bool
    ) -> NSManagedObjectModel? {
        let manager = PersistenceManager(models: OrderWithLines.self, Order.self, store: .memory)
        let model = manager.container.managedObjectModel.copy() as? NSManagedObjectModel
        model?.entitiesByName["BigOrder"]?.managedObjectClassName = NSStringFromClass(order)
        model?.entitiesByName["OrderLine"]?.managedObjectClassName = NSStringFromClass(line)
        model?.entitiesByName["BigOrder"]?.relationshipsByName["lines"]?.isOrdered = isOrdered
        return model
    }

    private static let orderedModel = objectModel(LargeOrderObject.self, OrderLineObject.self, isOrdered: true)
    private static let unorderedModel = objectModel(
        UnorderedOrderObject.self, UnorderedLineObject.self, isOrdered: false)

    /// A fetch of all large orders as objects, their lines prefetched, and every property of each read: lines as a
    /// `Set`, which most models have.
    static let prefetch = Work(
        title: "fetch 3,884 objects with 120,000 prefetched", budget: 2.5, operations: { _ in large },
        ours: { workspace, _ in
            // Opening it with another model makes the lines unordered.
            try trial(of: UnorderedOrderObject.self, in: workspace.ownNorthwind(), unorderedModel) { $0.add(to: &$1) }
        },
        baseline: { workspace, _ in try baseline(in: workspace, linesInOrder: false) })

    /// The same of an ordered relationship, as an `NSOrderedSet`, which Foundation makes and gives its elements one by
    /// one.
    static let orderedPrefetch = Work(
        title: "the same, of an ordered relationship", budget: 2.5, operations: { _ in large },
        ours: { workspace, _ in
            try trial(of: LargeOrderObject.self, in: workspace.northwind(), orderedModel) { $0.add(to: &$1) }
        },
        baseline: { workspace, _ in try baseline(in: workspace, linesInOrder: true) })

    private static func trial<Found: NSManagedObject>(
        of type: Found.Type, in store: URL, _ model: NSManagedObjectModel?,
        add: @escaping (Found, inout OrderSum) -> Void
    ) throws -> Trial {
        guard let model else { throw BaselineError(message: "the orders' model cannot be copied") }
        let context = try Stack(store: store, model: model).container.newBackgroundContext()
        return Trial(store: store, changesStore: false) {
            try context.performAndWait {
                let request = NSFetchRequest<Found>(entityName: "BigOrder")
                request.returnsObjectsAsFaults = false
                request.relationshipKeyPathsForPrefetching = ["lines"]
                var sum = OrderSum()
                for order in try context.fetch(request) { add(order, &sum) }
                return sum.checksum
            }
        }
    }

    private static func baseline(in workspace: Workspace, linesInOrder: Bool) throws -> Trial {
        let store = try workspace.northwind()
        let database = try Baseline(path: store)
        return Trial(store: store, changesStore: false) {
            var sum = OrderSum()
            for order in try database.fetchOrdersWithLines(linesInOrder: linesInOrder) {
                order.add(to: &sum, linesInOrder: linesInOrder)
            }
            return sum.checksum
        }
    }
}
