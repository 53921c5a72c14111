import Foundation
import KeyedArchives

/// Compiles a mapping model's source, as Xcode does: fills in what the source leaves to the models.
package enum MappingSourceCompiler {
    /// The entity mappings of a source.
    ///
    /// - Parameters:
    ///   - source: the editor's objects.
    ///   - sourceModel: the version to migrate from.
    ///   - destinationModel: the version to migrate to.
    /// - Throws: `ModelFileError` naming the mapping and property that do not fit the models or cannot be read.
    package static func mappings(
        of source: MappingSource, from sourceModel: NSManagedObjectModel, to destinationModel: NSManagedObjectModel
    ) throws -> [NSEntityMapping] {
        let objects = source.entityMappings
        let generated = GeneratedMapping(
            source: sourceModel, destination: destinationModel,
            mappings: objects.map { (name(of: $0), $0.text("sourcename"), $0.text("destinationname")) })
        return try objects.map { try mapping($0, source, generated) }
    }

    private static func name(of object: MappingSource.Object) -> String {
        object.text("name")
            ?? GeneratedMapping.name(source: object.text("sourcename"), destination: object.text("destinationname"))
    }

    private static func mapping(
        _ object: MappingSource.Object, _ source: MappingSource, _ generated: GeneratedMapping
    ) throws -> NSEntityMapping {
        let mapping = NSEntityMapping()
        mapping.name = name(of: object)
        mapping.sourceEntityName = object.text("sourcename")
        mapping.destinationEntityName = object.text("destinationname")
        mapping.sourceEntityVersionHash = try hash(
            of: mapping.sourceEntityName, in: generated.source, "source", mapping.name)
        mapping.destinationEntityVersionHash = try hash(
            of: mapping.destinationEntityName, in: generated.destination, "destination", mapping.name)
        mapping.entityMigrationPolicyClassName = object.text("migrationpolicyclassname")
        mapping.mappingType = generated.type(
            source: mapping.sourceEntityName, destination: mapping.destinationEntityName,
            hasPolicy: mapping.entityMigrationPolicyClassName != nil)
        mapping.userInfo = try userInfo(of: object, mapping.name, nil)
        if let entity = mapping.sourceEntityName {
            let tree = try expression("sourceexpressiondata", of: object, mapping.name, nil)
            let all = GeneratedMapping.objects(of: entity, predicate: object.text("sourcefilterpredicatestring"))
            mapping.sourceExpression = makeMappingExpression(tree ?? all)
        }
        let properties = try ["attributemappings", "relationshipmappings"].map { list in
            try source.properties(list, of: object).map { try property($0, of: mapping, generated) }
                .sorted { ($0.name ?? "") < ($1.name ?? "") }
        }
        mapping.attributeMappings = properties[0]
        mapping.relationshipMappings = properties[1]
        return mapping
    }

    private static func hash(
        of entity: String?, in model: NSManagedObjectModel, _ side: String, _ mapping: String
    ) throws -> Data? {
        guard let entity else { return nil }
        guard let description = model.entitiesByName[entity] else {
            throw ModelFileError(
                entity: mapping, reason: "the \(side) model has no entity “\(entity)”, which the mapping is for")
        }
        return description.versionHash
    }

    private static func property(
        _ object: MappingSource.Object, of mapping: NSEntityMapping, _ generated: GeneratedMapping
    ) throws -> NSPropertyMapping {
        guard let name = object.text("name") else {
            throw ModelFileError(entity: mapping.name, reason: "its property mapping z\(object.key) has no name")
        }
        guard let entity = mapping.destinationEntityName,
            generated.destination.entitiesByName[entity]?.propertiesByName[name] != nil
        else {
            throw ModelFileError(
                entity: mapping.name, property: name,
                reason: "the destination entity “\(mapping.destinationEntityName ?? "")” has no such property")
        }
        let property = NSPropertyMapping()
        property.name = name
        property.userInfo = try userInfo(of: object, mapping.name, name)
        let written = try expression("valueexpressiondata", of: object, mapping.name, name)
        let implied =
            object.kind == .relationship
            ? generated.relationship(
                name, of: mapping.sourceEntityName, keyPath: object.text("sourcekeypath"),
                through: object.text("sourcemappingname"))
            : generated.attribute(name, of: mapping.sourceEntityName)
        property.valueExpression = (written ?? implied).map(makeMappingExpression)
        return property
    }

    /// An expression that the file holds as an archive in Base64.
    private static func expression(
        _ field: String, of object: MappingSource.Object, _ mapping: String, _ property: String?
    ) throws -> ExpressionTree? {
        try archive(field, of: object, mapping, property).map { archive in
            do { return try PredicateArchiveReader.expression(archive.root()) } catch {
                throw unreadable(field, mapping, property, "\(error)")
            }
        }
    }

    private static func userInfo(
        of object: MappingSource.Object, _ mapping: String, _ property: String?
    ) throws -> [AnyHashable: Any]? {
        try archive("userinfodata", of: object, mapping, property).flatMap { archive in
            do { return try ArchivedValue.object(archive.root()).foundationValue() as? [AnyHashable: Any] } catch {
                throw unreadable("userinfodata", mapping, property, "\(error)")
            }
        }
    }

    private static func archive(
        _ field: String, of object: MappingSource.Object, _ mapping: String, _ property: String?
    ) throws -> KeyedArchive? {
        guard let text = object.text(field) else { return nil }
        guard let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else {
            throw unreadable(field, mapping, property, "it is no Base64")
        }
        do { return try KeyedArchive(data: data) } catch { throw unreadable(field, mapping, property, "\(error)") }
    }

    private static func unreadable(
        _ field: String, _ mapping: String, _ property: String?, _ reason: String
    ) -> ModelFileError {
        ModelFileError(.corrupt, entity: mapping, property: property, reason: "its \(field) cannot be read: \(reason)")
    }
}
