import CoreData
import PredicateFormat
import StoreEngine

/// Conditions on the texts that archives hold: `name == "Emma"` of a transformable attribute.
///
/// No database looks into archives. So the attribute's values are read first, and the condition is replaced by one on
/// the objects that it holds for: `SELF IN {…}`.
package enum ArchivedTextFilter {
    /// A predicate without conditions on archived texts.
    ///
    /// - Parameters:
    ///   - predicate: the predicate; nil for none.
    ///   - entity: the entity that it is about.
    ///   - store: the store.
    /// - Returns: the predicate to run.
    /// - Throws: an error for a store that cannot be read.
    package static func resolved(
        _ predicate: NSPredicate?, of entity: EntityLayout, in store: DirectStore
    ) throws -> NSPredicate? {
        guard let predicate, let tree = try? predicateTree(of: predicate), mentionsArchive(tree, entity) else {
            return predicate
        }
        return makePredicate(try resolved(tree, entity, store))
    }

    /// Whether a comparison is one with an archive. Pure.
    private static func mentionsArchive(_ tree: PredicateTree, _ entity: EntityLayout) -> Bool {
        var isOne = false
        tree.forEachComparison { if archive($0, entity) != nil { isOne = true } }
        return isOne
    }

    private static func resolved(
        _ tree: PredicateTree, _ entity: EntityLayout, _ store: DirectStore
    ) throws -> PredicateTree {
        switch tree {
        case .constant: return tree
        case .and(let parts): return .and(try parts.map { try resolved($0, entity, store) })
        case .or(let parts): return .or(try parts.map { try resolved($0, entity, store) })
        case .not(let part): return .not(try resolved(part, entity, store))
        case .comparison(let comparison):
            guard let archive = archive(comparison, entity) else { return tree }
            var found = comparison
            (found.comparison, found.options) = (.in, [])
            found.left = archive.path.isEmpty ? .evaluatedObject : .keyPath(archive.path)
            found.right = .constant(.collection(try objects(archive, comparison, store).map { Value($0) }))
            return .comparison(found)
        }
    }

    private struct Archive {
        /// The entity that has the attribute, and the relationships on the way there.
        let entity: EntityLayout
        let path: [String]
        let slot: Int
        let isLeft: Bool
    }

    /// The transformable attribute that a comparison with texts is about; nil for another comparison. Pure.
    private static func archive(_ comparison: ComparisonTree, _ entity: EntityLayout) -> Archive? {
        guard comparison.modifier != .all else { return nil }
        for (side, other) in [(comparison.left, comparison.right), (comparison.right, comparison.left)] {
            guard case .keyPath(let keys) = side, let key = keys.last, isText(other) else { continue }
            var owner: EntityLayout? = entity
            for name in keys.dropLast() { owner = owner?.relationship(named: name)?.destination }
            guard let owner, let slot = owner.slotIndex(forName: key),
                owner.slots[slot].attribute?.type == .transformableAttributeType, !owner.slots[slot].isTransient
            else { continue }
            return Archive(
                entity: owner, path: Array(keys.dropLast()), slot: slot, isLeft: side == comparison.left)
        }
        return nil
    }

    private static func isText(_ side: ExpressionTree) -> Bool {
        guard case .constant(let value) = side else { return false }
        switch value {
        case .string: return true
        case .collection(let values):
            return !values.isEmpty
                && values.allSatisfy { if case .string = $0 { true } else { false } }
        default: return false
        }
    }

    /// The objects that a comparison holds for. An archive of something else than a text counts as no value.
    private static func objects(
        _ archive: Archive, _ comparison: ComparisonTree, _ store: DirectStore
    ) throws -> [NSManagedObjectID] {
        var test = comparison
        test.modifier = .direct
        if archive.isLeft { test.left = .evaluatedObject } else { test.right = .evaluatedObject }
        let predicate = CompiledPredicate(.comparison(test))
        var found: [NSManagedObjectID] = []
        try store.asking { engine in
            var failure: (any Error)?
            try engine.forEachRow(FetchPlan(entity: archive.entity)) { row in
                do {
                    let text = try text(of: row.value(at: archive.slot))
                    if predicate.evaluate(text.map { .string($0) } ?? .null) { found.append(row.objectID) }
                } catch { failure = error }
                return failure == nil && !EndingSignals.haveCome
            }
            if let failure { throw failure }
        }
        return found
    }

    /// The text that an archive holds.
    private static func text(of value: StoredValue) -> String? {
        switch value {
        case .data(let data): ArchivedContent(data)?.text
        case .object(let object): (object as? NSString).map { "\($0)" }
        default: nil
        }
    }
}

extension QueryText {
    /// The fetch of a query, in an order that pages can follow.
    ///
    /// - Parameter store: the store to run it in.
    /// - Returns: the plan.
    /// - Throws: `TextProblem` that names the wrong part, and an error for a store that cannot be read.
    package func plan(in store: DirectStore) throws -> FetchPlan {
        var plan = try plan(store.layout, sortsByKey: store.pagesByKey)
        plan.predicate = try ArchivedTextFilter.resolved(plan.predicate, of: plan.entity, in: store)
        return plan
    }
}
