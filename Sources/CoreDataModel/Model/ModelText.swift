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

/// Values computed from the descriptions of a model, and kept until one of these changes: version hashes, the entities
/// by name, and the text by which models are compared.
final class DerivedFacts: @unchecked Sendable {
    // @unchecked Sendable: all variables are guarded by the lock.

    private let lock = NSLock()
    private var known = Facts()
    private var isEmpty = true
    private var computations = 0

    struct Facts {
        var ownHashes: [ObjectIdentifier: Data] = [:]
        var versionHashes: [String: Data]?
        var entities: [String: NSEntityDescription]?
        var text: ModelText?
    }

    /// The entities by name, if they are known.
    var entities: [String: NSEntityDescription]? { locked { known.entities } }

    /// The version hashes by entity, if they are known.
    var versionHashes: [String: Data]? { locked { known.versionHashes } }

    /// The text by which the model is compared, if it is known.
    var text: ModelText? { locked { known.text } }

    /// How many entities have been hashed since the model was made, for tests.
    var hashCount: Int { locked { computations } }

    /// Our version hash of an entity, if it is known.
    func ownHash(of entity: NSEntityDescription) -> Data? { locked { known.ownHashes[ObjectIdentifier(entity)] } }

    func keep(ownHash hash: Data, of entity: NSEntityDescription) {
        locked {
            computations += 1
            isEmpty = false
            known.ownHashes[ObjectIdentifier(entity)] = hash
        }
    }

    func keep(_ change: (inout Facts) -> Void) {
        locked {
            isEmpty = false
            change(&known)
        }
    }

    /// Forgets everything. Every change of a description in the model calls this.
    func forget() {
        locked {
            guard !isEmpty else { return }
            known = Facts()
            isEmpty = true
        }
    }

    private func locked<Result>(_ work: () -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return work()
    }
}

extension NSManagedObjectModel {
    /// The entities by name, collected once.
    var derivedEntitiesByName: [String: NSEntityDescription] {
        if let known = derived.entities { return known }
        let byName = Dictionary(entities.map { ($0.name ?? "", $0) }, uniquingKeysWith: { first, _ in first })
        // An entity that another model took over reports its changes to that model.
        if entities.allSatisfy({ $0.model === self }) { derived.keep { $0.entities = byName } }
        return byName
    }

    /// The version hashes by entity, computed once.
    var derivedVersionHashes: [String: Data] {
        if let known = derived.versionHashes { return known }
        let hashes = entitiesByName.mapValues(\.versionHash)
        if hearsOfAllChanges { derived.keep { $0.versionHashes = hashes } }
        return hashes
    }

    /// The text by which the model is compared, written once.
    var derivedText: ModelText {
        if let known = derived.text { return known }
        let text = ModelText(self)
        if hearsOfAllChanges { derived.keep { $0.text = text } }
        return text
    }

    /// Whether all descriptions that it refers to report their changes to this model.
    private var hearsOfAllChanges: Bool {
        entities.allSatisfy { $0.model === self && $0.refersOnly(to: self) }
    }
}

extension NSEntityDescription {
    /// Our own version hash, even if a file contains Apple's. It is computed once if all changes are reported to the
    /// model.
    package var ownVersionHash: Data {
        guard let model else { return VersionHash.hash(of: self) }
        if let known = model.derived.ownHash(of: self) { return known }
        let hash = VersionHash.hash(of: self)
        if refersOnly(to: model) { model.derived.keep(ownHash: hash, of: self) }
        return hash
    }

    /// Whether all entities that the hash depends on, ancestors and destinations, belong to one model.
    fileprivate func refersOnly(to model: NSManagedObjectModel) -> Bool {
        var ancestor = superentity
        while let current = ancestor {
            guard current.model === model else { return false }
            ancestor = current.superentity
        }
        return propertiesByName.values.allSatisfy { property in
            guard let destination = (property as? NSRelationshipDescription)?.destinationEntity else { return true }
            return destination.model === model
        }
    }
}
