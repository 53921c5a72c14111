import Foundation

// Rows become objects, and faults take their values.
extension NSManagedObjectContext {
    /// The object of a row: the one that is registered, or a new one.
    func object(for row: Row, asFault: Bool, refreshing: Bool, stamp: UInt32) -> NSManagedObject {
        if let object = table.object(for: row.objectID) {
            if object.state.contains(.fault) {
                object.values = row.values
                object.snapshot = row.values
                object.version = row.version
                object.stamp = stamp
                object.state.insert(.valuesPending)
                if !asFault { fulfill(object) }
            } else if refreshing {
                object.adopt(row, keepingChanges: true)
            }
            return object
        }
        let object = materialize(
            Materialization(
                identifier: row.objectID, values: row.values, version: row.version,
                state: asFault ? [.fault, .valuesPending] : [], stamp: stamp))
        if !asFault { object.awakeFromFetch() }
        return object
    }

    /// The object of an ID: the one that is registered, or a fault, whether or not the store has such an object.
    public func object(with objectID: NSManagedObjectID) -> NSManagedObject {
        let identifier = localIdentifier(objectID)
        if let object = table.object(for: identifier) { return object }
        return materialize(
            Materialization(identifier: identifier, values: [], version: 0, state: .fault, stamp: 0))
    }

    /// The object of an ID, with its values.
    ///
    /// - Throws: `NSManagedObjectReferentialIntegrityError` when no store has such an object.
    public func existingObject(with objectID: NSManagedObjectID) throws -> NSManagedObject {
        let identifier = localIdentifier(objectID)
        if let object = table.object(for: identifier), !object.isFault || object.state.contains(.valuesPending) {
            if object.isDeleted { throw Self.missing(identifier) }
            return object
        }
        guard !identifier.isTemporaryID, let source = persistentStoreCoordinator,
            let row = try source.row(for: identifier)
        else { throw Self.missing(identifier) }
        return object(for: row, asFault: false, refreshing: false, stamp: source.generation)
    }

    private static func missing(_ identifier: NSManagedObjectID) -> NSError {
        StoreError.make(
            CoreDataErrorCode.managedObjectReferentialIntegrity,
            "There is no \(identifier.layout.name) object with the ID \(identifier.description).")
    }

    /// Makes a fault take its values: those that were fetched along with others if they are still right, else what
    /// the store has.
    func fulfill(_ object: NSManagedObject) {
        guard object.state.contains(.fault) else { return }
        guard let source = persistentStoreCoordinator else {
            return becomeInaccessible(object)
        }
        if object.state.contains(.valuesPending), source.isCurrent(object.identifier, since: object.stamp) {
            object.state.remove([.fault, .valuesPending])
            object.awakeFromFetch()
            return
        }
        if object.state.contains(.inBatch), let batch = batches[object.identifier] {
            loadBatch(batch)
            if !object.state.contains(.fault) { return }
        }
        do {
            if let row = try source.row(for: object.identifier) {
                object.adopt(row, keepingChanges: false)
                object.awakeFromFetch()
                return
            }
        } catch {
            programmerError(
                "the values of \(object.identifier.description) cannot be read: \((error as NSError).localizedDescription)"
            )
        }
        guard shouldDeleteInaccessibleFaults else {
            programmerError(
                "could not fulfill a fault: the store has no object \(object.identifier.description) any more")
        }
        becomeInaccessible(object)
    }

    /// Gives an object that the store lost no values, and counts it as deleted.
    private func becomeInaccessible(_ object: NSManagedObject) {
        object.values = ContiguousArray(repeating: .null, count: object.layout.slots.count)
        object.snapshot = object.values
        object.state.remove([.fault, .valuesPending, .inBatch])
        object.state.insert([.inaccessible, .deleted])
    }
}
