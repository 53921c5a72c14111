import Foundation

/// What Xcode fills in when it compiles a mapping model whose source leaves it open: names, kinds and value
/// expressions. Pure; derived from a source and the file compiled from it.
struct GeneratedMapping {
    let source: MappedModel
    let destination: MappedModel
    /// The entity mappings: names, and their source and destination entities.
    let mappings: [(name: String, source: String?, destination: String?)]

    /// `CarToCar`, or the entity's name if the other side has none.
    static func name(source: String?, destination: String?) -> String {
        guard let source, let destination else { return destination ?? source ?? "" }
        return "\(source)To\(destination)"
    }

    /// Custom if there is a policy; otherwise it follows from the entities: a copy if the name, the attributes and the
    /// entities that the relationships lead to are the same, as far as both versions have the relationships.
    func type(source sourceName: String?, destination destinationName: String?, hasPolicy: Bool) -> NSEntityMappingType
    {
        if hasPolicy { return .customEntityMappingType }
        guard let sourceName else { return .addEntityMappingType }
        guard let destinationName else { return .removeEntityMappingType }
        if source.versionHash(of: sourceName) == destination.versionHash(of: destinationName) {
            return .copyEntityMappingType
        }
        // In one of the known examples, Xcode copies an entity that has an additional relationship.
        let (ends, newEnds) = (Self.ends(of: sourceName, in: source), Self.ends(of: destinationName, in: destination))
        let isSame =
            sourceName == destinationName
            && Self.attributes(of: sourceName, in: source) == Self.attributes(of: destinationName, in: destination)
            && ends.allSatisfy { newEnds[$0.key] == nil || newEnds[$0.key] == $0.value }
        return isSame ? .copyEntityMappingType : .transformEntityMappingType
    }

    private static func attributes(of entity: String, in model: MappedModel) -> [String: Data] {
        model.properties(of: entity).filter { $0.value.attribute != nil && !$0.value.isTransient }.mapValues {
            VersionHash.hash(of: VersionedProperty($0))
        }
    }

    /// The names of the entities that an entity's relationships lead to.
    private static func ends(of entity: String, in model: MappedModel) -> [String: String] {
        model.properties(of: entity).compactMapValues { $0.relationship?.destinationName }
    }

    /// All objects of an entity that satisfy a predicate:
    /// `FETCH(FUNCTION($manager, "fetchRequestForSourceEntityNamed:predicateString:", "Car", "TRUEPREDICATE"),
    /// $manager.sourceContext, NO)`
    static func objects(of entity: String, predicate: String?) -> ExpressionTree {
        let manager = ExpressionTree.variable(NSMigrationManagerKey)
        let request = ExpressionTree.call(
            on: manager, name: MigrationFunction.fetchRequest,
            arguments: [.constant(.string(entity)), .constant(.string(predicate ?? "TRUEPREDICATE"))])
        return .fetch(request, in: .path(from: manager, ["sourceContext"]), countOnly: false)
    }

    /// `$source.name`, if the source entity has that attribute.
    func attribute(_ name: String, of entity: String?) -> ExpressionTree? {
        guard let entity, source.property(name, of: entity)?.attribute != nil else { return nil }
        return Self.sourceValue(name)
    }

    /// The migrated objects of the source relationship: by the entity mapping of their entity, or by the relationship
    /// if several mappings start from that entity and its subentities.
    func relationship(_ name: String, of entity: String?, keyPath: String? = nil, through: String? = nil)
        -> ExpressionTree?
    {
        let key = keyPath.map(Self.withoutSource) ?? name
        if let through { return Self.instances(MigrationFunction.destinationsOfMapping, through, key) }
        guard let entity, let relationship = source.property(key, of: entity)?.relationship,
            let target = relationship.destinationName
        else { return nil }
        let names = source.selfAndDescendants(of: target)
        let fitting = mappings.filter { $0.destination != nil && names.contains($0.source ?? "") }
        switch fitting.count {
        case 0: return nil
        case 1: return Self.instances(MigrationFunction.destinationsOfMapping, fitting[0].name, key)
        default: return Self.instances(MigrationFunction.destinationsOfRelationship, key, key)
        }
    }

