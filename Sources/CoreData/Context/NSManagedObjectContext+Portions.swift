// Work on more objects than fit in memory: each portion is saved and released before the next one.
extension NSManagedObjectContext {
    /// Saves all changes without validating them, for a caller that validates everything at the end.
    func savePortion() throws {
        saving.validates = false
        defer { saving.validates = true }
        try save()
    }

    /// Turns unchanged objects into faults, so that they do not keep each other alive.
    func loosen() {
        for object in table.all where !object.relations.isEmpty && !object.hasChanges { object.becomeFault() }
    }

    /// The objects with some IDs and their values, in one query, without deleted ones.
    func loadedObjects(_ identifiers: [NSManagedObjectID]) throws -> [NSManagedObject] {
        guard let source else { throw Self.noSource("fetch") }
        let objects = identifiers.map { objectOrFault($0) }
        let stamp = source.generation
        for row in try source.rows(for: objects.filter(\.isFault).map(\.identifier)) {
            _ = object(for: row, asFault: false, refreshing: false, stamp: stamp)
        }
        return objects.filter { !$0.isFault && !$0.isDeleted }
    }
}
