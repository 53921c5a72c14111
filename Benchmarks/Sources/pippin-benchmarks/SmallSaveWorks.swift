import CoreData
import Pippin

/// How many saves of one thing each, whatever the size of the store.
private let saves = 5_000

/// Saves of one thing each, as a server makes them: a transaction each, for the C API, too.
let smallSaveWorks = [
    Work(
        title: "5,000 new objects, each saved by itself", budget: nil, operations: { _ in saves },
        ours: { workspace, _ in
            let samples = Sample.make(saves)
            let store = try workspace.emptyStore()
            let context = try Stack(store: store).container.newBackgroundContext()
            return Trial(store: store, changesStore: true) {
                for sample in samples { try context.performAndWait { try Item.save([sample], in: context) } }
                return Checksum()
            }
        },
        baseline: { workspace, _ in try insertion(into: workspace.emptyStore()) }),
    Work(
        title: "5,000 objects changed, each saved by itself", budget: nil, operations: { _ in saves },
        ours: { workspace, _ in
            let store = try workspace.ownFilledStore(saves)
            let context = try Stack(store: store).container.newBackgroundContext()
            let items = try context.performAndWait { try Item.all(in: context) }
            return Trial(store: store, changesStore: true) {
                for item in items { try context.performAndWait { try Item.addOne(to: [item], in: context) } }
                return Checksum()
            }
        },
        baseline: { workspace, _ in try change(in: workspace.ownFilledStore(saves)) }),
    Work(
        title: "5,000 new structs, each saved by itself", budget: nil, operations: { _ in saves },
        ours: { workspace, _ in
            let store = try workspace.emptyBookStore()
            let manager = try Book.manager(store: store)
            let books = Sample.make(saves).map(Book.init)
            return Trial(store: store, changesStore: true) {
                try waiting { for book in books { try await manager.save(book) } }
                return Checksum()
            }
        },
        baseline: { workspace, _ in try insertion(into: workspace.emptyBookStore()) }),
]

private func insertion(into store: URL) throws -> Trial {
    let samples = Sample.make(saves)
    let database = try Baseline(path: store)
    return Trial(store: store, changesStore: true) {
        try database.insertEach(samples)
        return Checksum()
    }
}

private func change(in store: URL) throws -> Trial {
    let samples = Sample.make(saves)
    let database = try Baseline(path: store)
    return Trial(store: store, changesStore: true) {
        try database.changeEach(samples)
        return Checksum()
    }
}
