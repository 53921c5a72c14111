import CoreDataModel
import StoreEngine

extension ReferenceEngine: BatchEngine {
    package func insertBatch(
        _ plan: BatchInsertPlan, next: (inout BatchRow) throws -> Bool
    ) throws -> BatchOutcome {
        try inBatch {
            var outcome = BatchOutcome()
            var row = plan.emptyRow
            row.isGiven = ContiguousArray(repeating: false, count: row.values.count)
            while try next(&row) {
                if let identifier = try insert(row, plan) {
                    outcome.count += 1
                    if plan.wantsIdentifiers { outcome.identifiers.append(identifier) }
                }
                row = plan.emptyRow
                row.isGiven = ContiguousArray(repeating: false, count: row.values.count)
            }
            return outcome
        }
    }

    /// - Returns: the ID of the row that was written; nil where the row that is there stays.
    private func insert(_ row: BatchRow, _ plan: BatchInsertPlan) throws -> NSManagedObjectID? {
        let new = newIdentifier(plan.entity)
        let present = plan.entity.uniquenessConstraints.lazy.compactMap { [self] in
            store.sharing($0, new, row.values).first
        }.first
        guard let present else {
            store.insert(new, version: 1, row.values)
            return new
        }
        switch plan.conflicts {
        case .fail: throw Self.sharedValues
        case .keep: return nil
        case .replace:
            // No object becomes one of another entity.
            guard present.objectID.layout.isKind(of: plan.entity) else { throw Self.sharedValues }
            let given = row.values.indices.filter { row.isGiven.isEmpty || row.isGiven[$0] }
            let values = Dictionary(uniqueKeysWithValues: given.map { ($0, row.values[$0]) })
            store.update(present.objectID, values, version: present.version + 1)
            if store.hasSharedUniqueValues { throw Self.sharedValues }
            return present.objectID
        }
    }

    package func updateBatch(_ plan: BatchUpdatePlan) throws -> BatchOutcome {
        try inBatch {
            let identifiers = try identifiers(plan.rows)
            let objects = ReferenceObjects(store)
            for identifier in identifiers {
                var values: [Int: StoredValue] = [:]
                for (slot, change) in plan.changes {
                    switch change {
                    case .value(let value): values[slot] = value
                    case .expression(let expression):
                        let value = CompiledExpression(expressionTree(of: expression))
                            .evaluate(.object(objects.object(identifier)))
                        values[slot] = try Self.stored(value, in: plan.rows.entity.slots[slot])
                    }
                }
                store.update(identifier, values, version: (store.rows[identifier]?.version ?? 0) + 1)
            }
            if store.hasSharedUniqueValues { throw Self.sharedValues }
            return Self.outcome(identifiers, plan.wantsIdentifiers)
        }
    }

    /// What an expression gives, as its attribute keeps it.
    ///
    /// - Throws: where it is not a number that the attribute holds.
    private static func stored(_ value: Value, in slot: SlotLayout) throws -> StoredValue {
        guard let attribute = slot.attribute, !value.isNull else { return .null }
        let stored = StoredValue(value.any, for: attribute)
        guard case .object(let object) = stored, object is UnacceptableValue else { return stored }
        throw StoreError.make(CoreDataErrorCode.persistentStoreSave, "“\(slot.name)” cannot be \(value.format).")
    }

    package func deleteBatch(_ plan: BatchDeletePlan) throws -> BatchOutcome {
        try inBatch {
            let wanted = try plan.identifiers?.filter { store.rows[$0] != nil } ?? identifiers(plan.rows)
            let deletion = ReferenceDeletion(wanted, store)
            let refusals = deletion.refusals
            alternative = refusals.last
            if let refusal = refusals.first { throw refusal }
            deletion.write(to: &store)
            return Self.outcome(Array(Set(wanted)), plan.wantsIdentifiers)
        }
    }

    private static func outcome(_ identifiers: [NSManagedObjectID], _ wantsIdentifiers: Bool) -> BatchOutcome {
        var outcome = BatchOutcome()
        outcome.count = identifiers.count
        if wantsIdentifiers { outcome.identifiers = identifiers.sorted { $0.key < $1.key } }
        return outcome
    }

    private static var sharedValues: NSError {
        StoreError.make(CoreDataErrorCode.managedObjectConstraintMerge, "Two rows would have the same unique values.")
    }

    /// All of it or nothing.
    private func inBatch(_ body: () throws -> BatchOutcome) throws -> BatchOutcome {
        alternative = nil
        let former = store
        do {
            let outcome = try body()
            store.derive()
            return outcome
        } catch {
            store = former
            throw error
        }
    }
}

/// What a deletion by delete rules takes along, changes, and is refused for.
struct ReferenceDeletion {
    private let store: ReferenceStore
    /// All rows that go.
    private let deleted: Set<NSManagedObjectID>

    init(_ wanted: [NSManagedObjectID], _ store: ReferenceStore) {
        self.store = store
        var deleted: Set<NSManagedObjectID> = []
        var rest = wanted
        while let next = rest.popLast() {
            guard deleted.insert(next).inserted else { continue }
            for relationship in next.layout.relationships where relationship.deleteRule == .cascadeDeleteRule {
                rest += store.related(relationship, next)
            }
        }
        self.deleted = deleted
    }

    /// Why rows cannot go: another stays that the rule “deny” protects, or one that would be without what it requires.
    var refusals: [NSError] {
        var isDenied = false
        var isRequired = false
        for identifier in deleted {
            for relationship in identifier.layout.relationships {
                let stays = store.related(relationship, identifier).contains { !deleted.contains($0) }
                guard stays else { continue }
                if relationship.deleteRule == .denyDeleteRule { isDenied = true }
                if relationship.deleteRule == .nullifyDeleteRule, let inverse = relationship.inverse,
                    !inverse.isToMany, !inverse.isOptional
                {
                    isRequired = true
                }
            }
        }
        let code = CoreDataErrorCode.self
        return (isDenied ? [StoreError.make(code.validationRelationshipDeniedDelete, "“Deny” forbids it.")] : [])
            + (isRequired ? [StoreError.make(code.persistentStoreSave, "A required object would go.")] : [])
    }

    func write(to store: inout ReferenceStore) {
        for row in store.rows.values where !deleted.contains(row.objectID) {
            var cleared: [Int: StoredValue] = [:]
            for relationship in row.objectID.layout.toOnes {
                guard case .identifier(let destination) = row.values[relationship.slot],
                    deleted.contains(destination), relationship.inverse?.deleteRule == .nullifyDeleteRule
                else { continue }
                cleared[relationship.slot] = .null
            }
            if !cleared.isEmpty { store.update(row.objectID, cleared, version: row.version + 1) }
        }
        for identifier in deleted { store.remove(identifier) }
    }
}
