import CoreDataModel

extension NSPredicate {
    /// The predicate adapted for a fetch of an entity: paths from constants are evaluated, and texts that spell UUIDs
    /// are converted for UUID attributes.
    package func read(for layout: EntityLayout) -> NSPredicate {
        withConstantPathsRead.withUUIDsRead(layout.holdsUUIDs)
    }
}
