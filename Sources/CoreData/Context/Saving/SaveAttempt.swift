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

/// The change sets of a save, one for each store that it writes.
struct StoreChangeSets {
    private let contextName: String?
    private let author: String?
    /// The keys that stores have promised, by the stores' identities.
    private let promises: [ObjectIdentifier: [KeyPromise]]
    private(set) var sets: [(store: NSPersistentStore, changes: ChangeSet)] = []
    /// The set that was found last: most saves write one store.
    private var last = -1

    init(contextName: String?, author: String?, promises: [ObjectIdentifier: [KeyPromise]]) {
        (self.contextName, self.author, self.promises) = (contextName, author, promises)
    }

    /// The position of the set for an object's store.
    ///
    /// - Throws: `NSPersistentStoreSaveError` if the coordinator no longer has the store.
    mutating func position(of identifier: NSManagedObjectID) throws -> Int {
        if last >= 0, sets[last].store.identity === identifier.storeIdentity { return last }
        if let known = sets.firstIndex(where: { $0.store.identity === identifier.storeIdentity }) {
            last = known
            return known
        }
        guard let store = identifier.persistentStore else {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreSave,
                "The store of \(identifier.description) was removed from its coordinator; the object cannot be saved.")
        }
        var changes = ChangeSet()
        changes.contextName = contextName
        changes.author = author
        changes.promises = promises[ObjectIdentifier(store.identity)] ?? []
        sets.append((store, changes))
        last = sets.count - 1
        return last
    }

    @inline(__always)
    mutating func insert(_ row: RowChange, at position: Int) { sets[position].changes.inserted.append(row) }

    @inline(__always)
    mutating func update(_ row: RowChange, at position: Int) { sets[position].changes.updated.append(row) }

    @inline(__always)
    mutating func delete(_ row: RowDeletion, at position: Int) { sets[position].changes.deleted.append(row) }
}

/// A store that a developer may write. It works with managed objects, whereas the built-in stores work with rows.
///
/// The coordinator only calls it under its lock.
protocol ObjectStore: NSPersistentStore {
    /// The context on whose behalf the store is being asked.
    var askingContext: NSManagedObjectContext? { get set }

    /// Whether fetches return objects without values, which the store is asked for one by one.
    var givesFaults: Bool { get }

    // MARK: Rows

    /// The rows that a plan finds, in order.
    func fetchRows(_ plan: FetchPlan) throws -> ContiguousArray<Row>

    /// The IDs of the rows that a plan finds, in order.
    func fetchIdentifiers(_ plan: FetchPlan) throws -> [NSManagedObjectID]

    /// How many rows a plan finds.
    func fetchCount(_ plan: FetchPlan) throws -> Int

    /// The dictionaries that a plan finds, in order.
    func fetchDictionaries(_ plan: FetchPlan) throws -> [[String: Any]]

    /// The row of an object; `nil` if it is gone.
    func row(for identifier: NSManagedObjectID) throws -> Row?

    /// The destinations of a to-many relationship, in order if it is ordered.
    func destinations(
        of relationship: RelationshipLayout, for identifier: NSManagedObjectID
    ) throws -> [NSManagedObjectID]

    /// IDs for rows that come from another store.
    func makePermanentIdentifiers(for entities: [EntityLayout]) throws -> [NSManagedObjectID]

    /// Adds rows that come from another store.
    func add(_ changes: ChangeSet) throws -> SaveResult

    // MARK: Objects

    /// Permanent IDs for new objects, in order.
    func makePermanentIdentifiers(for objects: [NSManagedObject]) throws -> [NSManagedObjectID]

    /// Writes a context's changes, all of them or none.
    ///
    /// - Throws: `SaveRefusal` for conflicts, and the errors of the developer's methods.
    func save(_ objects: SavedObjects, _ changes: ChangeSet) throws -> SaveResult
}

/// The objects of one store that a context saves.
struct SavedObjects {
    var inserted: [NSManagedObject] = []
    var updated: [NSManagedObject] = []
    var deleted: [NSManagedObject] = []
}

extension ObjectStore {
    func makePermanentIdentifiers(for entities: [EntityLayout]) throws -> [NSManagedObjectID] {
        throw StoreError.unsupported("inserting rows", storeType: type, url: url)
    }

    func add(_ changes: ChangeSet) throws -> SaveResult {
        throw StoreError.unsupported("saving rows", storeType: type, url: url)
    }
}

extension NSPersistentStore {
    /// The store as one that works with managed objects: a developer's class, or one written like it.
    var objectStore: (any ObjectStore)? { self as? any ObjectStore }
}
