import CoreData

/// Settles conflicts as the manager's policy does, but for values that a schema calls unique: there the schema says which model
/// stays, and without a word of it the save fails. Nothing is replaced by something with another identifier unasked.
final class SchemaMergePolicy: NSMergePolicy, @unchecked Sendable {
    // @unchecked Sendable: immutable, as its superclass.

    private let base: NSMergePolicy
    /// The entities' identifiers. Two models with the same one are the same model, which the base policy merges.
    private let uidKeys: [String: String]
    private let kept: [String: [[String]: KeptModel]]

    init(_ base: NSMergePolicy, _ registry: ModelRegistry) {
        self.base = base
        uidKeys = Dictionary(registry.plans.map { ($0.name, $0.uidKey) }, uniquingKeysWith: { first, _ in first })
        var kept: [String: [[String]: KeptModel]] = [:]
        for plan in registry.plans {
            for case .unique(let properties, let model?) in plan.facts {
                kept[plan.name, default: [:]][properties.compactMap(\.path)] = model
            }
        }
        self.kept = kept
        super.init(merge: base.mergeType)
    }

    override func resolve(mergeConflicts list: [Any]) throws {
        var constraints: [NSConstraintConflict] = []
        var others: [Any] = []
        for conflict in list {
            if let conflict = conflict as? NSConstraintConflict, isOfSchema(conflict) {
                constraints.append(conflict)
            } else {
                others.append(conflict)
            }
        }
        try settle(constraints)
        if !others.isEmpty { try base.resolve(mergeConflicts: others) }
    }

    override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        try base.resolve(optimisticLockingConflicts: list)
    }

    override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
        try settle(list.filter(isOfSchema))
        let others = list.filter { !isOfSchema($0) }
        if !others.isEmpty { try base.resolve(constraintConflicts: others) }
    }

    /// Whether it is about values besides the identifier of a model.
    private func isOfSchema(_ conflict: NSConstraintConflict) -> Bool {
        guard let entity = entity(conflict), let uidKey = uidKeys[entity] else { return false }
        return conflict.constraint != [uidKey]
    }

    private func entity(_ conflict: NSConstraintConflict) -> String? {
        (conflict.conflictingObjects.first ?? conflict.databaseObject)?.entity.name
    }

    /// Whether all of it is one model, which two contexts inserted. Then its identifier is in conflict as well, and that is settled
    /// by the base policy.
    private func isOfOneModel(_ conflict: NSConstraintConflict) -> Bool {
        guard let stored = conflict.databaseObject, let key = entity(conflict).flatMap({ uidKeys[$0] }),
            let uid = stored.value(forKey: key) as? NSObject
        else { return false }
        return conflict.conflictingObjects.allSatisfy { ($0.value(forKey: key) as? NSObject) == uid }
    }

    private func settle(_ conflicts: [NSConstraintConflict]) throws {
        var undecided: [NSConstraintConflict] = []
        for conflict in conflicts where !isOfOneModel(conflict) {
            switch kept[entity(conflict) ?? ""]?[conflict.constraint] {
            case .stored: try NSMergePolicy.mergeByPropertyStoreTrump.resolve(constraintConflicts: [conflict])
            case .new: try NSMergePolicy.mergeByPropertyObjectTrump.resolve(constraintConflicts: [conflict])
            case nil: undecided.append(conflict)
            }
        }
        if !undecided.isEmpty { try NSMergePolicy.error.resolve(constraintConflicts: undecided) }
    }
}
