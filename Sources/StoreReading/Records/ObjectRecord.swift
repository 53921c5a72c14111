import CoreData

/// One object as a value: its content in the store.
package struct ObjectRecord {
    package struct Field {
        package let name: String
        package let value: FieldValue
    }

    package let entityName: String
    package let key: Int64
    package let uri: String
    /// Attributes, then relationships, inherited ones first. Transient properties are not stored, and are left out.
    package let fields: [Field]

    package init(entityName: String, key: Int64, uri: String, fields: [Field]) {
        self.entityName = entityName
        self.key = key
        self.uri = uri
        self.fields = fields
    }

    /// - Parameters:
    ///   - row: the object's row.
    ///   - entity: the object's entity.
    ///   - dangling: the references that lead to no object, by relationship and the key of the referring object.
    ///   - related: returns the destinations of a to-many relationship.
    /// - Throws: the errors of `related`.
    package init(
        _ row: Row, of entity: EntityLayout, dangling: [String: [Int64: [NSManagedObjectID]]] = [:],
        related: (RelationshipLayout) throws -> [NSManagedObjectID]
    ) throws {
        entityName = entity.name
        key = row.objectID.key
        uri = row.objectID.uriText
        var fields: [Field] = []
        for (slot, value) in zip(entity.slots, row.values) where !slot.isTransient {
            guard let attribute = slot.attribute else { continue }
            fields.append(Field(name: slot.name, value: FieldValue(value, attribute)))
        }
        for relationship in entity.relationships where !relationship.isTransient {
            let missing = (dangling[relationship.name]?[row.objectID.key] ?? []).map {
                ObjectLink($0, isMissing: true)
            }
            if let reason = Self.unknown(row, relationship) {
                fields.append(Field(name: relationship.name, value: .unknown(reason)))
            } else if relationship.isToMany {
                let identifiers: [NSManagedObjectID]
                do { identifiers = try related(relationship) } catch let error as NSError
                    where error.code == CoreDataErrorCode.persistentStoreIncompatibleSchema
                {
                    // Only that relationship is unknown, not the others.
                    fields.append(Field(name: relationship.name, value: .unknown(error.localizedDescription)))
                    continue
                }
                let ordered = relationship.isOrdered ? identifiers : identifiers.sorted(by: Self.precedes)
                fields.append(
                    Field(name: relationship.name, value: .objects(ordered.map { ObjectLink($0) } + missing)))
            } else if let reference = missing.first {
                fields.append(Field(name: relationship.name, value: .object(reference)))
            } else if case .identifier(let identifier) = row.values[relationship.slot] {
                fields.append(Field(name: relationship.name, value: .object(ObjectLink(identifier))))
            } else {
                fields.append(Field(name: relationship.name, value: .noObject))
            }
        }
        self.fields = fields
    }

    /// Why a to-one relationship's column is unknown; nil if it is known.
    private static func unknown(_ row: Row, _ relationship: RelationshipLayout) -> String? {
        guard !relationship.isToMany, case .object(let object) = row.values[relationship.slot] else { return nil }
        return (object as? UnavailableValue)?.reason
    }

    /// An order for unordered relationships, so that lists are stable.
    private static func precedes(_ left: NSManagedObjectID, _ right: NSManagedObjectID) -> Bool {
        (left.layout.name, left.key) < (right.layout.name, right.key)
    }
}

/// Another object, by its ID.
package struct ObjectLink: Equatable {
    package let entityName: String
    package let key: Int64
    package let uri: String
    /// Whether the object does not exist.
    package let isMissing: Bool

    package init(entityName: String, key: Int64, uri: String, isMissing: Bool = false) {
        (self.entityName, self.key, self.uri, self.isMissing) = (entityName, key, uri, isMissing)
    }

    package init(_ identifier: NSManagedObjectID, isMissing: Bool = false) {
        self.isMissing = isMissing
        entityName = identifier.layout.name
        key = identifier.key
        uri = identifier.uriText
    }
}
