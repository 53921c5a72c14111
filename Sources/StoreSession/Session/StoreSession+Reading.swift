import CoreDataModel
import Foundation
import StoreEngine

// Reads rows. Each request goes to the stores that can answer it, under the lock.
extension StoreSession {
    /// Whether a store leaves a plan's predicate and order to the caller.
    package func evaluatesInMemory(_ plan: FetchPlan, stores: [SessionStore]?) -> Bool {
        withLock { storesOf(plan.entity, among: stores).contains { $0.engine.evaluatesInMemory(plan) } }
    }

    package func fetchRows(_ plan: FetchPlan, stores: [SessionStore]? = nil) throws -> ContiguousArray<Row> {
        try withLock {
            let sources = storesOf(plan.entity, among: stores)
            if sources.count == 1 { return try sources[0].engine.fetchRows(plan) }
            return try ContiguousArray(sources.map { try $0.engine.fetchRows(plan) }.joined())
        }
    }

    /// Hands out the rows that a plan finds one by one, under the lock.
    package func readRows(
        _ plan: FetchPlan, stores: [SessionStore]?, _ body: (consuming PlacedRow) -> Void
    ) throws {
        try withLock {
            for store in storesOf(plan.entity, among: stores) { try store.engine.readRows(plan, body) }
        }
    }

    /// Hands out rows one by one, under the lock. See `StoreEngine.forEachRow`.
    package func forEachRow(_ plan: FetchPlan, _ body: (any CurrentRow) -> Bool) throws {
        try withLock {
            var goesOn = true
            for store in storesOf(plan.entity) where goesOn {
                try store.engine.forEachRow(plan) { row in
                    goesOn = body(row)
                    return goesOn
                }
            }
        }
    }

    /// Hands out the values of columns of the only store, under the lock. See `StoreEngine.readTuples`.
    package func readTuples(_ plan: FetchPlan, _ body: (ContiguousArray<StoredValue>) throws -> Void) throws {
        try withLock { try storesOf(plan.entity).first?.engine.readTuples(plan, body) }
    }

    /// The statement that the first store runs to fetch rows; nil for a store that does not run statements.
    package func statement(of plan: FetchPlan) throws -> String? {
        try withLock { try storesOf(plan.entity).first?.engine.explaining?.statement(of: plan) }
    }

    package func fetchIdentifiers(_ plan: FetchPlan, stores: [SessionStore]?) throws -> [NSManagedObjectID] {
        try withLock { try storesOf(plan.entity, among: stores).flatMap { try $0.engine.fetchIdentifiers(plan) } }
    }

    package func fetchCount(_ plan: FetchPlan, stores: [SessionStore]?) throws -> Int {
        try withLock {
            try storesOf(plan.entity, among: stores).reduce(0) { try $0 + $1.engine.fetchCount(plan) }
        }
    }

    package func fetchDictionaries(_ plan: FetchPlan, stores: [SessionStore]?) throws -> [[String: Any]] {
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

    package func row(for identifier: NSManagedObjectID) throws -> Row? {
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
            for store in storesOf(entity) {
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

    /// The rows at the end of a relationship of objects, to be kept: false for objects of several stores, of which
    /// nothing is read.
    package func readDestinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID],
        _ body: (_ place: Int, _ row: consuming PlacedRow) -> Void
    ) throws -> Bool {
        guard let first = identifiers.first,
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
}
