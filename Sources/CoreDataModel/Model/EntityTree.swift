import CompactCollections

extension NSEntityDescription {
    /// The entity and all its descendants.
    package var selfAndDescendants: [NSEntityDescription] { [self] + subentities.flatMap(\.selfAndDescendants) }

    /// The entity at the top of the inheritance tree.
    package var rootEntity: NSEntityDescription { superentity?.rootEntity ?? self }
}
