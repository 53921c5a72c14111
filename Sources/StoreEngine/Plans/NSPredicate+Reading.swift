import CoreDataModel

extension NSPredicate {
    /// The predicate adapted for a fetch of an entity: what depends on constants only is evaluated, and texts that
    /// spell UUIDs or numbers are converted for attributes that hold these.
    package func read(for layout: EntityLayout) -> NSPredicate {
        withConstantPartsRead.withSpelledValuesRead(layout.spelledKind)
    }
}
