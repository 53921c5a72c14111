import Foundation

/// What Xcode puts into a compiled mapping model where its source says nothing: names, kinds and value expressions. Pure;
/// read from a source and the file that was compiled of it.
struct GeneratedMapping {
    let source: MappedModel
    let destination: MappedModel
    /// The entity mappings: names, and the entities that they lead from and to.
    let mappings: [(name: String, source: String?, destination: String?)]

    /// `CarToCar`, or the entity's name where there is none on the other side.
    static func name(source: String?, destination: String?) -> String {
        guard let source, let destination else { return destination ?? source ?? "" }
        return "\(source)To\(destination)"
    }

    /// Custom where there is a policy; otherwise what the entities say: a copy where their attributes are the same.
    func type(source sourceName: String?, destination destinationName: String?, hasPolicy: Bool) -> NSEntityMappingType
    {
        if hasPolicy { return .customEntityMappingType }
        guard let sourceName else { return .addEntityMappingType }
        guard let destinationName else { return .removeEntityMappingType }
        // The one file of Xcode's at hand copies an entity that has a relationship more, but the same attributes.
        let isSame =
            source.versionHash(of: sourceName) == destination.versionHash(of: destinationName)
            || Self.attributes(of: sourceName, in: source) == Self.attributes(of: destinationName, in: destination)
        return isSame ? .copyEntityMappingType : .transformEntityMappingType
    }

    private static func attributes(of entity: String, in model: MappedModel) -> [String: Data] {
        model.properties(of: entity).filter { $0.value.attribute != nil && !$0.value.isTransient }.mapValues {
            VersionHash.hash(of: VersionedProperty($0))
        }
    }

    /// All objects of an entity that satisfy a predicate:
    /// `FETCH(FUNCTION($manager, "fetchRequestForSourceEntityNamed:predicateString:", "Car", "TRUEPREDICATE"), $manager.sourceContext, NO)`
    static func objects(of entity: String, predicate: String?) -> ExpressionTree {
        let manager = ExpressionTree.variable(NSMigrationManagerKey)
        let request = ExpressionTree.call(
            on: manager, name: MigrationFunction.fetchRequest,
            arguments: [.constant(.string(entity)), .constant(.string(predicate ?? "TRUEPREDICATE"))])
        return .fetch(request, in: .path(from: manager, ["sourceContext"]), countOnly: false)
    }

    /// `$source.name`, where the source entity has that attribute.
    func attribute(_ name: String, of entity: String?) -> ExpressionTree? {
        guard let entity, source.property(name, of: entity)?.attribute != nil else { return nil }
        return Self.sourceValue(name)
    }

    /// The objects that those of the source relationship became: by the entity mapping of their entity, or, where several
    /// lead from it and the entities that inherit from it, by the relationship.
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

    private static func sourceValue(_ key: String) -> ExpressionTree {
        .path(
            from: .variable(NSMigrationSourceObjectKey),
            key.split(separator: ".", omittingEmptySubsequences: false).map(String.init))
    }
}
