import Foundation

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
            entity.coreSpotlightDisplayNameExpression,
        ])
    }

    /// A property as text, without its name and the user info.
    static func line(of property: NSPropertyDescription) -> String {
        // A predicate without a warning has an empty one in a file.
        let warnings = property.validationWarnings
        let validation = property.validationPredicates.enumerated().map { number, predicate in
            "\(predicate) \(warnings.indices.contains(number) ? warnings[number] : "")"
        }
        var parts: [Any?] = [
            property.isOptional, property.isTransient, property.versionHashModifier, property.renamingIdentifier,
            validation, property.isIndexedBySpotlight, property.isStoredInExternalRecord,
        ]
        switch property {
        case let attribute as NSAttributeDescription:
            parts += [
                attribute.attributeType.rawValue, attribute.attributeValueClassName, attribute.valueTransformerName,
                attribute.defaultValue.map(exactText(of:)), attribute.allowsExternalBinaryDataStorage,
                attribute.allowsCloudEncryption,
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

    /// Data are printed as their size otherwise, and dates to the second. Swift's numbers are printed as the objects
    /// that files have in their place: `true` as 1, 2.0 as 2.
    private static func exactText(of value: Any) -> String {
        switch value {
        case let data as Data: data.base64EncodedString()
        case let date as Date: "\(date.timeIntervalSinceReferenceDate)"
        case let number as NSNumber: number.stringValue
        default: "\(value)"
        }
    }

    private static func line(_ parts: [Any?]) -> String {
        parts.map { $0.map { "\($0)" } ?? "none" }.joined(separator: " | ")
    }
}

/// The user info of a model's entities and properties, and its fetch requests, as text. These may change while the
/// model is in use.
struct ModelUserInfo: Equatable {
    /// The entries by entity or property, without empty ones.
    private let entries: [String: [String]]

    init(_ model: NSManagedObjectModel) {
        var entries: [String: [String]] = [:]
        for entity in model.entities { Self.add(entity, to: &entries) }
        for (name, template) in model.templates {
            entries["template \(name)"] = (template as? any EntityRequest).map { [$0.summary] }
        }
        self.entries = entries
    }

    init(_ entity: NSEntityDescription) {
        var entries: [String: [String]] = [:]
        Self.add(entity, to: &entries)
        self.entries = entries
    }

    init(_ property: NSPropertyDescription) {
        entries = Self.texts(of: property).map { [property.name: $0] } ?? [:]
    }

    private static func add(_ entity: NSEntityDescription, to entries: inout [String: [String]]) {
        let name = entity.name ?? ""
        entries[name] = sorted(entity.userInfo)
        // An inherited property's user info belongs to the entity that declares it.
        for property in entity.ownProperties { entries["\(name).\(property.name)"] = texts(of: property) }
    }

    private static func texts(of property: NSPropertyDescription) -> [String]? {
        guard let request = property.request else { return sorted(property.userInfo) }
        return (sorted(property.userInfo) ?? []) + [request.summary]
    }

    private static func sorted(_ userInfo: [AnyHashable: Any]?) -> [String]? {
        guard let userInfo, !userInfo.isEmpty else { return nil }
        return userInfo.map { "\($0.key): \($0.value)" }.sorted()
    }
}
