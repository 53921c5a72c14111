import Foundation
import Synchronization

// Requests of contexts. Each goes to the stores that can answer it, under the lock.
extension NSPersistentStoreCoordinator: RowSource {
    /// Runs a request of any kind.
    func run(_ request: NSPersistentStoreRequest, for context: NSManagedObjectContext) throws -> Any {
        if let fetch = request as? any FetchDescription { return try context.results(of: fetch) }
        if let request = request as? any ExecutableRequest { return try request.execute(in: self, for: context) }
        throw StoreError.make(
            CoreDataErrorCode.persistentStoreUnsupportedRequestType,
            "The stores do not know requests of type \(type(of: request)).")
    }

    /// Increases with every save, so that values read before it can be distinguished from values read after it.
    var generation: UInt32 { saveCount.load(ordering: .acquiring) }

    /// Whether the values of an object that were read at a generation are still its store's, as far as this coordinator
    /// knows.
    func isCurrent(_ identity: ObjectIdentity, since stamp: UInt32) -> Bool {
        if generation == stamp { return true }
        return withLock { changeLog.isUnchanged(identity, since: stamp) }
    }

    /// The stores that hold an entity.
    func storesOf(_ entity: EntityLayout, among wanted: [NSPersistentStore]?) -> [NSPersistentStore] {
        withLock {
            let holders: [NSPersistentStore]
            if let known = storesByEntity[ObjectIdentifier(entity)] {
                holders = known
            } else {
                holders = stores.filter { $0.holds(entity, of: managedObjectModel) }
                storesByEntity[ObjectIdentifier(entity)] = holders
            }
            return wanted.map { wanted in holders.filter(wanted.contains) } ?? holders
        }
    }

    func isScattered(_ plan: FetchPlan, stores: [NSPersistentStore]?) -> Bool {
        storesOf(plan.entity, among: stores).count > 1 || evaluatesInMemory(plan, stores: stores)
    }

    func evaluatesInMemory(_ plan: FetchPlan, stores: [NSPersistentStore]?) -> Bool {
        withLock { storesOf(plan.entity, among: stores).contains { $0.engine.evaluatesInMemory(plan) } }
    }

    func givesFaults(_ plan: FetchPlan) -> Bool {
        guard hasObjectStores else { return false }
        return storesOf(plan.entity, among: nil).contains { $0.objectStore?.givesFaults ?? false }
    }

