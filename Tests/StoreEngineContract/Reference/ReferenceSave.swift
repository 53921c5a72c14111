import CoreDataModel
import StoreEngine

/// A change set, and the store that it is for.
struct ReferenceSave {
    private let changes: ChangeSet
    private let store: ReferenceStore

    init(_ changes: ChangeSet, _ store: ReferenceStore) { (self.changes, self.store) = (changes, store) }

    /// Why the store refuses the changes: none, one or two reasons.
    var refusals: [SaveRefusal] {
        var refusals: [SaveRefusal] = []
        let conflicts = conflicts
        if !conflicts.isEmpty { refusals.append(.optimisticLocking(conflicts)) }
        let violations = violations
        if !violations.isEmpty { refusals.append(.constraints(violations)) }
        return refusals
    }

    /// The rows that are no longer as they were when they were read.
    private var conflicts: [(objectID: NSManagedObjectID, current: Row?)] {
        let expected =
            changes.deleted.map { ($0.objectID, $0.version) } + changes.updated.map { ($0.objectID, $0.version) }
        return expected.filter { store.rows[$0.0]?.version != $0.1 }.map { ($0.0, store.rows[$0.0]) }
    }

    /// The unique values that rows would share, once all is written.
    private var violations: [ConstraintViolation] {
        let written = changes.inserted + changes.updated
        let touched = Set(written.map(\.objectID) + changes.deleted.map(\.objectID))
        var violations: [ConstraintViolation] = []
        for change in written {
            let entity = change.objectID.layout
            for constraint in entity.uniquenessConstraints {
                guard let values = ReferenceStore.uniqueValues(constraint, entity, change.values) else { continue }
                let declarer = ReferenceStore.declarer(of: constraint, entity)
                let isKnown = violations.contains {
                    $0.entity === declarer && $0.constraint == constraint && $0.values == values
                }
                if isKnown { continue }
                let members = written.filter {
                    $0.objectID.layout.isKind(of: declarer)
                        && ReferenceStore.uniqueValues(constraint, $0.objectID.layout, $0.values) == values
                }
                let stored = store.sharing(constraint, change.objectID, change.values)
                    .first { !touched.contains($0.objectID) }
                guard members.count > 1 || stored != nil else { continue }
                violations.append(
                    ConstraintViolation(
                        entity: declarer, constraint: constraint, values: values,
                        conflicting: members.map(\.objectID), stored: stored))
            }
        }
        return violations
    }

    func write(to store: inout ReferenceStore) {
        for deletion in changes.deleted { store.remove(deletion.objectID) }
        for change in changes.updated {
            let values = Dictionary(uniqueKeysWithValues: change.changedSlots.map { ($0, change.values[$0]) })
            store.update(change.objectID, values, version: change.version + 1)
        }
        for change in changes.inserted {
            store.insert(change.objectID, version: change.version + 1, change.values)
        }
        for change in changes.updated + changes.inserted {
            for toMany in change.toManyChanges {
                for destination in toMany.removed {
                    store.disconnect(change.objectID, toMany.relationship, destination)
                }
                for destination in toMany.added { store.connect(change.objectID, toMany.relationship, destination) }
            }
        }
        for change in changes.updated + changes.inserted {
            for toMany in change.toManyChanges {
                if let order = toMany.order { store.setOrder(change.objectID, toMany.relationship, order) }
            }
        }
    }
}
