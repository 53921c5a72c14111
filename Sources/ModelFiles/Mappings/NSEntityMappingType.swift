/// What a migration does with the objects of an entity. The raw values are those of Apple's mapping model files.
public enum NSEntityMappingType: UInt, Sendable {
    /// No type yet.
    case undefinedEntityMappingType = 0
    /// The migration policy does everything.
    case customEntityMappingType = 1
    /// The destination entity is new: there is nothing to migrate.
    case addEntityMappingType = 2
    /// The source entity was removed: its objects are not migrated.
    case removeEntityMappingType = 3
    /// The entity is the same in both models.
    case copyEntityMappingType = 4
    /// The entity changed: each source object becomes one of the destination entity.
    case transformEntityMappingType = 5
}
