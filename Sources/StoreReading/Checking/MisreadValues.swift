import CoreData

extension OpenedStore {
    /// The values that are read as something else than what the file has, as sentences without their final periods.
    ///
    /// - Parameter entity: the entity that is shown with its subentities; nil for all.
    /// - Returns: a sentence for each property that has such values.
    /// - Throws: an error for a file that cannot be read.
    package func misreadValues(of entity: EntityLayout?) throws -> [String] {
        guard facts.kind == .sqlite else { return [] }
        return try ValueCheck.shownOtherwise(in: layout, coordinator.managedObjectModel, copy.url, of: entity)
    }
}

extension DirectStore {
    /// The values that are read as something else than what the file has, as sentences without their final periods.
    ///
    /// - Parameter entity: the entity that is shown with its subentities.
    /// - Returns: a sentence for each property that has such values.
    /// - Throws: an error for a file that cannot be read.
    package func misreadValues(of entity: EntityLayout) throws -> [String] {
        guard let file, pagesByKey else { return [] }
        return try ValueCheck.shownOtherwise(in: layout, coordinator.managedObjectModel, file, of: entity)
    }
}
