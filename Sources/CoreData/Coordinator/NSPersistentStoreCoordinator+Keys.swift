import Foundation
import StoreSession

// Permanent IDs for new objects.
extension NSPersistentStoreCoordinator {
    /// Permanent IDs for new objects: in the store to which each was assigned, or the first that may take it.
    func makePermanentIdentifiers(
        for objects: [NSManagedObject], assigned: [ObjectIdentifier: NSPersistentStore]
    ) throws -> [NSManagedObjectID] {
        try identifiers(for: objects, assigned: assigned) { objects, store in
            if store.objectStore != nil { return try identifiersOfDevelopers(for: objects, in: store) }
            return try store.engine.makePermanentIdentifiers(
                for: objects.map(\.layout), isSavedLater: session.activeTransaction != nil)
        }
    }

    /// The same for objects that are saved immediately.
    ///
    /// - Returns: an ID for each of the objects, and the promise of each store, by the store's identity.
    func promiseIdentifiers(
        for objects: [NSManagedObject], assigned: [ObjectIdentifier: NSPersistentStore]
    ) throws -> (identifiers: [NSManagedObjectID], promises: [ObjectIdentifier: [KeyPromise]]) {
        var promises: [ObjectIdentifier: [KeyPromise]] = [:]
        let identifiers = try identifiers(for: objects, assigned: assigned) { objects, store in
            if store.objectStore != nil { return try identifiersOfDevelopers(for: objects, in: store) }
            let promised = try store.engine.promiseIdentifiers(for: objects.map(\.layout))
            promises[ObjectIdentifier(store.identity), default: []] += promised.promises
            return promised.identifiers
        }
        return (identifiers, promises)
    }

    private func identifiersOfDevelopers(
        for objects: [NSManagedObject], in store: NSPersistentStore
    ) throws -> [NSManagedObjectID] {
        try asking(for: objects.first?.storedContext) {
            try store.objectStore?.makePermanentIdentifiers(for: objects) ?? []
        }
    }

    /// The store that new objects of an entity get into, unless they are assigned to another; `nil` if no store takes
    /// them.
    func storeOfNewObjects(of layout: EntityLayout) -> NSPersistentStore? {
        withLock { storesOf(layout, among: nil).first { !$0.isReadOnly } }
    }

    private func identifiers(
        for objects: [NSManagedObject], assigned: [ObjectIdentifier: NSPersistentStore],
        _ make: ([NSManagedObject], NSPersistentStore) throws -> [NSManagedObjectID]
    ) throws -> [NSManagedObjectID] {
        guard !objects.isEmpty else { return [] }
        return try withLock {
            var defaults: [ObjectIdentifier: NSPersistentStore] = [:]
            var last: EntityLayout?
            func store(for object: NSManagedObject) throws -> NSPersistentStore {
                if !assigned.isEmpty, let store = assigned[ObjectIdentifier(object)] { return store }
                if let known = defaults[ObjectIdentifier(object.layout)] { return known }
                let candidates = storesOf(object.layout, among: nil)
                guard let store = candidates.first(where: { !$0.isReadOnly }) else {
                    throw noStore(for: object, candidates)
                }
                defaults[ObjectIdentifier(object.layout)] = store
                return store
            }
            if stores.count == 1, assigned.isEmpty, let only = stores.first {
                for object in objects where object.layout !== last {
                    _ = try store(for: object)
                    last = object.layout
                }
                return try make(objects, only)
            }
            var groups: [(store: NSPersistentStore, positions: [Int])] = []
            for (position, object) in objects.enumerated() {
                let store = try store(for: object)
                if let index = groups.firstIndex(where: { $0.store === store }) {
                    groups[index].positions.append(position)
                } else {
                    groups.append((store, [position]))
                }
            }
            var result: [Int: NSManagedObjectID] = [:]
            for group in groups {
                let made = try make(group.positions.map { objects[$0] }, group.store)
                for (position, identifier) in zip(group.positions, made) { result[position] = identifier }
            }
            return objects.indices.compactMap { result[$0] }
        }
    }

    private func noStore(for object: NSManagedObject, _ candidates: [NSPersistentStore]) -> NSError {
        if let readOnly = candidates.first {
            return StoreError.make(
                CocoaError.Code.fileWriteNoPermission.rawValue,
                "A new “\(object.layout.name)” cannot be saved: its store was opened read-only"
                    + "\(readOnly.facts.readOnlyReason).", url: readOnly.url,
                userInfo: [NSAffectedStoresErrorKey: [readOnly]])
        }
        return StoreError.make(
            CoreDataErrorCode.persistentStoreSave,
            "A new “\(object.layout.name)” cannot be saved: the coordinator has no store for its entity. Add one with "
                + "addPersistentStore or loadPersistentStores first.")
    }
}

// Exclusive use of the stores.
extension NSPersistentStoreCoordinator {
    func withLock<Result>(_ body: () throws -> Result) rethrows -> Result { try session.withLock(body) }

    /// Runs a block that asks stores on behalf of a context, which developers' stores can see.
    func asking<Result>(for context: NSManagedObjectContext?, _ body: () throws -> Result) rethrows -> Result {
        try withLock {
            let asked = stores.compactMap(\.objectStore)
            let former = asked.map(\.askingContext)
            for store in asked { store.askingContext = context }
            defer { for (store, context) in zip(asked, former) { store.askingContext = context } }
            return try body()
        }
    }

    // MARK: Blocks of a program

    func runLater(_ block: @escaping () -> Void) {
        let work = Transferred(block)
        queue.async { [self] in withLock { work.value() } }
    }

    /// Runs a block with exclusive use of the stores, and waits for its result.
    ///
    /// - Parameter block: the work; no other thread uses the stores meanwhile.
    /// - Returns: what the block returns.
    /// - Throws: what the block throws.
    public func performAndWait<T>(_ block: () throws -> T) rethrows -> T { try withLock(block) }

    /// Runs a block with exclusive use of the stores, without blocking the caller.
    ///
    /// - Parameter block: the work; no other thread uses the stores meanwhile.
    /// - Returns: what the block returns.
    /// - Throws: what the block throws.
    @preconcurrency
    public func perform<T>(_ block: @escaping @Sendable () throws -> T) async rethrows -> T {
        try NSManagedObjectContext.get(await outcome(of: block), of: block)
    }

    private func outcome<T>(of block: @escaping @Sendable () throws -> T) async -> Swift.Result<T, any Error> {
        let result: Transferred<Swift.Result<T, any Error>> = await withCheckedContinuation { continuation in
            let later = NSManagedObjectContext.Later<Swift.Result<T, any Error>>()
            // Objects captured by the block are released before the caller continues.
            let work = HandedBlock { later.value = Swift.Result { try block() } }
            perform {
                work.run()
                continuation.resume(returning: Transferred(later.take()))
            }
        }
        return result.value
    }
}
