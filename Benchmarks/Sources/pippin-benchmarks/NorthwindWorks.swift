import Foundation
import Pippin

/// Orders of the sizes of the Northwind sample database, as structs, against the same statements of the C API into the
/// same structs.
let northwindWorks = [
    Northwind.fetch("fetch 16,664 flat orders, @CoreModel", budget: 1.1, Order.self),
    Northwind.fetch("fetch 16,664 flat orders, Codable", budget: 1.4, CodedOrder.self),
    Northwind.fetch("fetch 3,884 orders with 120,000 lines, @CoreModel", budget: 1.3, OrderWithLines.self),
    Northwind.fetch("fetch 3,884 orders with 120,000 lines, Codable", budget: 1.8, CodedOrderWithLines.self),
    Northwind.prefetch,
    Northwind.orderedPrefetch,
    Northwind.save("save 3,884 new orders with 120,000 lines, @CoreModel", into: .empty, OrderWithLines.self),
    Northwind.save("save 3,884 new orders with 120,000 lines, Codable", into: .empty, CodedOrderWithLines.self),
    Northwind.save("save them again, unchanged, @CoreModel", into: .filled, OrderWithLines.self),
    Northwind.save("save them again, unchanged, Codable", into: .filled, CodedOrderWithLines.self),
    Northwind.save("save them with one line changed in each, @CoreModel", into: .changed, OrderWithLines.self),
    Northwind.save("save them with one line changed in each, Codable", into: .changed, CodedOrderWithLines.self),
]

enum Northwind {
    static let flat = 16_664
    static let large = 3_884

    /// What is saved into, and what of it changes.
    enum Store {
        case empty, filled, changed

        func orders() -> [OrderWithLines] {
            let orders = OrderWithLines.make(large)
            guard self == .changed else { return orders }
            return orders.map { order in
                var order = order
                order.lines[order.lines.count / 2].quantity += 1
                return order
            }
        }
    }

    /// A manager for flat orders and large ones.
    static func manager(_ store: URL, _ types: any CoreModel.Type...) throws -> PersistenceManager {
        let manager = PersistenceManager(models: types, store: .file(store))
        try manager.readAndWait { _ in }
        return manager
    }

    /// A fetch of all flat orders.
    static func fetch<Model: OrderModel>(_ title: String, budget: Double, _ type: Model.Type) -> Work {
        fetch(
            title, budget: budget, flat, Model.self, OrderWithLines.self, { $0.add(to: &$1) },
            baseline: { database, sum in for order in try database.fetchOrders() { order.add(to: &sum) } })
    }

    /// A fetch of all orders with their lines.
    static func fetch<Model: OrderWithLinesModel>(_ title: String, budget: Double, _ type: Model.Type) -> Work {
        fetch(
            title, budget: budget, large, Model.self, Order.self, { $0.add(to: &$1) },
            baseline: { database, sum in for order in try database.fetchOrdersWithLines() { order.add(to: &sum) } })
    }

    private static func fetch<Model: CoreModel>(
        _ title: String, budget: Double, _ count: Int, _ type: Model.Type, _ other: any CoreModel.Type,
        _ add: @escaping @Sendable (Model, inout OrderSum) -> Void,
        baseline: @escaping @Sendable (Baseline, inout OrderSum) throws -> Void
    ) -> Work {
        Work(
            title: title, budget: budget, operations: { _ in count },
            ours: { workspace, _ in
                let store = try workspace.northwind()
                let manager = try manager(store, type, other)
                return Trial(store: store, changesStore: false) {
                    var sum = OrderSum()
                    for order in try manager.readAndWait({ try $0.fetch(type) }) { add(order, &sum) }
                    return sum.checksum
                }
            },
            baseline: { workspace, _ in
                let store = try workspace.northwind()
                let database = try Baseline(path: store)
                return Trial(store: store, changesStore: false) {
                    var sum = OrderSum()
                    try baseline(database, &sum)
                    return sum.checksum
                }
            })
    }

    /// A save of orders into a store of their own.
    static func save<Model: OrderWithLinesModel>(_ title: String, into kind: Store, _ type: Model.Type) -> Work {
        Work(
            title: title, budget: 1.5, operations: { _ in large },
            ours: { workspace, _ in
                let orders = kind.orders()
                let models = orders.map(Model.init)
                let store = try kind == .empty ? workspace.emptyNorthwind() : workspace.ownNorthwind()
                let manager = try manager(store, Model.self, Order.self)
                return Trial(store: store, changesStore: false, finish: { try expect(kind, store, orders, workspace) })
                {
                    try manager.writeAndWait { try $0.save(models) }
                    return Checksum()
                }
            },
            baseline: { workspace, _ in
                let orders = kind.orders()
                let store = try kind == .empty ? workspace.emptyNorthwind() : workspace.ownNorthwind()
                let database = try Baseline(path: store)
                return Trial(store: store, changesStore: false, finish: { try expect(kind, store, orders, workspace) })
                {
                    if kind == .empty { try database.insert(orders) } else { try database.saveAgain(orders) }
                    return Checksum()
                }
            })
    }

    /// Makes sure that a save left what it should, and nothing was written that did not change.
    private static func expect(_ kind: Store, _ store: URL, _ orders: [OrderWithLines], _ workspace: Workspace) throws {
        let lines = orders.flatMap(\.lines)
        let places = orders.flatMap { order in order.lines.enumerated().map { $1.id * ($0 + 2) * 1024 } }
        let changed = kind == .empty ? 0 : zip(lines, OrderWithLines.make(large).flatMap(\.lines)).count { $0 != $1 }
        let expected: [Int64] = [
            Int64(orders.count), Int64(orders.count), Int64(lines.count), Int64(lines.count + changed),
            lines.reduce(0) { $0 + Int64($1.quantity) }, places.reduce(0) { $0 + Int64($1) }, Int64(orders.count),
        ]
        let found = try Baseline(path: store).orderSummary()
        workspace.discard(store)
        guard found == expected else { throw DifferentOutcome(message: "saved orders are \(found), not \(expected)") }
    }
}
