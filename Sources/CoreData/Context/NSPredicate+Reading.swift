import Foundation

extension NSPredicate {
    /// The predicate as a fetch of an entity asks it: paths from constants followed, texts that spell UUIDs read where the entity
    /// has UUIDs.
    func read(for layout: EntityLayout) -> NSPredicate {
        withConstantPathsRead.withUUIDsRead(layout.holdsUUIDs)
    }
}