    package func fetchRows(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> ContiguousArray<Row> {
        try withLock {
            let sources = storesOf(plan.entity, among: stores)
            if sources.count == 1 { return try sources[0].engine.fetchRows(plan) }
            return try ContiguousArray(sources.map { try $0.engine.fetchRows(plan) }.joined())
        }
    }

    /// The rows of all stores are read under the lock.
    var handsOutRows: Bool { true }

    /// Hands out the rows that a plan finds one by one, under the lock.
    func readRows(_ plan: FetchPlan, stores: [NSPersistentStore]?, _ body: (consuming PlacedRow) -> Void) throws {
        try withLock {
            for store in storesOf(plan.entity, among: stores) { try store.engine.readRows(plan, body) }
        }
    }

    /// Hands out rows one by one, under the lock. See `StoreEngine.forEachRow`.
    package func forEachRow(_ plan: FetchPlan, _ body: (any CurrentRow) -> Bool) throws {
        try withLock {
            var goesOn = true
            for store in storesOf(plan.entity, among: nil) where goesOn {
                try store.engine.forEachRow(plan) { row in
                    goesOn = body(row)
                    return goesOn
                }
            }
        }
    }

    /// Hands out the values of columns of the only store, under the lock. See `StoreEngine.readTuples`.
    package func readTuples(_ plan: FetchPlan, _ body: (ContiguousArray<StoredValue>) throws -> Void) throws {
        try withLock { try storesOf(plan.entity, among: nil).first?.engine.readTuples(plan, body) }
    }

    /// The statement that the first store runs to fetch rows; nil for a store that does not run statements.
    package func statement(of plan: FetchPlan) throws -> String? {
        try withLock { try storesOf(plan.entity, among: nil).first?.engine.explaining?.statement(of: plan) }
    }

    func fetchIdentifiers(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> [NSManagedObjectID] {
        try withLock { try storesOf(plan.entity, among: stores).flatMap { try $0.engine.fetchIdentifiers(plan) } }
    }

    func fetchCount(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> Int {
        try withLock {
            try storesOf(plan.entity, among: stores).reduce(0) { try $0 + $1.engine.fetchCount(plan) }
        }
    }

    func fetchDictionaries(_ plan: FetchPlan, stores: [NSPersistentStore]?) throws -> [[String: Any]] {
        try withLock {
            let sources = storesOf(plan.entity, among: stores)
            if sources.count == 1 { return try Self.dictionaries(plan, from: sources[0].engine) }
            let part = plan.forEachOfSeveralStores
            return try plan.gathered(sources.flatMap { try Self.dictionaries(part, from: $0.engine) })
        }
    }

    private static func dictionaries(_ plan: FetchPlan, from engine: any StoreEngine) throws -> [[String: Any]] {
        try TotalsBesideRows(plan)?.dictionaries(from: engine) ?? engine.fetchDictionaries(plan)
    }

    func row(for identifier: NSManagedObjectID) throws -> Row? {
        try withLock { try store(of: identifier)?.engine.row(for: identifier) }
    }

    package func rows(for identifiers: [NSManagedObjectID]) throws -> ContiguousArray<Row> {
        guard !identifiers.isEmpty else { return [] }
        return try withLock {
            var rows: ContiguousArray<Row> = []
            for store in stores {
                let mine = identifiers.filter { $0.storeIdentity === store.identity }
                if !mine.isEmpty { rows += try store.engine.rows(for: mine) }
            }
            return rows
        }
    }

    package func destinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] {
        try withLock {
            if let first = identifiers.first?.storeIdentity, let store = stores.first(where: { $0.identity === first }),
                identifiers.allSatisfy({ $0.storeIdentity === first })
            {
                return try store.engine.destinations(of: relationship, for: identifiers)
            }
            var found: [[NSManagedObjectID]] = Array(repeating: [], count: identifiers.count)
            for store in stores {
                let mine = identifiers.indices.filter { identifiers[$0].storeIdentity === store.identity }
                if mine.isEmpty { continue }
                let lists = try store.engine.destinations(of: relationship, for: mine.map { identifiers[$0] })
                for (position, list) in zip(mine, lists) { found[position] = list }
            }
            return found
        }
    }

    /// Rows of objects of one store, one by one, under the lock. See `StoreEngine.forEachRow(for:_:)`.
    package func forEachRow(
        for identifiers: [NSManagedObjectID], _ body: (_ place: Int, _ row: any CurrentRow) throws -> Void
    ) throws {
        guard let first = identifiers.first else { return }
        try withLock { try store(of: first)?.engine.forEachRow(for: identifiers, body) }
    }

    /// Rows with one of some values in a slot, one by one, under the lock. See
    /// `StoreEngine.forEachRow(of:where:isAmong:_:)`.
    package func forEachRow(
        of entity: EntityLayout, where slot: Int, isAmong values: [StoredValue], _ body: (any CurrentRow) throws -> Void
    ) throws {
        try withLock {
            for store in storesOf(entity, among: nil) {
                try store.engine.forEachRow(of: entity, where: slot, isAmong: values, body)
            }
        }
    }

    /// The rows at the end of a relationship of objects of one store, under the lock. See
    /// `StoreEngine.forEachDestination`.
    package func forEachDestination(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID],
        _ body: (_ place: Int, _ row: any CurrentRow) throws -> Void
    ) throws {
        guard let first = identifiers.first else { return }
        try withLock {
            try store(of: first)?.engine.forEachDestination(of: relationship, for: identifiers, body)
        }
    }

    /// The keys at the end of a relationship of objects of one store, under the lock. See `StoreEngine.forEachKey`.
    package func forEachKey(
        atEndOf relationship: RelationshipLayout, for identifiers: [NSManagedObjectID],
        _ body: (_ place: Int, _ key: Int64) -> Void
    ) throws {
        guard let first = identifiers.first else { return }
        try withLock { try store(of: first)?.engine.forEachKey(atEndOf: relationship, for: identifiers, body) }
    }

    func readDestinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID],
        _ body: (_ place: Int, _ row: consuming PlacedRow) -> Void
    ) throws -> Bool {
        guard !hasObjectStores, let first = identifiers.first,
            identifiers.allSatisfy({ $0.storeIdentity === first.storeIdentity })
        else { return false }
        return try withLock {
            guard let store = store(of: first) else { return false }
            try store.engine.forEachDestination(of: relationship, for: identifiers) { place, row in
                body(place, try row.placed())
            }
            return true
        }
    }

    private func store(of identifier: NSManagedObjectID) -> NSPersistentStore? {
        stores.first { $0.identity === identifier.storeIdentity }
    }

    /// Writes a context's changes.
    ///
    /// - Parameters:
    ///   - sets: the change set for each store.
    ///   - objects: returns the objects of a store, for stores that work with objects.
    ///   - transaction: the transaction that the save belongs to.
    /// - Returns: the result of each store, in the order of the sets.
    /// - Throws: `SaveRefusal` for conflicts, the error of a broken transaction, and the errors of the stores.
    func save(
        _ sets: [(NSPersistentStore, ChangeSet)],
        objects: (NSPersistentStore) -> SavedObjects = { _ in SavedObjects() },
        in transaction: OptimisticTransaction? = nil
    ) throws -> [SaveResult] {
        try withLock {
            for (store, _) in sets where store.isReadOnly {
                throw StoreError.make(
                    CocoaError.Code.fileWriteNoPermission.rawValue,
                    "The changes cannot be saved: the store was opened read-only\(store.facts.readOnlyReason).",
                    url: store.url,
                    userInfo: [NSAffectedStoresErrorKey: [store]])
            }
            let (results, generation) = try writing(to: sets.map(\.0), in: transaction) {
                try saveTogether(sets[...], objects)
            }
            for (_, changes) in sets { changeLog.note(changes, generation) }
            for result in results { changeLog.note(result.computed.map(\.objectID), generation) }
            if saveLog.isAsked { saveLog.note(sets.map(\.1), results, generation) }
            for (store, _) in sets { announceChange(of: store, followsSave: true) }
            return results
        }
    }

    /// Writes all sets or none: each store's transaction ends after the next store's has ended. Developers' stores,
    /// which have no transaction to keep open, come last, in their order.
    private func saveTogether(
        _ sets: ArraySlice<(NSPersistentStore, ChangeSet)>, _ objects: (NSPersistentStore) -> SavedObjects
    ) throws -> [SaveResult] {
        let ours = sets.firstIndex { $0.0.objectStore == nil }
        guard let index = ours else {
            return try sets.map { store, changes in
                guard let developers = store.objectStore else { return try store.engine.save(changes) }
                return try developers.save(objects(store), changes)
            }
        }
        let (store, changes) = sets[index]
        let others = sets[..<index] + sets[(index + 1)...]
        if others.isEmpty { return [try store.engine.save(changes)] }
        var results: [SaveResult] = []
        let result = try store.engine.save(changes) { results = try saveTogether(others, objects) }
        return [result] + results
    }
}

extension NSPersistentStore {
    /// Whether the store's configuration includes an entity.
    func holds(_ entity: EntityLayout, of model: NSManagedObjectModel) -> Bool {
        guard configurationName != NSManagedObjectModel.defaultConfigurationName,
            let entities = model.entities(forConfigurationName: configurationName)
        else { return true }
        return entities.contains { $0.name == entity.name || $0.name == entity.root.name }
    }
}
