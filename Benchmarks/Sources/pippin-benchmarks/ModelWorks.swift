import CoreData
import Foundation
import Observation
import SwiftData

/// SwiftData's model of what is saved: the same entity as that of the managed objects.
enum Models {
    @Model
    final class Item {
        @Attribute(.unique) var uid: String?
        var title: String?
        var count: Int64
        var price: Double
        var createdAt: Date?
        var isFlagged: Bool

        init(_ sample: Sample) {
            uid = sample.uid
            title = sample.title
            count = sample.count
            price = sample.price
            createdAt = sample.createdAt
            isFlagged = sample.isFlagged
        }

        func add(to checksum: inout Checksum) {
            checksum.add(
                uidBytes: uid?.utf8.count ?? 0, titleBytes: title?.utf8.count ?? 0, count: count, price: price,
                createdAt: createdAt?.timeIntervalSinceReferenceDate ?? 0, isFlagged: isFlagged)
        }
    }

    /// A context on a store, which is made if it is not there.
    static func context(_ store: URL) throws -> ModelContext {
        ModelContext(try ModelContainer(for: Item.self, configurations: ModelConfiguration(url: store)))
    }

    /// A store with objects, made by SwiftData.
    static func filledStore(_ workspace: Workspace, _ objects: Int) throws -> URL {
        let store = workspace.newStore()
        let context = try context(store)
        for sample in Sample.make(objects) { context.insert(Item(sample)) }
        try context.save()
        return store
    }

    /// A context of managed objects on a store with a history, as SwiftData's have one.
    static func objectContext(_ store: URL) throws -> NSManagedObjectContext {
        try Stack(store: store, tracksHistory: true).container.newBackgroundContext()
    }
}

/// Models next to managed objects: both on stores of their own with a history.
let modelWorks = [
    Work(
        title: "save new models", budget: 1.25, operations: { $0 },
        ours: { workspace, objects in
            let samples = Sample.make(objects)
            let store = workspace.newStore()
            let context = try Models.context(store)
            return Trial(store: store, changesStore: true) {
                for sample in samples { context.insert(Models.Item(sample)) }
                try context.save()
                return Checksum()
            }
        },
        baseline: { workspace, objects in
            let samples = Sample.make(objects)
            let store = workspace.newStore()
            let context = try Models.objectContext(store)
            return Trial(store: store, changesStore: true) {
                try context.performAndWait { try Item.save(samples, in: context) }
                return Checksum()
            }
        }),
    Work(
        title: "fetch all models and read every property", budget: 1.3, operations: { $0 },
        ours: { workspace, objects in
            let store = try Models.filledStore(workspace, objects)
            let context = try Models.context(store)
            return Trial(store: store, changesStore: true) {
                var checksum = Checksum()
                for item in try context.fetch(FetchDescriptor<Models.Item>()) { item.add(to: &checksum) }
                return checksum
            }
        },
        baseline: { workspace, objects in
            let store = workspace.newStore()
            let writing = try Models.objectContext(store)
            try writing.performAndWait { try Item.save(Sample.make(objects), in: writing) }
            let context = try Models.objectContext(store)
            return Trial(store: store, changesStore: true) {
                try context.performAndWait { try Item.readAll(in: context) }
            }
        }),
    Work(
        title: "change one property of models and save", budget: 1.3, operations: { $0 },
        ours: { workspace, objects in
            let store = try Models.filledStore(workspace, objects)
            let context = try Models.context(store)
            let items = try context.fetch(FetchDescriptor<Models.Item>())
            return Trial(store: store, changesStore: true) {
                for item in items { item.count += 1 }
                try context.save()
                return Checksum()
            }
        },
        baseline: { workspace, objects in
            let store = workspace.newStore()
            let writing = try Models.objectContext(store)
            try writing.performAndWait { try Item.save(Sample.make(objects), in: writing) }
            let context = try Models.objectContext(store)
            let items = try context.performAndWait { try Item.all(in: context) }
            return Trial(store: store, changesStore: true) {
                try context.performAndWait { try Item.addOne(to: items, in: context) }
                return Checksum()
            }
        }),
]

/// What one property of a model takes.
enum ModelAccess {
    static func report(_ options: Options) throws {
        guard options.only.map("property of a model".contains) ?? true else { return }
        let container = try ModelContainer(
            for: Models.Item.self, configurations: ModelConfiguration(isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        context.insert(Models.Item(Sample(number: 1)))
        try context.save()
        guard let item = try context.fetch(FetchDescriptor<Models.Item>()).first else { return }
        var sum: Int64 = 0
        let read = nanoseconds(1_000_000) { sum &+= item.count }
        let text = nanoseconds(1_000_000) { sum &+= Int64(item.title?.utf8.count ?? 0) }
        let write = nanoseconds(200_000) {
            withObservationTracking({ sum &+= item.count }, onChange: {})
            item.count += 1
        }
        let tracking = nanoseconds(200_000) { withObservationTracking({ sum &+= item.count }, onChange: {}) }
        print(
            "\nA property of a model, nanoseconds each time (\(sum & 1)): read a number \(read) (at most 60), read a text "
                + "\(text), write a number that is observed \(write - tracking) (at most 250)\n")
    }

    private static func nanoseconds(_ times: Int, _ work: () -> Void) -> Int {
        let clock = ContinuousClock()
        let rounds = (0..<5).map { _ in clock.measure { for _ in 0..<times { work() } } }.sorted()
        return Int(rounds[2] / .nanoseconds(1)) / times
    }
}
