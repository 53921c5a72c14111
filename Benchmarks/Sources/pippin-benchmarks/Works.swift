import CoreData
import Foundation

/// How many single objects are looked up by their key, whatever the size of the store.
let lookups = 20_000

/// Every fifth object and round again, so that neighbours in time are none in the file.
func keys(of objects: Int) -> [String] {
    (0..<lookups).map { Sample(number: ($0 &* 7919) % objects).uid }
}

let allTables: [WorkTable] =
    [
        WorkTable(
            heading: "objects of six attributes", ours: "Core Data", baseline: "C API", works: objectWorks + batchWorks),
        WorkTable(heading: "structs of six properties", ours: "Pippin", baseline: "C API", works: structWorks),
        WorkTable(
            heading: "…, and Northwind's orders", ours: "Pippin", baseline: "C API", isOfAnySize: false,
            works: northwindWorks),
        WorkTable(
            heading: "…, one save each", ours: "Pippin", baseline: "C API", isOfAnySize: false, works: smallSaveWorks),
        WorkTable(
            heading: "…, searched, and rows of SQL", ours: "Pippin", baseline: "C API", isOfAnySize: false,
            works: searchWorks),
        WorkTable(
            heading: "objects, next to a direct save", ours: "this", baseline: "direct save", isOfAnySize: false,
            works: ownWorks),
        WorkTable(
            heading: "models of six properties", ours: "SwiftData", baseline: "managed objects", works: modelWorks),
    ] + othersTables

#if GRDB_COLUMN
    private let othersTables = [
        WorkTable(
            heading: "structs of six properties, and Northwind's orders, by GRDB", ours: "GRDB", baseline: "C API",
            isOfAnySize: false, works: grdbWorks)
    ]
#else
    private let othersTables: [WorkTable] = []
#endif

let allWorks = allTables.flatMap(\.works)

private let objectWorks = [
    Work(
        title: "save new objects", budget: 1.8, operations: { $0 },
        ours: { workspace, objects in
            let samples = Sample.make(objects)
            let store = try workspace.emptyStore()
            let stack = try Stack(store: store)
            let context = stack.container.newBackgroundContext()
            return Trial(store: store, changesStore: true) {
                try context.performAndWait { try Item.save(samples, in: context) }
                return Checksum()
            }
        },
        baseline: { workspace, objects in
            let samples = Sample.make(objects)
            let store = try workspace.emptyStore()
            let database = try Baseline(path: store)
            return Trial(store: store, changesStore: true) {
                try database.insert(samples)
                return Checksum()
            }
        }),
    Work(
        title: "fetch all and read every property", budget: 2, operations: { $0 },
        ours: { workspace, objects in
            let store = try workspace.filledStore(objects)
            let stack = try Stack(store: store)
            let context = stack.container.newBackgroundContext()
            return Trial(store: store, changesStore: false) {
                try context.performAndWait { try Item.readAll(in: context) }
            }
        },
        baseline: { workspace, objects in
            let store = try workspace.filledStore(objects)
            let database = try Baseline(path: store)
            return Trial(store: store, changesStore: false) { try database.fetchAll() }
        }),
    Work(
        title: "20,000 fetches by unique key", budget: 3, operations: { _ in lookups },
        ours: { workspace, objects in
            let store = try workspace.filledStore(objects)
            let stack = try Stack(store: store)
            let context = stack.container.newBackgroundContext()
            let keys = keys(of: objects)
            return Trial(store: store, changesStore: false) {
                try context.performAndWait { try Item.read(keys: keys, in: context) }
            }
        },
        baseline: { workspace, objects in
            let store = try workspace.filledStore(objects)
            let database = try Baseline(path: store)
            let keys = keys(of: objects)
            return Trial(store: store, changesStore: false) { try database.fetch(keys: keys) }
        }),
    Work(
        title: "change one attribute and save", budget: 2, operations: { $0 },
        ours: { workspace, objects in
            let store = try workspace.ownFilledStore(objects)
            let stack = try Stack(store: store)
            let context = stack.container.newBackgroundContext()
            let items = try context.performAndWait { try Item.all(in: context) }
            return Trial(store: store, changesStore: true) {
                try context.performAndWait { try Item.addOne(to: items, in: context) }
                return Checksum()
            }
        },
        baseline: { workspace, objects in
            let store = try workspace.ownFilledStore(objects)
            let database = try Baseline(path: store)
            let samples = Sample.make(objects)
            return Trial(store: store, changesStore: true) {
                try database.changeAll(samples)
                return Checksum()
            }
        }),
]
