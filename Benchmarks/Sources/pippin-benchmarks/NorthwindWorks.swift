import Foundation
import Pippin

/// Orders of the sizes of the Northwind sample database, as structs, against the same statements of the C API into the same structs.
let northwindWorks = [
    Work(
        title: "fetch 16,664 flat orders, Codable", budget: 1.4, operations: { _ in Northwind.flat },
        ours: { workspace, _ in
            let store = try workspace.northwind()
            let manager = try Northwind.manager(store)
            return Trial(store: store, changesStore: false) {
                var sum = OrderSum()
                for order in try manager.readAndWait({ try $0.fetch(Order.self) }) { order.add(to: &sum) }
                return sum.checksum
            }
        },
        baseline: { workspace, _ in
            let store = try workspace.northwind()
            let database = try Baseline(path: store)
            return Trial(store: store, changesStore: false) {
                var sum = OrderSum()
                for order in try database.fetchOrders() { order.add(to: &sum) }
                return sum.checksum
            }
        }),
    Work(
        title: "fetch 3,884 orders with 120,000 lines, Codable", budget: 1.8, operations: { _ in Northwind.large },
        ours: { workspace, _ in
            let store = try workspace.northwind()
            let manager = try Northwind.manager(store)
            return Trial(store: store, changesStore: false) {
                var sum = OrderSum()
                for order in try manager.readAndWait({ try $0.fetch(OrderWithLines.self) }) { order.add(to: &sum) }
                return sum.checksum
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
        }),
    Northwind.save("save 3,884 new orders with 120,000 lines", into: .empty, budget: 1.5) { $0 },
    Northwind.save("save them again, unchanged", into: .filled, budget: 1.5) { $0 },
    Northwind.save("save them with one line changed in each", into: .filled, budget: 1.5) { orders in
        orders.map { order in
            var order = order
            order.lines[order.lines.count / 2].quantity += 1
            return order
        }
    },
]

enum Northwind {
    static let flat = 16_664
    static let large = 3_884

    enum Store { case empty, filled }

    static func manager(_ store: URL) throws -> PersistenceManager {
        let manager = PersistenceManager(models: Order.self, OrderWithLines.self, store: .file(store))
        try manager.readAndWait { _ in }
        return manager
    }

    /// A save of orders into a store of their own.
    static func save(
        _ title: String, into kind: Store, budget: Double,
        _ change: @escaping @Sendable ([OrderWithLines]) -> [OrderWithLines]
    ) -> Work {
        Work(
            title: title, budget: budget, operations: { _ in large },
            ours: { workspace, _ in
                let orders = change(OrderWithLines.make(large))
                let store = try kind == .empty ? workspace.emptyNorthwind() : workspace.ownNorthwind()
                let manager = try manager(store)
                return Trial(store: store, changesStore: false, finish: { try expect(kind, store, orders, workspace) })
                {
                    try manager.writeAndWait { try $0.save(orders) }
                    return Checksum()
                }
            },
            baseline: { workspace, _ in
                let orders = change(OrderWithLines.make(large))
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
