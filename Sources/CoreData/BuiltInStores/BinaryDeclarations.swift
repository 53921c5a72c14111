import Foundation
import ModelFiles

extension StoreDeclarations {
    /// What the classes of archived values say, in a file of Core Data on macOS, which has its values by place.
    init(placesOf document: StoreDocument) {
        self.init()
        // Archived values of any classes are bytes.
        mixedType = .transformableAttributeType
        var counts: [String: Int] = [:]
        for object in document.objects {
            for (name, _) in object.relationships { add(Relationship(), name, of: object.entityName) }
            let places = object.places ?? []
            counts[object.entityName] = max(counts[object.entityName] ?? 0, places.count)
            for (place, value) in places.enumerated() {
                if let type = value.attributeType { add(type, "\(place)", of: object.entityName) }
            }
        }
        // Relationships have places as well, behind those of the attributes. Those that no object has cannot be told
        // from attributes without values. In a damaged file, objects may have values there, too.
        for (entity, count) in counts {
            var declared = entities[entity] ?? Entity()
            let last = declared.attributes.keys.compactMap { Int($0) }.max() ?? -1
            let types = (0..<max(count - declared.relationships.count, last + 1)).map {
                declared.attributes["\($0)"] ?? .stringAttributeType
            }
            declared.attributes = [:]
            for (place, type) in types.enumerated() {
                declared.attributes[Self.name(ofPlace: place, among: types.count)] = type
            }
            entities[entity] = declared
        }
    }

    /// The name of an attribute that the file only has by place: `value07`, so that names and places have one order.
    private static func name(ofPlace place: Int, among count: Int) -> String {
        let number = "\(place + 1)"
        return "value" + String(repeating: "0", count: "\(count)".count - number.count) + number
    }

    /// What the values say, in a file of our own that was written before such files kept the types.
    init(valuesOf document: StoreDocument) {
        self.init()
        for object in document.objects {
            for (name, value) in object.attributes { add(value.attributeType, name, of: object.entityName) }
            for (name, _) in object.relationships { add(Relationship(), name, of: object.entityName) }
        }
    }

    // MARK: In archives

    /// The properties of a store's entities.
    init(of entities: [String: EntityLayout]) {
        self.init()
        for (name, entity) in entities {
            var declared = Entity()
            for slot in entity.slots where !slot.isTransient {
                if let attribute = slot.attribute { Self.add(attribute, slot.name, to: &declared) }
            }
            for relationship in entity.relationships where !relationship.isTransient {
                declared.relationships[relationship.name] = Relationship(
                    minCount: relationship.minCount,
                    maxCount: relationship.isToMany ? max(relationship.maxCount, 0) : 1,
                    destination: relationship.destination.name)
            }
            self.entities[name] = declared
        }
    }

    private static func add(_ attribute: AttributeLayout, _ path: String, to entity: inout Entity) {
        guard attribute.type == .compositeAttributeType else {
            entity.attributes[path] = attribute.type
            return
        }
        for element in attribute.elements { add(element, "\(path).\(element.name)", to: &entity) }
    }

    /// By entity and property: the name of an attribute's type, or a relationship's bounds and destination.
    var propertyList: [String: [String: Any]] {
        entities.mapValues { entity in
            var fields: [String: Any] = entity.attributes.mapValues(\.xmlName)
            for (name, relationship) in entity.relationships {
                fields[name] = [relationship.minCount, relationship.maxCount, relationship.destination ?? ""] as [Any]
            }
            return fields
        }
    }

    init(propertyList: [String: [String: Any]]) {
        self.init()
        for (entity, fields) in propertyList {
            var declared = Entity()
            for (name, field) in fields {
                if let type = (field as? String).flatMap(NSAttributeType.init(xmlName:)) {
                    declared.attributes[name] = type
                } else if let parts = field as? [Any], parts.count == 3, let minimum = parts[0] as? Int,
                    let maximum = parts[1] as? Int, let destination = parts[2] as? String
                {
                    declared.relationships[name] = Relationship(
                        minCount: minimum, maxCount: maximum, destination: destination.isEmpty ? nil : destination)
                }
            }
            entities[entity] = declared
        }
    }
}

extension ArchivedValue {
    /// The type of an attribute that has this value; nil for none.
    fileprivate var attributeType: NSAttributeType? {
        switch self {
        case .null: return nil
        case .plain(.string): return .stringAttributeType
        case .plain(.data): return .binaryDataAttributeType
        case .plain(.boolean): return .booleanAttributeType
        case .plain(.integer): return .integer64AttributeType
        case .plain(.real): return .doubleAttributeType
        case .plain: return .transformableAttributeType
        case .object(let object):
            if object.isKind(of: "NSNull") { return nil }
            let types: [(name: String, type: NSAttributeType)] = [
                ("NSString", .stringAttributeType), ("NSData", .binaryDataAttributeType),
                ("NSDate", .dateAttributeType), ("NSDecimalNumber", .decimalAttributeType),
                ("NSUUID", .UUIDAttributeType), ("NSURL", .URIAttributeType),
            ]
            return types.first { object.isKind(of: $0.name) }?.type ?? .transformableAttributeType
        }
    }
}

extension StoreDocument.FileValue {
    fileprivate var attributeType: NSAttributeType {
        switch self {
        case .text: .stringAttributeType
        case .integer: .integer64AttributeType
        case .double: .doubleAttributeType
        case .data: .binaryDataAttributeType
        }
    }
}

extension StoreDocument {
    /// Gives objects that have the number of an earlier one, in a damaged file, numbers that none has. References lead
    /// to the first.
    ///
    /// - Returns: how many there are.
    package mutating func renumberDuplicates() -> Int {
        var known: Set<Int64> = []
        let duplicates = objects.indices.filter { !known.insert(objects[$0].key).inserted }
        guard var key = known.max() else { return 0 }
        for index in duplicates {
            repeat { key = key < NSManagedObjectID.greatestKey - 1 ? key + 1 : 1 } while known.contains(key)
            known.insert(key)
            objects[index].key = key
        }
        return duplicates.count
    }
}
