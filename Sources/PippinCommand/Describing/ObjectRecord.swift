import CoreData

/// One object as a value: what the store has of it.
struct ObjectRecord {
    struct Field {
        let name: String
        let value: FieldValue
    }

    let entityName: String
    let key: Int64
    let uri: String
    /// Attributes, then relationships, inherited ones first. Transient properties are not stored, and left out.
    let fields: [Field]

    /// - Parameter related: gives the destinations of a to-many relationship.
    init(_ row: Row, of entity: EntityLayout, related: (RelationshipLayout) throws -> [NSManagedObjectID]) throws {
        entityName = entity.name
        key = row.objectID.key
        uri = row.objectID.uriRepresentation().absoluteString
        var fields: [Field] = []
        for (slot, value) in zip(entity.slots, row.values) where !slot.isTransient {
            guard let attribute = slot.attribute else { continue }
            fields.append(Field(name: slot.name, value: FieldValue(value, attribute)))
        }
        for relationship in entity.relationships where !relationship.isTransient {
            if relationship.isToMany {
                let identifiers = try related(relationship)
                let ordered = relationship.isOrdered ? identifiers : identifiers.sorted(by: Self.precedes)
                fields.append(Field(name: relationship.name, value: .objects(ordered.map(ObjectReference.init))))
            } else if case .identifier(let identifier) = row.values[relationship.slot] {
                fields.append(Field(name: relationship.name, value: .object(ObjectReference(identifier))))
            } else {
                fields.append(Field(name: relationship.name, value: .noObject))
            }
        }
        self.fields = fields
    }

    /// Unordered relationships come in any order; a list to read has one.
    private static func precedes(_ left: NSManagedObjectID, _ right: NSManagedObjectID) -> Bool {
        (left.layout.name, left.key) < (right.layout.name, right.key)
    }
}

/// Another object, by its identity.
struct ObjectReference: Equatable {
    let entityName: String
    let key: Int64
    let uri: String

    init(_ identifier: NSManagedObjectID) {
        entityName = identifier.layout.name
        key = identifier.key
        uri = identifier.uriRepresentation().absoluteString
    }
}
