import Foundation

/// Reads a compiled mapping model, `.cdm`: a keyed archive of an `NSMappingModel`.
package enum MappingArchiveReader {
    /// The entity mappings of an archive.
    ///
    /// - Throws: an error that names the object and the key that are wrong.
    package static func documents(of data: Data) throws -> [EntityMappingDocument] {
        let root = try KeyedArchive(data: data).root()
        guard root.isKind(of: "NSMappingModel") else {
            throw root.error(nil, expected: "a mapping model", found: root.className)
        }
        return try (root.optionalObjects(forKey: "NSEntityMappings") ?? []).map(entityMapping)
    }

    private static func entityMapping(_ object: ArchivedObject) throws -> EntityMappingDocument {
        var mapping = EntityMappingDocument(name: try object.optionalString(forKey: "NSMappingName"))
        let number = try object.integer(forKey: "NSMappingType", default: 0)
        guard let type = UInt(exactly: number).flatMap(NSEntityMappingType.init) else {
            throw object.error("NSMappingType", expected: "0 to 5", found: "\(number)")
        }
        mapping.type = type
        mapping.sourceName = try object.optionalString(forKey: "NSSourceEntityName")
        mapping.destinationName = try object.optionalString(forKey: "NSDestinationEntityName")
        mapping.sourceVersionHash = try data(object, "NSSourceEntityVersionHash")
        mapping.destinationVersionHash = try data(object, "NSDestinationEntityVersionHash")
        mapping.policyClassName = try object.optionalString(forKey: "NSEntityMigrationPolicyClassName")
        mapping.sourceExpression = try expression(object, "NSSourceExpression")
        mapping.attributes = try object.optionalObjects(forKey: "NSAttributeMappings")?.map(propertyMapping)
        mapping.relationships = try object.optionalObjects(forKey: "NSRelationshipMappings")?.map(propertyMapping)
        mapping.userInfo = try userInfo(object)
        return mapping
    }

    private static func propertyMapping(_ object: ArchivedObject) throws -> PropertyMappingDocument {
        PropertyMappingDocument(
            name: try object.optionalString(forKey: "NSDestinationPropertyName"),
            expression: try expression(object, "NSValueExpression"), userInfo: try userInfo(object))
    }

    private static func expression(_ object: ArchivedObject, _ key: String) throws -> ExpressionTree? {
        try object.optionalObject(forKey: key).map { try PredicateArchiveReader.expression($0) }
    }

    private static func data(_ object: ArchivedObject, _ key: String) throws -> Data? {
        let value = try object.value(forKey: key)
        if case .null = value { return nil }
        guard let data = try value.foundationValue() as? Data else {
            throw object.error(key, expected: "data", found: value.kind)
        }
        return data
    }

    private static func userInfo(_ object: ArchivedObject) throws -> [AnyHashable: Any]? {
        let value = try object.value(forKey: "NSUserInfo")
        if case .null = value { return nil }
        return try value.foundationValue() as? [AnyHashable: Any]
    }
}
