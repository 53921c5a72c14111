import CoreData
import Pippin

/// Settles conflicts as the manager's policy does, except for values that a schema declares unique: the schema says
/// which model stays, and if it does not, the save fails. No model is replaced by one with another identifier unless a
/// schema says so.
final class SchemaMergePolicy: NSMergePolicy, @unchecked Sendable {
    // @unchecked Sendable: immutable, like its superclass.

    private let base: NSMergePolicy
    /// The entities' identifiers. Two models with the same identifier are the same model, which the base policy merges.
    private let uidKeys: [String: String]
    private let kept: [String: [[String]: KeptModel]]
    /// The entities' relationships that are properties, and whether these own their models.
    private let properties: [String: [String: Bool]]

    init(_ base: NSMergePolicy, _ registry: ModelRegistry) {
        self.base = base
        let names = registry.entityNames
        uidKeys = Dictionary(uniqueKeysWithValues: names.map { ($0, registry.identifierName(of: $0) ?? "") })
        kept = Dictionary(uniqueKeysWithValues: names.map { ($0, registry.uniqueRules(of: $0)) })
        properties = Dictionary(uniqueKeysWithValues: names.map { ($0, registry.properties(of: $0)) })
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

    /// Whether a conflict is about unique values other than a model's identifier.
    private func isOfSchema(_ conflict: NSConstraintConflict) -> Bool {
        guard let entity = entity(conflict), let uidKey = uidKeys[entity] else { return false }
        return conflict.constraint != [uidKey]
    }

    private func entity(_ conflict: NSConstraintConflict) -> String? {
        (conflict.conflictingObjects.first ?? conflict.databaseObject)?.entity.name
    }

    /// Whether the conflict is about one model that two contexts inserted. Its identifier is in conflict then as well,
    /// and the base policy settles that.
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
            case let kept?: try settle(conflict, keeping: kept)
            case nil: undecided.append(conflict)
            }
        }
        if !undecided.isEmpty { try NSMergePolicy.error.resolve(constraintConflicts: undecided) }
    }

    private func settle(_ conflict: NSConstraintConflict, keeping kept: KeptModel) throws {
        let own = properties[entity(conflict) ?? ""] ?? [:]
        if kept == .new { return conflict.resolve(.mergeByPropertyObjectTrumpMergePolicyType, own: own) }
        // A relationship whose inverse is a property of a model, too, is not the object's own: the other model must
        // refer to the object that is kept.
        let relationships = conflict.conflictingObjects.first?.entity.relationshipsByName ?? [:]
        conflict.resolve(
            .mergeByPropertyStoreTrumpMergePolicyType,
            own: own.filter { name, _ in
                let inverse = relationships[name]?.inverseRelationship
                return properties[inverse?.entity.name ?? ""]?[inverse?.name ?? ""] == nil
            })
    }
}
