/// In value expressions, `$manager`: the migration manager.
public let NSMigrationManagerKey = "manager"
/// In value expressions, `$source`: the source object.
public let NSMigrationSourceObjectKey = "source"
/// In value expressions, `$destination`: the destination object.
public let NSMigrationDestinationObjectKey = "destination"
/// In value expressions, `$entityMapping`: the entity mapping that is being worked on.
public let NSMigrationEntityMappingKey = "entityMapping"
/// In value expressions, `$propertyMapping`: the property mapping that is being worked on.
public let NSMigrationPropertyMappingKey = "propertyMapping"
/// In value expressions, `$entityPolicy`: the migration policy of the entity mapping.
public let NSMigrationEntityPolicyKey = "entityPolicy"
