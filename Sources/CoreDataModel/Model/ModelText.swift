import CompactCollections
import Foundation
import Ordering

/// A model's entities and properties as text. Two models are equal if their texts are, and their user info.
struct ModelText: Equatable {
    /// A line for each entity and each property.
    private let lines: [String: String]

    init(_ model: NSManagedObjectModel) {
        var lines: [String: String] = [:]
        for entity in model.entities {
            let name = entity.name ?? ""
            lines[name] = Self.line(of: entity)
            for property in entity.properties { lines["\(name).\(property.name)"] = Self.line(of: property) }
        }
        self.lines = lines
    }

    /// An entity and its properties as text, without the user info.
    init(_ entity: NSEntityDescription) {
        var lines = ["": Self.line(of: entity)]
        for property in entity.properties { lines[property.name] = Self.line(of: property) }
        self.lines = lines
    }

    private static func line(of entity: NSEntityDescription) -> String {
        let constraints = entity.uniquenessConstraints.map {
            $0.map { ($0 as? NSPropertyDescription)?.name ?? "\($0)" }
        }
        // The order of indexes has no meaning, and a compiled model lists them by name.
        let indexes = entity.indexes.map { index in
            let elements = index.elements.map {
                "\($0.property?.name ?? "")\($0.isAscending)\($0.collationType.rawValue)"
            }
            return "\(index.name) \(elements) \(index.partialIndexPredicate.map { "\($0)" } ?? "")"
        }.sorted()
        return line([
            entity.managedObjectClassName, entity.superentity?.name, entity.isAbstract, constraints, indexes,
            entity.versionHash, entity.versionHashModifier, entity.renamingIdentifier,
        ])
    }

    /// A property as text, without its name and the user info.
    static func line(of property: NSPropertyDescription) -> String {
        var parts: [Any?] = [
            property.isOptional, property.isTransient, property.versionHashModifier, property.renamingIdentifier,
            property.validationPredicates.map { "\($0)" }, property.isIndexedBySpotlight,
            property.isStoredInExternalRecord,
        ]
        switch property {
        case let attribute as NSAttributeDescription:
            parts += [
                attribute.attributeType.rawValue, attribute.attributeValueClassName, attribute.valueTransformerName,
                attribute.defaultValue, attribute.allowsExternalBinaryDataStorage, attribute.allowsCloudEncryption,
                attribute.preservesValueInHistoryOnDeletion,
                (attribute as? NSDerivedAttributeDescription)?.derivationExpression,
                (attribute as? NSCompositeAttributeDescription)?.elements.map(line),
            ]
        case let relationship as NSRelationshipDescription:
            parts += [
                relationship.destinationEntity?.name, relationship.inverseRelationship?.name, relationship.minCount,
                relationship.maxCount, relationship.deleteRule.rawValue, relationship.isOrdered,
            ]
        default: parts.append(property.versionHash)
        }
        return "\(type(of: property)) \(line(parts))"
    }

    private static func line(_ parts: [Any?]) -> String {
        parts.map { $0.map { "\($0)" } ?? "none" }.joined(separator: " | ")
    }
}

/// The user info of a model's entities and properties, as text. It may change while the model is in use.
struct ModelUserInfo: Equatable {
    /// The entries by entity or property, without empty ones.
    private let entries: [String: [String]]

    init(_ model: NSManagedObjectModel) {
        var entries: [String: [String]] = [:]
        for entity in model.entities { Self.add(entity, to: &entries) }
        self.entries = entries
    }

    init(_ entity: NSEntityDescription) {
        var entries: [String: [String]] = [:]
        Self.add(entity, to: &entries)
        self.entries = entries
    }

    init(_ property: NSPropertyDescription) {
        entries = Self.sorted(property.userInfo).map { [property.name: $0] } ?? [:]
    }

    private static func add(_ entity: NSEntityDescription, to entries: inout [String: [String]]) {
        let name = entity.name ?? ""
        entries[name] = sorted(entity.userInfo)
        // An inherited property's user info belongs to the entity that declares it.
        for property in entity.ownProperties { entries["\(name).\(property.name)"] = sorted(property.userInfo) }
    }

    private static func sorted(_ userInfo: [AnyHashable: Any]?) -> [String]? {
        guard let userInfo, !userInfo.isEmpty else { return nil }
        return userInfo.map { "\($0.key): \($0.value)" }.sorted()
    }
}
