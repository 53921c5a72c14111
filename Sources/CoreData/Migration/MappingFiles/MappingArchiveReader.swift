import Foundation
import KeyedArchives

/// Reads a compiled mapping model, `.cdm`: a keyed archive of an `NSMappingModel`.
enum MappingArchiveReader {
    /// The entity mappings of an archive.
    ///
    /// - Throws: an error that names the object and the key that are not as they should be.
    static func mappings(of data: Data) throws -> [NSEntityMapping] {
        let root = try KeyedArchive(data: data).root()
        guard root.isKind(of: "NSMappingModel") else {
            throw root.error(nil, expected: "a mapping model", found: root.className)
        }
        return try (root.optionalObjects(forKey: "NSEntityMappings") ?? []).map(entityMapping)
    }

    private static func entityMapping(_ object: ArchivedObject) throws -> NSEntityMapping {
        let mapping = NSEntityMapping()
        mapping.name = try object.optionalString(forKey: "NSMappingName")
        let number = try object.integer(forKey: "NSMappingType", default: 0)
        guard let type = UInt(exactly: number).flatMap(NSEntityMappingType.init) else {
            throw object.error("NSMappingType", expected: "0 to 5", found: "\(number)")
        }
        mapping.mappingType = type
        mapping.sourceEntityName = try object.optionalString(forKey: "NSSourceEntityName")
        mapping.destinationEntityName = try object.optionalString(forKey: "NSDestinationEntityName")
        mapping.sourceEntityVersionHash = try data(object, "NSSourceEntityVersionHash")
        mapping.destinationEntityVersionHash = try data(object, "NSDestinationEntityVersionHash")
        mapping.entityMigrationPolicyClassName = try object.optionalString(forKey: "NSEntityMigrationPolicyClassName")
        mapping.sourceExpression = try expression(object, "NSSourceExpression")
        mapping.attributeMappings = try object.optionalObjects(forKey: "NSAttributeMappings")?.map(propertyMapping)
        mapping.relationshipMappings = try object.optionalObjects(forKey: "NSRelationshipMappings")?.map(
            propertyMapping)
        mapping.userInfo = try userInfo(object)
        return mapping
    }

    private static func propertyMapping(_ object: ArchivedObject) throws -> NSPropertyMapping {
        let mapping = NSPropertyMapping()
        mapping.name = try object.optionalString(forKey: "NSDestinationPropertyName")
        mapping.valueExpression = try expression(object, "NSValueExpression")
        mapping.userInfo = try userInfo(object)
        return mapping
    }

    private static func expression(_ object: ArchivedObject, _ key: String) throws -> NSExpression? {
        try object.optionalObject(forKey: key).map { try makeMappingExpression(PredicateArchiveReader.expression($0)) }
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

/// An expression of a mapping model; fetch requests have a class of their own.
func makeMappingExpression(_ tree: ExpressionTree) -> NSExpression {
    guard case .fetch(let request, let context, let countOnly) = tree else { return makeExpression(tree) }
    return NSFetchRequestExpression.expression(
        forFetch: makeExpression(request), context: makeExpression(context), countOnly: countOnly)
}
