/// What the expressions of a mapping may refer to.
struct MigrationScope {
    let manager: NSMigrationManager
    let mapping: NSEntityMapping
    let policy: NSEntityMigrationPolicy
    var property: NSPropertyMapping?
    var source: NSManagedObject?
    var destination: NSManagedObject?
    /// The members that subqueries are looking at, by their variables.
    var members: [String: Any] = [:]

    /// The value of a variable, by its name without the dollar sign; `nil` for one that stands for nothing.
    subscript(_ name: String) -> Any? {
        switch name {
        case NSMigrationSourceObjectKey: return source
        case NSMigrationManagerKey: return manager
        case NSMigrationEntityMappingKey: return mapping
        case NSMigrationEntityPolicyKey: return policy
        case NSMigrationPropertyMappingKey: return property
        case NSMigrationDestinationObjectKey: return destination
        default: return members[name]
        }
    }

    /// All that stand for something.
    var variables: [String: Any] {
        let names = [
            NSMigrationSourceObjectKey, NSMigrationManagerKey, NSMigrationEntityMappingKey, NSMigrationEntityPolicyKey,
            NSMigrationPropertyMappingKey, NSMigrationDestinationObjectKey,
        ]
        var variables = members
        for name in names { variables[name] = self[name] }
        return variables
    }
}
