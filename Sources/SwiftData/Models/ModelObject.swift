import CoreData
import Synchronization

/// The managed object of a model: its row in a context.
final class ModelObject: NSManagedObject {
    /// The state of the model that shows the object; nil while the program has none.
    weak var modelState: ModelState?

    override func didChangeValue(forKey key: String) {
        super.didChangeValue(forKey: key)
        modelState?.objectDidChange(key)
    }

    /// Whether no store has the object's row any more.
    var isGone: Bool {
        guard let context = managedObjectContext else { return true }
        guard isFault, !objectID.isTemporaryID else { return false }
        return (try? context.existingObject(with: objectID)) == nil
    }
}

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
            guard let end = object.toOne(relationship) as? ModelObject else { return [] }
            // The deletion of an end that knows nothing of the relationship leaves its number behind.
            return relationship.inverse == nil && end.isGone ? [] : [end]
        }
        return NSManagedObject.inOrder(object.toManyObjects(relationship)).compactMap { $0 as? ModelObject }
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
