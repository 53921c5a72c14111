import Foundation
import Synchronization

/// One attempt to save to stores: the objects, their IDs, and what the stores are asked to write.
///
/// New objects have their permanent IDs during the attempt; `revert` restores their temporary ones.
final class SaveAttempt {
    let objects: ChangedObjects
    /// Which of the updated objects differ from the stored ones, so that their versions increase.
    private var written: [Bool] = []
    private let promises: [ObjectIdentifier: [KeyPromise]]
    private var temporary: [(object: NSManagedObject, number: Int64)] = []

    /// Begins a save: gives new objects their permanent IDs.
    ///
    /// - Parameters:
    ///   - objects: the changed objects.
    ///   - coordinator: the coordinator of the stores.
    ///   - assigned: the stores of new objects that were assigned to one.
    ///   - countsKeys: whether the stores reserve the keys of new objects now, rather than in the save's own
    ///     transaction, which is refused with `KeysTaken` if another program took them first.
    /// - Throws: the errors of the stores, and an error for an object that no store takes.
    init(
        of objects: ChangedObjects, in coordinator: NSPersistentStoreCoordinator,
        assigned: [ObjectIdentifier: NSPersistentStore], countsKeys: Bool
    ) throws {
        self.objects = objects
        let new = objects.inserted.filter(\.hasTemporaryID)
        let identifiers: [NSManagedObjectID]
        if countsKeys {
            identifiers = try coordinator.makePermanentIdentifiers(for: new, assigned: assigned)
            promises = [:]
        } else {
            (identifiers, promises) = try coordinator.promiseIdentifiers(for: new, assigned: assigned)
        }
        temporary.reserveCapacity(new.count)
        for (object, identifier) in zip(new, identifiers) {
            temporary.append((object, object.key))
            object.identifier = identifier
        }
    }

    /// The change sets that the stores are asked to write.
    func changeSets(contextName: String?, author: String?) throws -> [(NSPersistentStore, ChangeSet)] {
        var sets = StoreChangeSets(contextName: contextName, author: author, promises: promises)
        try addInserted(to: &sets)
        try addUpdated(to: &sets)
        try addDeleted(to: &sets)
        return sets.sets
    }

    private func addInserted(to sets: inout StoreChangeSets) throws {
        for object in objects.inserted {
            let values = try permanentValues(of: object)
            let position = try sets.position(of: object.identifier)
            let toMany = try toManyChanges(of: object)
            sets.insert(
                RowChange(
                    objectID: object.identifier, version: object.version, values: values, changedSlots: [],
                    toManyChanges: toMany), at: position)
        }
    }

    /// Adds the objects that differ from the stored ones, and notes which these are.
    private func addUpdated(to sets: inout StoreChangeSets) throws {
        var slots: [Int] = []
        for object in objects.updated {
            slots = object.changedSlots(orThoseOf: slots)
            let values = try permanentValues(of: object)
            let toMany = try toManyChanges(of: object)
            let isWritten = !slots.isEmpty || !toMany.isEmpty || object.state.contains(.watched)
            written.append(isWritten)
            guard isWritten else { continue }
            let position = try sets.position(of: object.identifier)
            sets.update(
                RowChange(
                    objectID: object.identifier, version: object.version, values: values, changedSlots: slots,
                    toManyChanges: toMany), at: position)
        }
    }

    private func addDeleted(to sets: inout StoreChangeSets) throws {
        for object in objects.deleted {
            if object.state.contains(.inaccessible) { continue }
            let position = try sets.position(of: object.identifier)
            if object.state.contains(.fault), !object.state.contains(.valuesPending) { object.fireFault() }
            sets.delete(RowDeletion(objectID: object.identifier, version: object.version), at: position)
        }
    }

    /// The objects of a store, for a store that works with objects.
    func savedObjects(in store: NSPersistentStore) -> SavedObjects {
        func isMine(_ object: NSManagedObject) -> Bool { object.storeIdentity === store.identity }
        var saved = SavedObjects()
        saved.inserted = objects.inserted.filter(isMine)
        saved.updated = zip(objects.updated, written).compactMap { $1 && isMine($0) ? $0 : nil }
        saved.deleted = objects.deleted.filter(isMine)
        return saved
    }

