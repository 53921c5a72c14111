import CoreData
import Ordering
import Synchronization

/// The places of a model class's properties in the managed objects of an entity.
final class EntityBinding: Sendable {
    enum Place: Sendable {
        /// An attribute.
        case slot(Int)
        case relationship(RelationshipLayout)
        /// The entity has no such property.
        case none
    }

    let type: ModelType
    let layout: EntityLayout
    /// By number of the property.
    let places: [Place]

    init(_ type: ModelType, _ layout: EntityLayout) {
        (self.type, self.layout) = (type, layout)
        places = type.properties.map { property in
            if let relationship = layout.relationship(named: property.name) { return .relationship(relationship) }
            return layout.slotIndex(forName: property.name).map { .slot($0) } ?? .none
        }
    }

    /// The objects at the other end of a relationship; those of an array in the order in which they were saved.
    func related(_ property: ModelProperty, of object: ModelObject) -> [ModelObject] {
        guard case .relationship(let relationship) = places[property.number] else { return [] }
        guard relationship.isToMany else {
            return (object.toOne(relationship) as? ModelObject).map { [$0] } ?? []
        }
        let objects = object.toManyObjects(relationship).compactMap { $0 as? ModelObject }
        return objects.ordered { left, right in
            let (left, right) = (left.objectID, right.objectID)
            return left.isTemporaryID == right.isTemporaryID ? left.key < right.key : right.isTemporaryID
        }
    }

    func setRelated(_ property: ModelProperty, of object: ModelObject, _ objects: [ModelObject]) {
        guard case .relationship(let relationship) = places[property.number] else { return }
        if relationship.isToMany {
            object.setToMany(relationship, to: objects)
        } else {
            object.setToOne(relationship, to: objects.first)
        }
    }
}

/// The relationships that lead back, of model classes before they are in a container.
enum InverseTable {
    private static let known = Mutex<[ObjectIdentifier: [Int: ModelProperty]]>([:])

    /// The relationship of the destination that leads back; nil for none.
    static func inverse(of property: ModelProperty, _ type: ModelType) -> ModelProperty? {
        let key = ObjectIdentifier(type)
        if let table = known.withLock({ $0[key] }) { return table[property.number] }
        var table: [Int: ModelProperty] = [:]
        let derivation = SchemaDerivation([type.type])
        var entities: [String: Schema.Entity] = [:]
        for entity in derivation.roots.flatMap(\.selfAndSubentities) { entities[entity.name] = entity }
        for property in type.properties {
            guard let destination = property.destination.map({ ModelType.of($0) }),
                let relationship = entities[type.name]?.properties.first(where: { $0.name == property.name })
                    as? Schema.Relationship
            else { continue }
            table[property.number] = relationship.inverseName.flatMap { destination.property(named: $0) }
        }
        let made = table
        known.withLock { $0[key] = made }
        return made[property.number]
    }
}
