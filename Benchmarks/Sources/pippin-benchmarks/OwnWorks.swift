import CoreData
import Foundation
import Pippin

/// What comes on top of a save, next to the same save without it.
let ownWorks = [
    Work(
        title: "save new objects of a child context into its parent", budget: 2, operations: { $0 },
        ours: { workspace, objects in
            let samples = Sample.make(objects)
            let store = try workspace.emptyStore()
            let (parent, child) = try contexts(store)
            child.performAndWait { Item.insert(samples, in: child) }
            return Trial(store: store, changesStore: true, finish: { try parent.performAndWait { try parent.save() } })
            {
                try child.performAndWait { try child.save() }
                return Checksum()
            }
        },
        baseline: { workspace, objects in
            let samples = Sample.make(objects)
            let store = try workspace.emptyStore()
            let context = try Stack(store: store).container.newBackgroundContext()
            context.performAndWait { Item.insert(samples, in: context) }
            return Trial(store: store, changesStore: true) {
                try context.performAndWait { try context.save() }
                return Checksum()
            }
        }),
    Work(
        title: "save changed objects of a child context into its parent", budget: 2, operations: { $0 },
        ours: { workspace, objects in
            let store = try workspace.ownFilledStore(objects)
            let (parent, child) = try contexts(store)
            let items = try child.performAndWait { try Item.changeAll(in: child) }
            return Trial(store: store, changesStore: true, finish: { try parent.performAndWait { try parent.save() } })
            {
                try child.performAndWait { try child.save() }
                return withExtendedLifetime(items) { Checksum() }
            }
        },
        baseline: { workspace, objects in
            let store = try workspace.ownFilledStore(objects)
            let context = try Stack(store: store).container.newBackgroundContext()
            let items = try context.performAndWait { try Item.changeAll(in: context) }
            return Trial(store: store, changesStore: true) {
                try context.performAndWait { try context.save() }
                return withExtendedLifetime(items) { Checksum() }
            }
        }),
    Work(
        title: "save structs while a live query observes them", budget: 1.05, operations: { $0 },
        ours: { workspace, objects in
            let books = Sample.make(objects).map(Book.init)
            let store = try workspace.emptyBookStore()
            let manager = try Book.manager(store: store)
            let observer = Observer(manager)
            return Trial(store: store, changesStore: true, finish: observer.stop) {
                try manager.writeAndWait { try $0.save(books) }
                return Checksum()
            }
        },
        baseline: { workspace, objects in
            let books = Sample.make(objects).map(Book.init)
            let store = try workspace.emptyBookStore()
            let manager = try Book.manager(store: store)
            return Trial(store: store, changesStore: true) {
                try manager.writeAndWait { try $0.save(books) }
                return Checksum()
            }
        }),
    Work(
        title: "500 saves of a struct beside 100 live queries that they do not touch", budget: 1.1,
        operations: { _ in singleSaves },
        ours: { workspace, _ in
            let store = try workspace.emptyBookStore()
            let manager = try Book.manager(store: store)
            let observers = (0..<100).map { number in Observer(manager, where: \.count == Int64(-1 - number)) }
            return Trial(store: store, changesStore: true, finish: { observers.forEach { $0.stop() } }) {
                try saveEach(manager)
            }
        },
        baseline: { workspace, _ in
            let store = try workspace.emptyBookStore()
            let manager = try Book.manager(store: store)
            return Trial(store: store, changesStore: true) { try saveEach(manager) }
        }),
]

private let singleSaves = 500

/// Saves structs one by one.
private func saveEach(_ manager: PersistenceManager) throws -> Checksum {
    for book in Sample.make(singleSaves).map(Book.init) { try manager.writeAndWait { try $0.save(book) } }
    return Checksum()
}

private func contexts(_ store: URL) throws -> (parent: NSManagedObjectContext, child: NSManagedObjectContext) {
    let parent = try Stack(store: store).container.newBackgroundContext()
    let child = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
    child.parent = parent
    return (parent, child)
}

/// Follows the first hundred books, as a list on a screen does.
private final class Observer: Sendable {
    private let task: Task<Void, any Error>
    private let isStopped = DispatchSemaphore(value: 0)

    /// Returns when the first state has come.
    init(_ manager: PersistenceManager, where filter: Filter<Book> = .all) {
        let isStarted = DispatchSemaphore(value: 0)
        let isStopped = isStopped
        task = Task.detached {
            defer { isStopped.signal() }
            for try await _ in manager.observe(Book.self, where: filter, sortedBy: .ascending(\.uid), limit: 100) {
                isStarted.signal()
            }
        }
        isStarted.wait()
    }

    @Sendable func stop() {
        task.cancel()
        isStopped.wait()
    }
}