    private static func instances(_ function: String, _ argument: String, _ key: String) -> ExpressionTree {
        .call(
            on: .variable(NSMigrationManagerKey), name: function,
            arguments: [.constant(.string(argument)), sourceValue(key)])
    }

    /// Xcode's editor takes `$source.country.continent` as well as `country.continent`.
    private static func withoutSource(_ keyPath: String) -> String {
        let prefix = "$\(NSMigrationSourceObjectKey)."
        return keyPath.hasPrefix(prefix) ? String(keyPath.dropFirst(prefix.count)) : keyPath
    }

    /// `$source.key`, or the source object itself, which an object that is made from it may refer to by another
    /// mapping.
    private static func sourceValue(_ key: String) -> ExpressionTree {
        let source = ExpressionTree.variable(NSMigrationSourceObjectKey)
        guard key != "$\(NSMigrationSourceObjectKey)" else { return source }
        return .path(from: source, key.split(separator: ".", omittingEmptySubsequences: false).map(String.init))
    }
}

/// The methods of the migration manager that mapping models call by name.
package enum MigrationFunction {
    package static let destinationsOfRelationship = "destinationInstancesForSourceRelationshipNamed:sourceInstances:"
    package static let destinationsOfMapping = "destinationInstancesForEntityMappingNamed:sourceInstances:"
    package static let sourcesOfMapping = "sourceInstancesForEntityMappingNamed:destinationInstances:"
    package static let fetchRequest = "fetchRequestForSourceEntityNamed:predicateString:"
    package static let fetchRequestWithSubentities =
        "fetchRequestForSourceEntityNamed:predicateString:includesSubentities:"
}

/// In value expressions, `$manager`: the migration manager.
public let NSMigrationManagerKey = "manager"
/// In value expressions, `$source`: the source object.
public let NSMigrationSourceObjectKey = "source"
/// In value expressions, `$destination`: the destination object.
public let NSMigrationDestinationObjectKey = "destination"
/// In value expressions, `$entityMapping`: the entity mapping that is being worked on.
public let NSMigrationEntityMappingKey = "entityMapping"
/// In value expressions, `$propertyMapping`: the property mapping that is being worked on.
public let NSMigrationPropertyMappingKey = "propertyMapping"
/// In value expressions, `$entityPolicy`: the migration policy of the entity mapping.
public let NSMigrationEntityPolicyKey = "entityPolicy"

/// A version of a model as a mapping model sees it: entities by name, with their inherited properties, and their
/// version hashes.
package struct MappedModel {
    private let entities: [String: EntityDocument]
    private let hashes: [String: Data]

    /// - Parameters:
    ///   - document: the version as a value.
    ///   - hashes: the version hashes of the entities, by name.
    package init(_ document: ModelDocument, hashes: [String: Data]) {
        entities = Dictionary(document.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        self.hashes = hashes
    }

    func hasEntity(_ name: String) -> Bool { entities[name] != nil }

    func versionHash(of entity: String) -> Data? { hashes[entity] }

    /// A property of an entity, its own or inherited.
    func property(_ name: String, of entity: String) -> PropertyDocument? { properties(of: entity)[name] }

    /// The properties of an entity, its own and inherited ones, by name.
    func properties(of entity: String) -> [String: PropertyDocument] {
        guard let document = entities[entity] else { return [:] }
        let line = [document] + DocumentCheck.ancestors(of: document, entities)
        return Dictionary(line.flatMap(\.properties).map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// An entity and all its subentities.
    func selfAndDescendants(of entity: String) -> Set<String> {
        Set(
            entities.values.filter { candidate in
                candidate.name == entity
                    || DocumentCheck.ancestors(of: candidate, entities).contains { $0.name == entity }
            }.map(\.name))
    }
}
