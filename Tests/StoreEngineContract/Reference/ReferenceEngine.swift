import CoreDataModel
import Foundation
import StoreEngine

/// A store engine in dictionaries: rows by ID, predicates evaluated in memory, everything copied before it is changed.
///
/// Its behaviour is the contract of `StoreEngine`; where it and another engine differ, one of them is wrong.
package class ReferenceEngine: StoreEngine {
    let layout: ModelLayout
    let identity = StoreIdentity(uuid: UUID().uuidString)
    var store = ReferenceStore()
    /// What the store was before a long transaction.
    var beforeLongTransaction: ReferenceStore?
    /// Another error that the latest failure may as well have been: what is wrong in two ways may be refused for
    /// either.
    var alternative: (any Error)?

    package init(_ model: NSManagedObjectModel) throws { layout = try model.compiledLayout() }

    // MARK: Reading

    package func fetchRows(_ plan: FetchPlan) throws -> ContiguousArray<Row> {
        ContiguousArray(try found(plan).compactMap { store.rows[$0.identifier] })
    }

    package func fetchIdentifiers(_ plan: FetchPlan) throws -> [NSManagedObjectID] {
        try found(plan).map(\.identifier)
    }

    package func fetchCount(_ plan: FetchPlan) throws -> Int { try found(plan).count }

    package func fetchDictionaries(_ plan: FetchPlan) throws -> [[String: Any]] {
        var unlimited = plan
        (unlimited.limit, unlimited.offset) = (0, 0)
        return Self.cut(try ReferenceDictionaries(plan).dictionaries(of: found(unlimited)), plan)
    }

    package func rows(for identifiers: [NSManagedObjectID]) throws -> ContiguousArray<Row> {
        ContiguousArray(identifiers.compactMap { store.rows[$0] })
    }

    package func destinations(
        of relationship: RelationshipLayout, for identifiers: [NSManagedObjectID]
    ) throws -> [[NSManagedObjectID]] { identifiers.map { store.destinations(of: relationship, for: $0) } }

    /// The objects that a plan finds, in order.
    private func found(_ plan: FetchPlan) throws -> [ReferenceObject] {
        let objects = ReferenceObjects(store)
        var found = store.rows(of: plan.entity).map(\.objectID)
            .filter { plan.includesSubentities || $0.layout === plan.entity }.map(objects.object)
        if let predicate = plan.predicate {
            let tree = try predicateTree(of: predicate)
            if let obstacle = tree.obstacle {
                throw StoreError.make(CoreDataErrorCode.coreData, "The predicate cannot be used: \(obstacle).")
            }
            try PredicateKeys.check(tree, of: plan.entity)
            let compiled = CompiledPredicate(tree)
            found = found.filter { compiled.evaluate($0) }
        }
        return Self.cut(found.sorted(by: try sortTerms(of: plan.sortDescriptors)), plan)
    }

    /// The IDs that a batch is about.
    func identifiers(_ plan: FetchPlan) throws -> [NSManagedObjectID] { try found(plan).map(\.identifier) }

    private static func cut<Element>(_ elements: [Element], _ plan: FetchPlan) -> [Element] {
        let rest = elements.dropFirst(plan.offset)
        return Array(plan.limit > 0 ? rest.prefix(plan.limit) : rest)
    }

    // MARK: Writing

    package func makePermanentIdentifiers(
        for entities: [EntityLayout], isSavedLater: Bool
    ) throws -> [NSManagedObjectID] { entities.map(newIdentifier) }

    func newIdentifier(_ entity: EntityLayout) -> NSManagedObjectID {
        store.lastKeys[entity.root.name, default: 0] += 1
        return NSManagedObjectID(
            layout: entity, store: identity, key: store.lastKeys[entity.root.name, default: 0])
    }

    package func save(_ changes: ChangeSet, with others: () throws -> Void) throws -> SaveResult {
        let refusals = ReferenceSave(changes, store).refusals
        alternative = refusals.last
        if let refusal = refusals.first { throw refusal }
        var next = store
        ReferenceSave(changes, store).write(to: &next)
        next.derive()
        try others()
        store = next
        return derived
    }

    /// All that is derived: an engine may say less, but must say what has changed.
    private var derived: SaveResult {
        var result = SaveResult()
        for row in store.rows.values {
            for slot in row.objectID.layout.derivedSlots {
                result.computed.append((row.objectID, slot, row.values[slot]))
            }
        }
        return result
    }

    package var keys: (any KeyedEngine)? { self }
    package var batches: (any BatchEngine)? { self }
    package var longTransactions: (any LongTransactionEngine)? { self }
}

extension ReferenceEngine: KeyedEngine {
    package func reserveKeys(upTo key: Int64, of root: EntityLayout) throws {
        store.lastKeys[root.name] = max(key, store.lastKeys[root.name] ?? 0)
    }

    package func lastKey(of root: EntityLayout) throws -> Int64 { store.lastKeys[root.name] ?? 0 }
}

extension ReferenceEngine: LongTransactionEngine {
    package func beginLongTransaction(makesIndexesLater: Bool, copying source: (any StoreEngine)?) throws {
        beforeLongTransaction = store
    }

    package func endLongTransaction(commits: Bool) throws {
        if !commits, let former = beforeLongTransaction { store = former }
        beforeLongTransaction = nil
    }

    // There are no indexes, and so no values that they have yet to see.
    package func makeIndexes() throws {}
    package func sharedUniqueValues(limit: Int) throws -> [(constraint: [String], rows: [NSManagedObjectID])] { [] }

    package func resetVersions() throws {
        for row in store.rows.values { store.update(row.objectID, [:], version: 1) }
    }
}
