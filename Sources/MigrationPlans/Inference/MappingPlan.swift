/// How the entities of one model become those of another, as a value: names only.
///
/// A mapping model is made of it for the migrations that work on objects, SQL statements for those that work on tables.
package struct MappingPlan: Equatable, Sendable {
    /// First what stays, by the destination's names, then what is added, then what is removed.
    package var entities: [EntityMappingPlan]

    package init(entities: [EntityMappingPlan]) { self.entities = entities }

    /// The plan for an entity of the destination.
    package func entity(destination name: String) -> EntityMappingPlan? { entities.first { $0.destination == name } }

    /// The plan for an entity of the source.
    package func entity(source name: String) -> EntityMappingPlan? { entities.first { $0.source == name } }

    /// Whether anything changes but entities that are the same in both models.
    package var changesAnything: Bool { entities.contains { $0.kind != .copy } }
}

/// What happens to one entity.
package struct EntityMappingPlan: Equatable, Sendable {
    package enum Kind: String, Sendable {
        case add = "Add"
        case remove = "Remove"
        case copy = "Copy"
        case transform = "Transform"
    }

    package var kind: Kind
    /// The entity's name in the source, `nil` for one that is added.
    package var source: String?
    /// The entity's name in the destination, `nil` for one that is removed.
    package var destination: String?
    /// The stored attributes of the destination, inherited ones included, by name.
    package var attributes: [PropertyPlan] = []
    /// The relationships of the destination, inherited ones included, by name.
    package var relationships: [PropertyPlan] = []

    /// The name that Core Data gives the entity mapping: `IEM_Transform_Car`, after the source where there is one.
    package var mappingName: String { "IEM_\(kind.rawValue)_\(source ?? destination ?? "")" }

    /// What a property of the destination is called in the source; `nil` for a new one.
    package func source(of property: String) -> String? {
        (attributes + relationships).first { $0.name == property }?.source
    }
}

/// Where one property of the destination comes from.
package struct PropertyPlan: Equatable, Sendable {
    /// The name in the destination.
    package var name: String
    /// The name in the source, `nil` for a new property.
    package var source: String?
}
