import CoreData
import Foundation
import Pippin

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
    static let objectModel: NSManagedObjectModel? = {
        let manager = PersistenceManager(models: OrderWithLines.self, Order.self, store: .memory)
        let model = manager.container.managedObjectModel.copy() as? NSManagedObjectModel
        model?.entitiesByName["BigOrder"]?.managedObjectClassName = NSStringFromClass(LargeOrderObject.self)
        model?.entitiesByName["OrderLine"]?.managedObjectClassName = NSStringFromClass(OrderLineObject.self)
        return model
    }()

    /// A fetch of all large orders as objects, their lines prefetched, and every property of each read.
    static let prefetch = Work(
        title: "fetch 3,884 objects with 120,000 prefetched", budget: 2.5, operations: { _ in large },
        ours: { workspace, _ in
            let store = try workspace.northwind()
            guard let objectModel else { throw BaselineError(message: "the orders' model cannot be copied") }
            let stack = try Stack(store: store, model: objectModel)
            let context = stack.container.newBackgroundContext()
            return Trial(store: store, changesStore: false) {
                try context.performAndWait {
                    let request = NSFetchRequest<LargeOrderObject>(entityName: "BigOrder")
                    request.returnsObjectsAsFaults = false
                    request.relationshipKeyPathsForPrefetching = ["lines"]
                    var sum = OrderSum()
                    for order in try context.fetch(request) { order.add(to: &sum) }
                    return sum.checksum
                }
            }
        },
        baseline: { workspace, _ in
            let store = try workspace.northwind()
            let database = try Baseline(path: store)
            return Trial(store: store, changesStore: false) {
                var sum = OrderSum()
                for order in try database.fetchOrdersWithLines() { order.add(to: &sum) }
                return sum.checksum
            }
        })
}