    /// The values, with permanent IDs for destinations that are new themselves.
    private func permanentValues(of object: NSManagedObject) throws -> ContiguousArray<StoredValue> {
        let toOnes = object.layout.toOnes
        guard !toOnes.isEmpty else { return object.values }
        for relationship in toOnes {
            guard case .identifier(var identifier) = object.values[relationship.slot] else { continue }
            if identifier.isTemporaryID {
                guard let destination = object.toOne(relationship) else { continue }
                identifier = destination.identifier
                if !identifier.isTemporaryID {
                    object.values[relationship.slot] = .identifier(identifier)
                } else if !relationship.isTransient {
                    throw StoreError.make(
                        CoreDataErrorCode.managedObjectReferentialIntegrity,
                        "“\(object.layout.name).\(relationship.name)” leads to \(identifier.description), which the save does not include.",
                        userInfo: [NSAffectedObjectsErrorKey: [object]])
                }
            }
            try checkStore(of: identifier, relationship, object)
        }
        return object.values
    }

    private func toManyChanges(of object: NSManagedObject) throws -> [ToManyChange] {
        let changes = object.toManyChanges()
        for change in changes {
            for identifier in change.added { try checkStore(of: identifier, change.relationship, object) }
        }
        return changes
    }

    /// Checks that a destination is in the object's store: in another one, its key would identify another object.
    ///
    /// - Throws: `NSManagedObjectExternalRelationshipError`.
    private func checkStore(
        of destination: NSManagedObjectID, _ relationship: RelationshipLayout, _ object: NSManagedObject
    ) throws {
        guard destination.storeIdentity !== object.identifier.storeIdentity, !destination.isTemporaryID,
            !relationship.isTransient
        else { return }
        throw StoreError.make(
            CoreDataErrorCode.managedObjectExternalRelationship,
            "“\(object.layout.name).\(relationship.name)” leads to \(destination.description), which is in another store than "
                + "\(object.identifier.description). Assign both to one store, or use a fetched property.",
            userInfo: [NSAffectedObjectsErrorKey: [object]])
    }

    /// Makes the saved values the objects' committed ones.
    func commit(_ results: [SaveResult], in context: NSManagedObjectContext) {
        context.table.makeRoom(for: temporary.count)
        for (object, number) in temporary { context.table.promote(object, from: number) }
        let generation = context.source?.generation ?? 0
        for object in objects.inserted {
            // An object that was deleted and inserted again continues from its former version, so that contexts with
            // the former row notice the change.
            object.becomeCommitted(version: object.version &+ 1)
            object.stamp = generation
        }
        for (object, isWritten) in zip(objects.updated, written) {
            object.becomeCommitted(version: object.version &+ (isWritten ? 1 : 0))
            object.stamp = generation
        }
        for object in objects.neverSaved { context.forget(object) }
        context.forgetChanges()
        context.formerIdentifiers.withLock { former in
            for (object, number) in temporary { former.note(object.identity, formerly: number) }
        }
        context.notifyChildren(
            temporary.map { object, number in
                .init(
                    temporary: NSManagedObjectID(temporaryFor: object.layout, number: number),
                    permanent: object.identifier)
            })
        context.notifyChildren(of: renewals)
        for result in results {
            for (identifier, slot, value) in result.computed {
                guard let object = context.table.object(for: identifier), !object.state.contains(.fault) else {
                    continue
                }
                object.takeComputed(value, at: slot)
            }
        }
    }

    /// The new versions of the written objects.
    private var renewals: [ChildLink.Renewal] {
        (objects.inserted + zip(objects.updated, written).filter(\.1).map(\.0)).map {
            .init(identifier: $0.identifier, former: $0.version &- 1, version: $0.version)
        }
    }

    /// Restores the temporary IDs of new objects, here and where others refer to them.
    func revert() {
        var former: [NSManagedObjectID: NSManagedObjectID] = [:]
        for (object, number) in temporary {
            let permanent = object.identifier
            object.becomeTemporary(number)
            former[permanent] = object.identifier
        }
        guard !former.isEmpty else { return }
        for object in objects.inserted + objects.updated {
            for relationship in object.layout.toOnes {
                if case .identifier(let identifier) = object.values[relationship.slot], let old = former[identifier] {
                    object.values[relationship.slot] = .identifier(old)
                }
            }
        }
    }
}
