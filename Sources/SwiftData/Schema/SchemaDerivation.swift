import CoreData

/// The entities of model classes, of those that these are related to, and of their superclasses.
struct SchemaDerivation {
    /// The classes by the names of their entities.
    private(set) var modelTypes: [String: ModelType] = [:]
    /// The entities that inherit from no other, with those that inherit from them.
    private(set) var roots: [Schema.Entity] = []
    private var ordered: [ModelType] = []

    init(_ types: [any PersistentModel.Type]) {
        for type in types { add(ModelType.of(type)) }
        var entities: [String: Schema.Entity] = [:]
        for type in ordered { entities[type.name] = Self.entity(of: type) }
        connect(entities)
        for type in ordered {
            guard let entity = entities[type.name] else { continue }
            if let parent = type.superType.flatMap({ entities[$0.name] }) {
                entity.superentity = parent
                parent.subentities.insert(entity)
            } else {
                roots.append(entity)
            }
        }
    }

    private mutating func add(_ type: ModelType) {
        guard modelTypes[type.name] == nil else { return }
        modelTypes[type.name] = type
        ordered.append(type)
        if let parent = type.superType { add(parent) }
        for property in type.properties {
            if let destination = property.destination { add(ModelType.of(destination)) }
        }
    }

    private static func entity(of type: ModelType) -> Schema.Entity {
        let entity = Schema.Entity(type.name)
        entity._objectType = type.type
        let own = type.properties[(type.superType?.properties.count ?? 0)...]
        entity.ownProperties = own.map { property -> any SchemaProperty in
            guard let destination = property.destination else { return attribute(property) }
            let given = property.metadata as? Schema.Relationship
            let relationship = Schema.Relationship(
                deleteRule: given?.deleteRule ?? .nullify, minimumModelCount: given?.minimumModelCount ?? 0,
                maximumModelCount: given?.maximumModelCount ?? 0, originalName: given?.originalName,
                inverse: given?.inverseKeyPath, hashModifier: given?.hashModifier)
            relationship.options = given?.options ?? []
            relationship.name = property.name
            if relationship.originalName.isEmpty { relationship.originalName = property.name }
            relationship.keypath = property.keyPath
            relationship.valueType = property.valueType
            relationship.destination = ModelType.name(of: destination)
            return relationship
        }
        entity.uniquenessConstraints = type.constraints
        entity.indices = type.indices
        entity.rtreeIndices = type.rtrees
        return entity
    }

    private static func attribute(_ property: ModelProperty) -> Schema.Attribute {
        let given = property.metadata as? Schema.Attribute
        let originalName = given.flatMap { $0.originalName.isEmpty ? nil : $0.originalName }
        let options = given?.options ?? []
        guard case .attribute(.composite) = property.kind else {
            return Schema.Attribute(
                name: property.name, originalName: originalName, options: options, valueType: property.valueType,
                defaultValue: property.defaultValue, hashModifier: given?.hashModifier)
        }
        return Schema.CompositeAttribute(
            name: property.name, originalName: originalName, options: options, valueType: property.valueType,
            defaultValue: property.defaultValue, hashModifier: given?.hashModifier)
    }

    // MARK: Inverses

    /// Connects relationships with those that lead back: the ones that models name, then those that only one can be.
    private func connect(_ entities: [String: Schema.Entity]) {
        for type in ordered {
            for relationship in Self.relationships(of: type, entities) {
                guard let keyPath = relationship.inverseKeyPath, let destination = modelTypes[relationship.destination],
                    let name = destination.name(of: keyPath)
                else { continue }
                relationship.inverseName = name
                Self.relationship(name, of: destination, entities)?.inverseName = relationship.name
            }
        }
        for type in ordered {
            for relationship in Self.relationships(of: type, entities) where relationship.inverseName == nil {
                guard let destination = modelTypes[relationship.destination],
                    let inverse = onlyRelationship(from: destination, to: type, besides: relationship, entities),
                    onlyRelationship(from: type, to: destination, besides: inverse, entities) === relationship
                else { continue }
                relationship.inverseName = inverse.name
                inverse.inverseName = relationship.name
            }
        }
    }

    private static func relationships(
        of type: ModelType, _ entities: [String: Schema.Entity]
    ) -> [Schema.Relationship] {
        entities[type.name]?.ownProperties.compactMap { $0 as? Schema.Relationship } ?? []
    }

    private static func relationship(
        _ name: String, of type: ModelType, _ entities: [String: Schema.Entity]
    ) -> Schema.Relationship? {
        relationships(of: type, entities).first { $0.name == name }
            ?? type.superType.flatMap { relationship(name, of: $0, entities) }
    }

    /// The only relationship without an inverse from one class to another; nil if there are several, and for one to a
    /// single model that is not optional, whose inverse must be named.
    private func onlyRelationship(
        from source: ModelType, to destination: ModelType, besides other: Schema.Relationship,
        _ entities: [String: Schema.Entity]
    ) -> Schema.Relationship? {
        let candidates = Self.relationships(of: source, entities).filter {
            $0 !== other && $0.inverseName == nil && $0.destination == destination.name
        }
        guard candidates.count == 1, let only = candidates.first, !only.isToOneRelationship || only.isOptional else {
            return nil
        }
        return only
    }
}
