import CompactCollections

/// The mapping of one model's entities to another's, as a value with only names.
///
/// It is converted to a mapping model for migrations of objects, and to SQL statements for migrations of tables.
package struct MappingPlan: Equatable, Sendable {
    /// First the remaining entities, by the destination's names, then the added ones, then the removed ones.
    package var entities: [EntityMappingPlan]

    package init(entities: [EntityMappingPlan]) { self.entities = entities }

    /// The plan for an entity of the destination.
    package func entity(destination name: String) -> EntityMappingPlan? { entities.first { $0.destination == name } }

    /// The plan for an entity of the source.
    package func entity(source name: String) -> EntityMappingPlan? { entities.first { $0.source == name } }

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

    package var kind: Kind
    /// The entity's name in the source; `nil` for an added one.
    package var source: String?
    /// The entity's name in the destination; `nil` for a removed one.
    package var destination: String?
    /// The stored attributes of the destination, including inherited ones, by name.
    package var attributes: [PropertyPlan] = []
    /// The relationships of the destination, including inherited ones, by name.
    package var relationships: [PropertyPlan] = []

    /// Core Data's name for the entity mapping: `IEM_Transform_Car`, after the source if there is one.
    package var mappingName: String { "IEM_\(kind.rawValue)_\(source ?? destination ?? "")" }

    /// The name of a destination's property in the source; `nil` for a new one.
    package func source(of property: String) -> String? {
        (attributes + relationships).first { $0.name == property }?.source
    }
}

/// The source of one property of the destination.
package struct PropertyPlan: Equatable, Sendable {
    /// The name in the destination.
    package var name: String
    /// The name in the source; `nil` for a new property.
    package var source: String?
}
