// Work on more objects than memory holds: a portion is saved and let go before the next one comes.
extension NSManagedObjectContext {
    /// Saves all changes whether or not they are valid, for one who validates everything at last.
    func savePortion() throws {
        validatesChanges = false
        defer { validatesChanges = true }
        try save()
    }

    /// Has objects without changes forget one another: who refers to each other goes only together. They are faults then.
    func loosen() {
        for object in table.all where !object.relations.isEmpty && !object.hasChanges { object.becomeFault() }
    }

    /// The objects of IDs with their values, in one query; without those that are gone.
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
