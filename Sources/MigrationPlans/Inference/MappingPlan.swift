import CoreDataModel

/// The mapping of one model's entities to another's, as a value with only names.
///
/// It is converted to a mapping model for migrations of objects, and to SQL statements for migrations of tables.
package struct MappingPlan: Equatable, Sendable {
    /// First the remaining entities, by the destination's names, then the added ones, then the removed ones.
    package let entities: [EntityMappingPlan]
    /// The removed entities that had no objects when the plan was made. An object of theirs stops the migration.
    package var emptyEntities: Set<String> = []
    private let positions: Positions

    /// The positions of the entities by name: each is looked for many times.
    private struct Positions: Equatable, Sendable {
        let destinations: [String: Int]
        let sources: [String: Int]
    }

    package init(entities: [EntityMappingPlan]) {
        self.entities = entities
        func positions(_ name: (EntityMappingPlan) -> String?) -> [String: Int] {
            var positions: [String: Int] = [:]
            for (position, entity) in entities.enumerated() {
                if let name = name(entity), positions[name] == nil { positions[name] = position }
            }
            return positions
        }
        self.positions = Positions(destinations: positions(\.destination), sources: positions(\.source))
    }

    /// The part that concerns a store of some entities.
    ///
    /// - Parameters:
    ///   - sources: the names of the entities that the store holds; nil for all.
    ///   - destinations: the names of those that it is to hold; nil for all.
    /// - Returns: the plans of entities that it holds, or is to hold.
    package func part(sources: Set<String>?, destinations: Set<String>?) -> MappingPlan {
        func holds(_ name: String?, _ names: Set<String>?) -> Bool { name.map { names?.contains($0) ?? true } ?? false }
        return MappingPlan(
            entities: entities.filter { holds($0.source, sources) || holds($0.destination, destinations) })
    }

    /// The plan for an entity of the destination.
    package func entity(destination name: String) -> EntityMappingPlan? {
        positions.destinations[name].map { entities[$0] }
    }

    /// The plan for an entity of the source.
    package func entity(source name: String) -> EntityMappingPlan? { positions.sources[name].map { entities[$0] } }

    /// Whether anything changes, apart from entities that are the same in both models.
    package var changesAnything: Bool { entities.contains { $0.kind != .copy } }
}

/// The migration of one entity.
package struct EntityMappingPlan: Equatable, Sendable {
    package enum Kind: String, Sendable {
        case add = "Add"
        case remove = "Remove"
        case copy = "Copy"
        case transform = "Transform"
    }

    package let kind: Kind
    /// The entity's name in the source; `nil` for an added one.
    package let source: String?
    /// The entity's name in the destination; `nil` for a removed one.
    package let destination: String?
    /// The stored attributes of the destination, including inherited ones, by name.
    package let attributes: [PropertyPlan]
    /// The relationships of the destination, including inherited ones, by name.
    package let relationships: [PropertyPlan]
    /// The names in the source by those in the destination, without new properties.
    private let sources: [String: String]

    package init(
        kind: Kind, source: String?, destination: String?, attributes: [PropertyPlan] = [],
        relationships: [PropertyPlan] = []
    ) {
        (self.kind, self.source, self.destination) = (kind, source, destination)
        (self.attributes, self.relationships) = (attributes, relationships)
        let known = (attributes + relationships).compactMap { property in property.source.map { (property.name, $0) } }
        sources = Dictionary(known, uniquingKeysWith: { first, _ in first })
    }

    /// Core Data's name for the entity mapping: `IEM_Transform_Car`, after the source if there is one.
    package var mappingName: String { "IEM_\(kind.rawValue)_\(source ?? destination ?? "")" }

    /// The name of a destination's property in the source; `nil` for a new one.
    package func source(of property: String) -> String? { sources[property] }
}

/// The source of one property of the destination.
package struct PropertyPlan: Equatable, Sendable {
    /// The name in the destination.
    package var name: String
    /// The name in the source; `nil` for a new property.
    package var source: String?
}

extension MappingPlan {
    /// The entities that a store of a configuration holds after a migration: those of the configuration, and what the
    /// stored subentities of its entities became, since their objects are in the same tables.
    ///
    /// - Parameters:
    ///   - model: the model to migrate to.
    ///   - configuration: the configuration of the store.
    ///   - stored: the entities that the store holds before.
    /// - Returns: the names; nil for all entities of the model.
    package func entityNames(
        of model: NSManagedObjectModel, configuration: String?, holding stored: Set<String>
    ) -> Set<String>? {
        guard let names = model.entityNames(inConfiguration: configuration) else { return nil }
        let members = model.entities.filter { names.contains($0.name ?? "") }
        let inheriting = Set(members.flatMap(\.selfAndDescendants).compactMap(\.name))
        let successors = entities.filter { $0.source.map(stored.contains) ?? false }.compactMap(\.destination)
        return names.union(successors.filter(inheriting.contains))
    }
}
