/// The variables of a mapping's expressions.
struct MigrationScope {
    let manager: NSMigrationManager
    let mapping: NSEntityMapping
    let policy: NSEntityMigrationPolicy
    var property: NSPropertyMapping?
    var source: NSManagedObject?
    var destination: NSManagedObject?
    /// The current members of subqueries, by their variables.
    var members: [String: Any] = [:]

    /// The value of a variable, by its name without the dollar sign; `nil` for an unknown one.
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

    /// All variables with a value.
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
