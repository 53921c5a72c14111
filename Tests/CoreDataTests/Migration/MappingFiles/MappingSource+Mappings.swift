import CoreData
import Foundation
import PredicateFormat

@testable import CoreData
@testable import ModelFiles

extension MappingSource {
    /// A mapping model in the editor's form. What Xcode would fill in by itself is left to Xcode.
    ///
    /// Xcode archives a copy of both models into the file, in its editor's own form, and compiles with these copies.
    /// They are taken from `former`, a source that was read; without it, Xcode makes them when the mapping model is
    /// opened.
    ///
    /// - Parameters:
    ///   - mappings: the entity mappings.
    ///   - source: the version to migrate from.
    ///   - destination: the version to migrate to.
    ///   - paths: the paths of the models in the project.
    ///   - former: the previous content of the file.
    /// - Throws: `ModelFileError` naming the mapping and property that the editor cannot represent.
    init(
        _ mappings: [EntityMappingDocument], from source: MappedModel, to destination: MappedModel,
        paths: (source: String, destination: String), former: MappingSource? = nil
    ) throws {
        self.init()
        if let former {
            uuid = former.uuid
            frameworkVersion = former.frameworkVersion
            checksum = former.checksum
        }
        let generated = GeneratedMapping(
            source: source, destination: destination,
            mappings: mappings.map { ($0.name ?? "", $0.sourceName, $0.destinationName) })
        var root = Object(kind: .model, key: takeKey())
        root.set("sourcemodelpath", paths.source)
        root.set("sourcemodeldata", former?.root?.text("sourcemodeldata"))
        root.set("destinationmodelpath", paths.destination)
        root.set("destinationmodeldata", former?.root?.text("destinationmodeldata"))
        let keys = mappings.map { _ in takeKey() }
        root.refer("entitymappings", to: keys)
        objects = [root]
        for (number, (mapping, key)) in zip(mappings, keys).enumerated() {
            try add(mapping, key: key, number: number + 1, root: root.key, generated)
        }
    }

    private mutating func takeKey() -> Int64 {
        defer { nextKey += 1 }
        return nextKey
    }

    private mutating func add(
        _ mapping: EntityMappingDocument, key: Int64, number: Int, root: Int64, _ generated: GeneratedMapping
    ) throws {
        let (source, destination) = (mapping.sourceName, mapping.destinationName)
        let policy = mapping.policyClassName
        let type = generated.type(source: source, destination: destination, hasPolicy: policy != nil)
        guard mapping.type == type || mapping.type == .undefinedEntityMappingType else {
            throw ModelFileError(
                .unwritable, entity: mapping.name,
                reason:
                    "its type is \(mapping.type), and Xcode would make it \(type) of these entities and their policy"
            )
        }
        var object = Object(kind: .entity, key: key)
        if mapping.name != GeneratedMapping.name(source: source, destination: destination) {
            object.set("name", mapping.name)
        }
        object.set("migrationpolicyclassname", policy)
        object.set("sourcename", source)
        object.set("mappingtypename", "Undefined")
        object.set("mappingnumber", "\(number)")
        object.set("destinationname", destination)
        object.set("autogenerateexpression", "1")
        try setSourceExpression(of: mapping, on: &object)
        object.set("userinfodata", try Self.archive(userInfo: mapping.userInfo, mapping.name))
        object.refer("mappingmodel", to: [root])
        let place = objects.count
        objects.append(object)
        let attributes = try (mapping.attributes ?? []).map { property in
            try add(property, .attribute, of: mapping, key, generated.attribute(property.name ?? "", of: source))
        }
        let relationships = try (mapping.relationships ?? []).map { property in
            try add(property, .relationship, of: mapping, key, generated.relationship(property.name ?? "", of: source))
        }
        objects[place].refer("attributemappings", to: attributes)
        objects[place].refer("relationshipmappings", to: relationships)
    }

    /// Sets the predicate if it suffices, and an archived expression otherwise.
    private func setSourceExpression(of mapping: EntityMappingDocument, on object: inout Object) throws {
        guard let entity = mapping.sourceName, let tree = mapping.sourceExpression else { return }
        if case .fetch(.call(_, _, let arguments), _, _) = tree, arguments.count == 2,
            case .constant(.string(let predicate)) = arguments[1],
            tree == GeneratedMapping.objects(of: entity, predicate: predicate)
        {
            if predicate != "TRUEPREDICATE" { object.set("sourcefilterpredicatestring", predicate) }
            return
        }
        object.set("sourceexpressiondata", try Self.archive(tree, mapping.name, nil))
    }

    private mutating func add(
        _ property: PropertyMappingDocument, _ kind: Kind, of mapping: EntityMappingDocument, _ mappingKey: Int64,
        _ implied: ExpressionTree?
    ) throws -> Int64 {
        let key = takeKey()
        var object = Object(kind: kind, key: key)
        let tree = property.expression
        if tree == nil, implied != nil {
            throw ModelFileError(
                .unwritable, entity: mapping.name, property: property.name,
                reason: "it has no value expression, and Xcode would fill in one; give it one that gives nil")
        }
        if let tree, tree != implied {
            object.set("valueexpressiondata", try Self.archive(tree, mapping.name, property.name))
        }
        if kind == .relationship { object.set("autogenerateexpression", "1") }
        object.set("name", property.name)
        object.set("userinfodata", try Self.archive(userInfo: property.userInfo, mapping.name))
        object.refer("entitymapping", to: [mappingKey])
        objects.append(object)
        return key
    }

    private static func archive(_ tree: ExpressionTree, _ mapping: String?, _ property: String?) throws -> String {
        var builder = KeyedArchiveBuilder()
        do {
            let root = try PredicateArchiveWriter.expression(tree, &builder)
            return try builder.archive(root: root).data().base64EncodedString()
        } catch {
            throw ModelFileError(
                .unwritable, entity: mapping, property: property,
                reason: "it has an expression that no file can hold: \(tree.format)")
        }
    }

    private static func archive(userInfo: [AnyHashable: Any]?, _ mapping: String?) throws -> String? {
        guard let userInfo else { return nil }
        var builder = KeyedArchiveBuilder()
        do {
            let root = try builder.foundationValue(userInfo)
            return try builder.archive(root: root).data().base64EncodedString()
        } catch {
            throw ModelFileError(.unwritable, entity: mapping, reason: "its user info cannot be archived: \(error)")
        }
    }
}

extension MappingSource {
    /// A mapping model in the editor's form; see the initializer for values.
    init(
        _ mappingModel: NSMappingModel, from source: NSManagedObjectModel, to destination: NSManagedObjectModel,
        paths: (source: String, destination: String), former: MappingSource? = nil
    ) throws {
        try self.init(
            (mappingModel.entityMappings ?? []).map(\.document), from: MappedModel(source),
            to: MappedModel(destination), paths: paths, former: former)
    }
}
