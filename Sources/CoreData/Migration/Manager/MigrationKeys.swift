import Ordering

/// A migration's object whose properties value expressions read by key: `$manager.userInfo`, `$entityMapping.name`.
protocol MigrationKeyOwner {
    /// The object's name in errors.
    static var description: String { get }

    /// Its properties, by the keys that they have in Core Data.
    static var keys: [String: (Self) -> Any?] { get }
}

extension MigrationKeyOwner {
    /// The value of a property.
    ///
    /// - Parameter key: the property's name.
    /// - Returns: the value; `nil` for none.
    /// - Throws: for an unknown key, an error that names the known ones.
    func expressionValue(forKey key: String) throws -> Any? {
        guard let read = Self.keys[key] else {
            throw MigrationExpression.error(
                "\(Self.description) has no “\(key)”; it has \(Self.keys.keys.sorted().joined(separator: ", "))")
        }
        return read(self)
    }
}

extension NSMigrationManager: MigrationKeyOwner {
    static let description = "the migration manager"

    static var keys: [String: (NSMigrationManager) -> Any?] {
        [
            "sourceContext": { $0.run?.source }, "destinationContext": { $0.run?.destination },
            "sourceModel": { $0.sourceModel }, "destinationModel": { $0.destinationModel },
            "mappingModel": { $0.run?.mapping }, "currentEntityMapping": { $0.run?.current },
            "migrationProgress": { $0.migrationProgress }, "userInfo": { $0.userInfo },
            "usesStoreSpecificMigrationManager": { $0.usesStoreSpecificMigrationManager },
        ]
    }
}

extension NSEntityMapping: MigrationKeyOwner {
    static let description = "an entity mapping"

    static var keys: [String: (NSEntityMapping) -> Any?] {
        [
            "name": { $0.name }, "mappingType": { $0.mappingType.rawValue },
            "sourceEntityName": { $0.sourceEntityName }, "destinationEntityName": { $0.destinationEntityName },
            "sourceEntityVersionHash": { $0.sourceEntityVersionHash },
            "destinationEntityVersionHash": { $0.destinationEntityVersionHash },
            "attributeMappings": { $0.attributeMappings }, "relationshipMappings": { $0.relationshipMappings },
            "sourceExpression": { $0.sourceExpression },
            "entityMigrationPolicyClassName": { $0.entityMigrationPolicyClassName }, "userInfo": { $0.userInfo },
        ]
    }
}

extension NSPropertyMapping: MigrationKeyOwner {
    static let description = "a property mapping"

    static var keys: [String: (NSPropertyMapping) -> Any?] {
        ["name": { $0.name }, "valueExpression": { $0.valueExpression }, "userInfo": { $0.userInfo }]
    }
}
