import Foundation

/// Writes a compiled mapping model, `.cdm`, with the keys and classes of Apple's archives.
package enum MappingArchiveWriter {
    private static let mappingModel = ["NSMappingModel", "NSObject"]
    private static let entityMapping = ["NSEntityMapping", "NSObject"]
    private static let propertyMapping = ["NSPropertyMapping", "NSObject"]

    /// The archive of entity mappings.
    ///
    /// - Throws: `ModelFileError` naming the mapping and property whose expression cannot be archived, or two mappings
    ///   of one name.
    package static func archive(of mappings: [EntityMappingDocument]) throws -> KeyedArchive {
        var builder = KeyedArchiveBuilder()
        let root = builder.reserve()
        var names: [String] = []
        var references: [PropertyList] = []
        for mapping in mappings {
            let name = mapping.name ?? ""
            guard !name.isEmpty, !names.contains(name) else {
                let reason =
                    name.isEmpty ? "an entity mapping has no name" : "there are two entity mappings named “\(name)”"
                throw ModelFileError(.unwritable, reason: reason)
            }
            names.append(name)
            references.append(try write(mapping, &builder))
        }
        var pairs: [(key: PropertyList, value: PropertyList)] = []
        for (name, reference) in zip(names, references) { pairs.append((key: builder.string(name), value: reference)) }
        let fields = [
            "NSEntityMappings": builder.array(references),
            "NSEntityMappingsByName": builder.dictionary(pairs, isMutable: true),
        ]
        builder.fill(root, classNames: mappingModel, fields: fields)
        return builder.archive(root: root)
    }

    private static func write(_ mapping: EntityMappingDocument, _ builder: inout KeyedArchiveBuilder) throws
        -> PropertyList
    {
        var fields: [String: PropertyList] = ["NSMappingType": .integer(Int64(mapping.type.rawValue))]
        fields["NSMappingName"] = builder.string(mapping.name)
        fields["NSSourceEntityName"] = builder.string(mapping.sourceName)
        fields["NSDestinationEntityName"] = builder.string(mapping.destinationName)
        fields["NSSourceEntityVersionHash"] = builder.scalar(mapping.sourceVersionHash.map(PropertyList.data))
        fields["NSDestinationEntityVersionHash"] = builder.scalar(
            mapping.destinationVersionHash.map(PropertyList.data))
        fields["NSEntityMigrationPolicyClassName"] = builder.string(mapping.policyClassName)
        fields["NSUserInfo"] = try userInfo(mapping.userInfo, &builder)
        let place = ModelFileError(.unwritable, entity: mapping.name, reason: "")
        fields["NSSourceExpression"] = try expression(mapping.sourceExpression, place, &builder)
        fields["NSAttributeMappings"] = try write(mapping.attributes, place, &builder)
        fields["NSRelationshipMappings"] = try write(mapping.relationships, place, &builder)
        return builder.add(classNames: entityMapping, fields: fields)
    }

    private static func write(
        _ properties: [PropertyMappingDocument]?, _ place: ModelFileError, _ builder: inout KeyedArchiveBuilder
    ) throws -> PropertyList {
        guard let properties else { return KeyedArchiveBuilder.null }
        var references: [PropertyList] = []
        for property in properties {
            var place = place
            place.property = property.name
            let fields = [
                "NSDestinationPropertyName": builder.string(property.name),
                "NSValueExpression": try expression(property.expression, place, &builder),
                "NSUserInfo": try userInfo(property.userInfo, &builder),
                // No file with any is known.
                "NSPropertyTransforms": KeyedArchiveBuilder.null,
            ]
            references.append(builder.add(classNames: propertyMapping, fields: fields))
        }
        return builder.array(references)
    }

    private static func expression(
        _ expression: ExpressionTree?, _ place: ModelFileError, _ builder: inout KeyedArchiveBuilder
    ) throws -> PropertyList {
        guard let expression else { return KeyedArchiveBuilder.null }
        do {
            return try PredicateArchiveWriter.expression(expression, &builder)
        } catch {
            var failure = place
            failure.reason = "it has an expression that no file can hold: \(expression.format)"
            throw failure
        }
    }

    private static func userInfo(
        _ userInfo: [AnyHashable: Any]?, _ builder: inout KeyedArchiveBuilder
    ) throws -> PropertyList {
        guard let userInfo else { return KeyedArchiveBuilder.null }
        return try builder.foundationValue(userInfo)
    }
}
