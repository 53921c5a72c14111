import CompactCollections
import Foundation
import KeyedArchives
import Ordering

/// Compiles a mapping model's source, as Xcode does: fills in what the source leaves open, from the models.
package enum MappingSourceCompiler {
    /// The entity mappings of a source.
    ///
    /// - Parameters:
    ///   - source: the editor's objects.
    ///   - sourceModel: the version to migrate from.
    ///   - destinationModel: the version to migrate to.
    /// - Returns: the entity mappings, in the order of the source.
    /// - Throws: `ModelFileError` naming the mapping and property that do not fit the models or cannot be read.
    package static func documents(
        of source: MappingSource, from sourceModel: MappedModel, to destinationModel: MappedModel
    ) throws -> [EntityMappingDocument] {
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
    ) throws -> EntityMappingDocument {
        var mapping = EntityMappingDocument(name: name(of: object))
        mapping.sourceName = object.text("sourcename")
        mapping.destinationName = object.text("destinationname")
        mapping.sourceVersionHash = try hash(
            of: mapping.sourceName, in: generated.source, "source", mapping.name)
        mapping.destinationVersionHash = try hash(
            of: mapping.destinationName, in: generated.destination, "destination", mapping.name)
        mapping.policyClassName = object.text("migrationpolicyclassname")
        mapping.type = generated.type(
            source: mapping.sourceName, destination: mapping.destinationName,
            hasPolicy: mapping.policyClassName != nil)
        mapping.userInfo = try userInfo(of: object, mapping.name, nil)
        if let entity = mapping.sourceName {
            let tree = try expression("sourceexpressiondata", of: object, mapping.name, nil)
            let all = GeneratedMapping.objects(of: entity, predicate: object.text("sourcefilterpredicatestring"))
            mapping.sourceExpression = tree ?? all
        }
        let properties = try ["attributemappings", "relationshipmappings"].map { list in
            try source.properties(list, of: object).map { try property($0, of: mapping, generated) }
                .ordered { EditorOrder.precedes($0.name ?? "", $1.name ?? "") }
        }
        mapping.attributes = properties[0]
        mapping.relationships = properties[1]
        return mapping
    }

    private static func hash(
        of entity: String?, in model: MappedModel, _ side: String, _ mapping: String?
    ) throws -> Data? {
        guard let entity else { return nil }
        guard model.hasEntity(entity) else {
            throw ModelFileError(
                entity: mapping, reason: "the \(side) model has no entity “\(entity)”, which the mapping is for")
        }
        return model.versionHash(of: entity)
    }

    private static func property(
        _ object: MappingSource.Object, of mapping: EntityMappingDocument, _ generated: GeneratedMapping
    ) throws -> PropertyMappingDocument {
        guard let name = object.text("name") else {
            throw ModelFileError(entity: mapping.name, reason: "its property mapping z\(object.key) has no name")
        }
        guard let entity = mapping.destinationName,
            generated.destination.property(name, of: entity) != nil
        else {
            throw ModelFileError(
                entity: mapping.name, property: name,
                reason: "the destination entity “\(mapping.destinationName ?? "")” has no such property")
        }
        var property = PropertyMappingDocument(name: name, userInfo: try userInfo(of: object, mapping.name, name))
        let written = try expression("valueexpressiondata", of: object, mapping.name, name)
        let implied =
            object.kind == .relationship
            ? generated.relationship(
                name, of: mapping.sourceName, keyPath: object.text("sourcekeypath"),
                through: object.text("sourcemappingname"))
            : generated.attribute(name, of: mapping.sourceName)
        property.expression = written ?? implied
        return property
    }

    /// An expression that the file holds as an archive in Base64.
    private static func expression(
        _ field: String, of object: MappingSource.Object, _ mapping: String?, _ property: String?
    ) throws -> ExpressionTree? {
        try archive(field, of: object, mapping, property).map { archive in
            do { return try PredicateArchiveReader.expression(archive.root()) } catch {
                throw unreadable(field, mapping, property, "\(error)")
            }
        }
    }

    private static func userInfo(
        of object: MappingSource.Object, _ mapping: String?, _ property: String?
    ) throws -> [AnyHashable: Any]? {
        try archive("userinfodata", of: object, mapping, property).flatMap { archive in
            do { return try ArchivedValue.object(archive.root()).foundationValue() as? [AnyHashable: Any] } catch {
                throw unreadable("userinfodata", mapping, property, "\(error)")
            }
        }
    }

    private static func archive(
        _ field: String, of object: MappingSource.Object, _ mapping: String?, _ property: String?
    ) throws -> KeyedArchive? {
        guard let text = object.text(field) else { return nil }
        guard let data = Data(base64Encoded: text, options: .ignoreUnknownCharacters) else {
            throw unreadable(field, mapping, property, "it is no Base64")
        }
        do { return try KeyedArchive(data: data) } catch { throw unreadable(field, mapping, property, "\(error)") }
    }

    private static func unreadable(
        _ field: String, _ mapping: String?, _ property: String?, _ reason: String
    ) -> ModelFileError {
        ModelFileError(.corrupt, entity: mapping, property: property, reason: "its \(field) cannot be read: \(reason)")
    }
}
