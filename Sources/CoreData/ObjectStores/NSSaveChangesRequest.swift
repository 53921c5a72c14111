import Foundation
import StoreEngine

/// The request that an incremental store receives when a context is saved.
open class NSSaveChangesRequest: NSPersistentStoreRequest {
    /// New objects, with permanent IDs.
    open private(set) var insertedObjects: Set<NSManagedObject>?
    /// Changed objects; `changedValues()` says what changed.
    open private(set) var updatedObjects: Set<NSManagedObject>?
    /// Objects to delete.
    open private(set) var deletedObjects: Set<NSManagedObject>?
    /// Unchanged objects whose versions are to be checked.
    open private(set) var lockedObjects: Set<NSManagedObject>?

    /// The type of the request: `saveRequestType`.
    open override var requestType: NSPersistentStoreRequestType { .saveRequestType }

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - insertedObjects: new objects.
    ///   - updatedObjects: changed objects.
    ///   - deletedObjects: objects to delete.
    ///   - lockedObjects: unchanged objects whose versions are to be checked.
    public init(
        inserted insertedObjects: Set<NSManagedObject>?, updated updatedObjects: Set<NSManagedObject>?,
        deleted deletedObjects: Set<NSManagedObject>?, locked lockedObjects: Set<NSManagedObject>?
    ) {
        self.insertedObjects = insertedObjects
        self.updatedObjects = updatedObjects
        self.deletedObjects = deletedObjects
        self.lockedObjects = lockedObjects
        super.init()
    }

    /// Returns a copy of the request.
    ///
    /// - Parameter zone: not used.
    /// - Returns: the copy, which can be changed on its own.
    open override func copy(with zone: NSZone? = nil) -> Any {
        let copy = NSSaveChangesRequest(
            inserted: insertedObjects, updated: updatedObjects, deleted: deletedObjects, locked: lockedObjects)
        copy.affectedStoreObjects = affectedStoreObjects
        return copy
    }
}

extension NSIncrementalStore: ObjectStore {
    var givesFaults: Bool { true }

    func makePermanentIdentifiers(for objects: [NSManagedObject]) throws -> [NSManagedObjectID] {
        let identifiers = try obtainPermanentIDs(for: objects)
        guard identifiers.count == objects.count else {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreSave,
                "\(Swift.type(of: self)).obtainPermanentIDs(for:) gave \(identifiers.count) IDs for \(objects.count) objects.",
                url: url)
        }
        if let temporary = identifiers.first(where: \.isTemporaryID) {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreSave,
                "\(Swift.type(of: self)).obtainPermanentIDs(for:) gave the temporary ID \(temporary.description).",
                url: url)
        }
        return identifiers
    }

    func save(_ objects: SavedObjects, _ changes: ChangeSet) throws -> SaveResult {
        let first = objects.inserted.first ?? objects.updated.first ?? objects.deleted.first
        let asking = first?.managedObjectContext ?? context()
        try refuseOutdated(changes, for: asking)
        // Objects that are only watched for conflicts are saved without changes.
        let watched = Set(
            changes.updated.filter { $0.changedSlots.isEmpty && $0.toManyChanges.isEmpty }.map(\.objectID))
        let request = NSSaveChangesRequest(
            inserted: Set(objects.inserted), updated: Set(objects.updated.filter { !watched.contains($0.objectID) }),
            deleted: Set(objects.deleted), locked: Set(objects.updated.filter { watched.contains($0.objectID) }))
        request.affectedStores = [self]
        _ = try execute(request, with: asking)
        for object in objects.inserted + objects.updated {
            savedVersions.noteSave(object.version &+ 1, of: object.objectID)
        }
        return SaveResult()
    }

    /// Asks the store for the present versions of the objects that a save changes, as Core Data does.
    private func refuseOutdated(_ changes: ChangeSet, for asking: NSManagedObjectContext) throws {
        let versions =
            changes.updated.map { ($0.objectID, $0.version) } + changes.deleted.map { ($0.objectID, $0.version) }
        let outdated = try versions.compactMap { identifier, version -> (objectID: NSManagedObjectID, current: Row?)? in
            guard let node = try node(of: identifier, for: asking) else { return (identifier, nil) }
            if savedVersions.agrees(version, with: node.rowVersion, of: identifier) { return nil }
            return (identifier, try row(of: node, identifier, for: asking))
        }
        if !outdated.isEmpty { throw SaveRefusal.optimisticLocking(outdated) }
    }
}

extension NSIncrementalStoreNode {
    /// The version, as rows have it.
    var rowVersion: Int64 { Int64(truncatingIfNeeded: version) }
}
