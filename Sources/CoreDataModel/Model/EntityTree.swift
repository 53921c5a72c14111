extension NSEntityDescription {
    /// The entity and all that inherit from it.
    package var selfAndDescendants: [NSEntityDescription] { [self] + subentities.flatMap(\.selfAndDescendants) }

    /// The entity at the top of the inheritance.
    package var rootEntity: NSEntityDescription { superentity?.rootEntity ?? self }
}
