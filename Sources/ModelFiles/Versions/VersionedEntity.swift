import Foundation

/// The content of an entity's version hash.
package struct VersionedEntity {
    package var name: String?
    package var parentName: String?
    /// The version hash of the parent.
    package var parentHash: Data?
    package var isAbstract: Bool
    package var versionHashModifier: String?
    /// The sets of attributes whose values must be unique.
    package var uniquenessConstraints: [[String]]
    /// All properties, including inherited ones, sorted by name.
    package var properties: [VersionedProperty]

    package init(
        name: String?, parentName: String?, parentHash: Data?, isAbstract: Bool, versionHashModifier: String?,
        uniquenessConstraints: [[String]], properties: [VersionedProperty]
    ) {
        self.name = name
        self.parentName = parentName
        self.parentHash = parentHash
        self.isAbstract = isAbstract
        self.versionHashModifier = versionHashModifier
        self.uniquenessConstraints = uniquenessConstraints
        self.properties = properties
    }
}

/// The content of a property's version hash.
package struct VersionedProperty {
    package enum Kind {
        case attribute(VersionedAttribute)
        case relationship(RelationshipDocument)
        /// A fetched property, or one of a custom kind: nothing of it is stored.
        case fetched
    }

    /// How an attribute is stored.
    package struct VersionedAttribute {
        package var type: NSAttributeType
        package var isDerived: Bool
        /// The derivation of a derived attribute, which the store computes.
        package var derivation: String?
        /// Whether the column says where a value is stored.
        package var allowsExternalStorage: Bool
        /// Whether the history keeps the value of a deleted object, in a column that is counted by these attributes.
        package var preservesValueOnDeletion: Bool
        package var elements: [VersionedProperty]

        package init(
            type: NSAttributeType, isDerived: Bool, derivation: String?, allowsExternalStorage: Bool,
            preservesValueOnDeletion: Bool, elements: [VersionedProperty]
        ) {
            self.type = type
            self.isDerived = isDerived
            self.derivation = derivation
            self.allowsExternalStorage = allowsExternalStorage
            self.preservesValueOnDeletion = preservesValueOnDeletion
            self.elements = elements
        }

        init(_ attribute: AttributeDocument) {
            var derivation: String?
            if case .expression(let tree)? = attribute.derivation?.canonical { derivation = tree.format }
            self.init(
                type: attribute.type, isDerived: attribute.derivation != nil, derivation: derivation,
                allowsExternalStorage: attribute.allowsExternalStorage,
                preservesValueOnDeletion: attribute.preservesValueOnDeletion,
                elements: attribute.elements.map(VersionedProperty.init))
        }
    }

    package var name: String
    package var kind: Kind
    package var isOptional: Bool
    package var isTransient: Bool
    package var versionHashModifier: String?

    /// Whether the property is stored.
    package var isStored: Bool {
        if case .fetched = kind { return false }
        return !isTransient
    }

    package init(
        name: String, kind: Kind, isOptional: Bool, isTransient: Bool, versionHashModifier: String?
    ) {
        self.name = name
        self.kind = kind
        self.isOptional = isOptional
        self.isTransient = isTransient
        self.versionHashModifier = versionHashModifier
    }
}

extension VersionedProperty {
    init(_ property: PropertyDocument) {
        let kind: Kind =
            switch property.kind {
            case .attribute(let attribute):
                .attribute(VersionedAttribute(attribute))
            case .relationship(let relationship): .relationship(relationship)
            case .fetched: .fetched
            }
        self.init(
            name: property.name, kind: kind, isOptional: property.isOptional, isTransient: property.isTransient,
            versionHashModifier: property.versionHashModifier)
    }
}

extension VersionHash {
    /// The hashes of the entities of a model, by name; the model has been checked.
    package static func hashes(of document: ModelDocument) -> [String: Data] {
        let byName = Dictionary(document.entities.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var hashes: [String: Data] = [:]
        for entity in document.entities {
            // From the root down, since a hash covers that of the parent.
            let line = DocumentCheck.ancestors(of: entity, byName).reversed() + [entity]
            var properties: [PropertyDocument] = []
            for (position, member) in line.enumerated() {
                properties += member.properties
                guard hashes[member.name] == nil else { continue }
                let facts = VersionedEntity(
                    name: member.name, parentName: member.parentName,
                    parentHash: position > 0 ? hashes[line[position - 1].name] : nil, isAbstract: member.isAbstract,
                    versionHashModifier: member.versionHashModifier,
                    uniquenessConstraints: member.uniquenessConstraints,
                    properties: properties.sorted { $0.name < $1.name }.map(VersionedProperty.init))
                hashes[member.name] = hash(of: facts)
            }
        }
        return hashes
    }
}
