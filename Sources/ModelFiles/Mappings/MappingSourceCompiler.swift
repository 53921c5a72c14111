import Foundation

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
                .sorted { EditorOrder.precedes($0.name ?? "", $1.name ?? "") }
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
            throw unreadable(field, mapping, property, "it is not Base64")
        }
        do { return try KeyedArchive(data: data) } catch { throw unreadable(field, mapping, property, "\(error)") }
    }

    private static func unreadable(
        _ field: String, _ mapping: String?, _ property: String?, _ reason: String
    ) -> ModelFileError {
        ModelFileError(.corrupt, entity: mapping, property: property, reason: "its \(field) cannot be read: \(reason)")
    }
}

/// Compiles mapping models, as Xcode does: an `.xcmappingmodel` becomes a `.cdm`.
package enum MappingCompiler {
    /// The content of the compiled file. Both versions of the model are found by the paths in the source.
    ///
    /// - Parameter url: the `.xcmappingmodel`.
    /// - Returns: the content of the `.cdm`.
    /// - Throws: an error in the Cocoa domain that names the file and its defect.
    package static func compiledData(ofSource url: URL) throws -> Data {
        let source = try MappingSourceReader.source(at: url)
        let models = try source.mappedModels(for: url)
        return try ModelFileError.naming(MappingSourceReader.file(url)) {
            let mappings = try MappingSourceCompiler.documents(
                of: source, from: models.source, to: models.destination)
            return try MappingArchiveWriter.archive(of: mappings).data()
        }
    }
}

/// Reads `xcmapping.xml`.
package enum MappingSourceReader {
    /// Reads a file.
    ///
    /// - Parameter url: the `.xcmappingmodel`, or the `xcmapping.xml` in it.
    /// - Returns: the editor's objects.
    /// - Throws: an error in the Cocoa domain that names the file and its defect.
    package static func source(at url: URL) throws -> MappingSource {
        let file = Self.file(url)
        return try ModelFileError.naming(file) {
            guard let data = FileManager.default.contents(atPath: file.path) else {
                throw ModelFileError(.missing, reason: "it is missing or cannot be read")
            }
            return try source(of: data)
        }
    }

    package static func file(_ url: URL) -> URL {
        url.pathExtension == "xcmappingmodel" ? url.appendingPathComponent("xcmapping.xml") : url
    }

    /// Reads the bytes of a file.
    ///
    /// - Throws: `ModelFileError` with the defect.
    package static func source(of data: Data) throws -> MappingSource {
        let document: StoreDocument
        do { document = try XMLStoreReader.document(of: data) } catch let failure as StoreDocument.Failure {
            throw ModelFileError(.corrupt, reason: failure.reason)
        }
        var source = MappingSource()
        source.uuid = document.metadata["NSStoreUUID"] as? String ?? source.uuid
        source.nextKey = document.lastKey
        let version = document.metadata["NSPersistenceFrameworkVersion"] as? NSNumber
        source.frameworkVersion = version?.int64Value ?? source.frameworkVersion
        source.checksum = document.metadata["NSStoreModelVersionChecksumKey"] as? String
        source.objects = try document.objects.map(object)
        guard source.root != nil else {
            throw ModelFileError(
                .corrupt, reason: "it has no \(MappingSource.Kind.model.rawValue), so it is not a mapping model")
        }
        try checkReferences(of: source)
        return source
    }

    private static func object(_ object: StoreDocument.Object) throws -> MappingSource.Object {
        guard let kind = MappingSource.Kind(rawValue: object.entityName) else {
            throw ModelFileError(
                .corrupt, reason: "object z\(object.key) is a \(object.entityName), no part of a mapping model")
        }
        var result = MappingSource.Object(kind: kind, key: object.key)
        for (name, value) in object.attributes {
            if case .text(let text) = value { result.set(name, text) }
        }
        for (name, keys) in object.relationships { result.refer(name, to: keys) }
        return result
    }

    private static func checkReferences(of source: MappingSource) throws {
        var known: Set<Int64> = []
        for object in source.objects where !known.insert(object.key).inserted {
            throw ModelFileError(.corrupt, reason: "there are two objects z\(object.key)")
        }
        for object in source.objects {
            for reference in object.references {
                guard let missing = reference.keys.first(where: { !known.contains($0) }) else { continue }
                throw ModelFileError(
                    .corrupt,
                    reason: "“\(reference.name)” of object z\(object.key) leads to z\(missing), which is not there")
            }
        }
    }
}

/// A mapping model as Xcode's editor stores it, `xcmapping.xml` in an `.xcmappingmodel`: a Core Data XML store of the
/// editor's own objects. The value holds the whole file, so that it can be written again unchanged.
package struct MappingSource: Equatable, Sendable {
    /// The kinds of the editor's objects.
    package enum Kind: String, Sendable {
        case model = "XDDEVMAPPINGMODEL"
        case entity = "XDDEVENTITYMAPPING"
        case attribute = "XDDEVATTRIBUTEMAPPING"
        case relationship = "XDDEVRELATIONSHIPMAPPING"
    }

    /// One object of the editor, with its fields in the file's order and under the file's names, which have no
    /// capitals.
    package struct Object: Equatable, Sendable {
        package var kind: Kind
        package var key: Int64
        package var fields: [Field] = []
        package var references: [Reference] = []

        package struct Field: Equatable, Sendable {
            package var name: String
            package var text: String
        }

        package struct Reference: Equatable, Sendable {
            package var name: String
            package var keys: [Int64]
        }

        /// A field's text; nil for a missing or empty one.
        func text(_ name: String) -> String? {
            guard let text = fields.first(where: { $0.name == name })?.text, !text.isEmpty else { return nil }
            return text
        }

        func keys(_ name: String) -> [Int64] { references.first { $0.name == name }?.keys ?? [] }

        mutating func set(_ name: String, _ text: String?) {
            if let text { fields.append(Field(name: name, text: text)) }
        }

        mutating func refer(_ name: String, to keys: [Int64]) { references.append(Reference(name: name, keys: keys)) }
    }

    package var uuid = UUID().uuidString
    /// The number for the next object.
    package var nextKey: Int64 = 102
    /// The version of the framework that wrote the file.
    package var frameworkVersion: Int64 = 1044
    /// A digest that later versions of Xcode add.
    package var checksum: String?
    package var objects: [Object] = []

    var root: Object? { objects.first { $0.kind == .model } }

    /// The paths of the models in the project.
    package var modelPaths: (source: String?, destination: String?) {
        (root?.text("sourcemodelpath"), root?.text("destinationmodelpath"))
    }

    /// The entity mappings, in the order in which a migration runs them.
    var entityMappings: [Object] {
        let byKey = objectByKey
        let listed = (root?.keys("entitymappings") ?? []).compactMap { byKey[$0] }
        return listed.sorted { Self.number($0) < Self.number($1) }
    }

    /// The mappings of an entity mapping's attributes or relationships.
    func properties(_ name: String, of mapping: Object) -> [Object] {
        let byKey = objectByKey
        return mapping.keys(name).compactMap { byKey[$0] }
    }

    private var objectByKey: [Int64: Object] {
        Dictionary(objects.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
    }

    private static func number(_ object: Object) -> Int64 { object.text("mappingnumber").flatMap { Int64($0) } ?? .max }
}
