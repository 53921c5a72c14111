import Foundation

/// The properties of an attribute that stores and objects need, immutable.
package final class AttributeLayout: @unchecked Sendable {
    // @unchecked Sendable: never changed after initialization; `description` is frozen.
    package let name: String
    package let type: NSAttributeType
    package let valueClassName: String?
    /// The classes that the model names for the values of a transformable attribute.
    package let valueClasses: [AnyClass]
    package let valueTransformerName: String?
    package let allowsExternalStorage: Bool
    package let preservesValueInHistoryOnDeletion: Bool
    /// The expression of a derived attribute, in the spelling of `NSExpression(format:)`.
    package let derivation: String?
    /// The elements of a composite attribute.
    package let elements: [AttributeLayout]
    package let description: NSAttributeDescription

    package init(_ attribute: NSAttributeDescription) {
        name = attribute.name
        type = attribute.attributeType
        valueClassName = attribute.attributeValueClassName
        valueClasses =
            type == .transformableAttributeType ? ProgramClasses.classes(namedIn: valueClassName ?? "") : []
        valueTransformerName = attribute.valueTransformerName
        allowsExternalStorage = attribute.allowsExternalBinaryDataStorage
        preservesValueInHistoryOnDeletion = attribute.preservesValueInHistoryOnDeletion
        derivation = (attribute as? NSDerivedAttributeDescription)?.derivationExpression?.description
        elements = (attribute as? NSCompositeAttributeDescription)?.elements.map(AttributeLayout.init) ?? []
        description = attribute
    }
}

/// The properties of a relationship that stores and objects need, immutable once its model is compiled.
package final class RelationshipLayout: @unchecked Sendable {
    // @unchecked Sendable: only changed by `ModelLayout.init`, before anyone else sees it; `description` is frozen.
    package let name: String
    package let isToMany: Bool
    package let isOrdered: Bool
    package let isOptional: Bool
    package let isTransient: Bool
    package let deleteRule: NSDeleteRule
    package let minCount: Int
    package let maxCount: Int
    /// The position among the entity's relationships; the same in all subentities.
    package let index: Int
    /// The slot of a to-one relationship; -1 for to-many.
    package let slot: Int
    package let description: NSRelationshipDescription
    /// The relationship that leads back.
    package internal(set) var inverse: RelationshipLayout?
    private var ends: (source: EntityLayout, destination: EntityLayout)?

    init(_ relationship: NSRelationshipDescription, index: Int, slot: Int) {
        name = relationship.name
        isToMany = relationship.isToMany
        isOrdered = relationship.isOrdered && relationship.isToMany
        isOptional = relationship.isOptional
        isTransient = relationship.isTransient
        deleteRule = relationship.deleteRule
        minCount = relationship.minCount
        maxCount = relationship.maxCount
        self.index = index
        self.slot = slot
        description = relationship
    }

    func link(source: EntityLayout, destination: EntityLayout) { ends = (source, destination) }

    /// The entity that declares the relationship.
    package var source: EntityLayout { linked.source }

    /// The entity at the other end.
    package var destination: EntityLayout { linked.destination }

    private var linked: (source: EntityLayout, destination: EntityLayout) {
        guard let ends else { programmerError("relationship “\(name)” was used before its model was complete") }
        return ends
    }

    /// Whether both ends are to-many, so that a join table holds the pairs.
    package var isManyToMany: Bool { isToMany && inverse?.isToMany == true }
}

/// One slot of a row: an attribute or a to-one relationship.
package struct SlotLayout: @unchecked Sendable {
    // @unchecked Sendable: immutable; `description` is frozen before more than one thread can see it.
    package enum Kind {
        case attribute(AttributeLayout)
        case toOne(RelationshipLayout)
    }

    package let name: String
    package let kind: Kind
    package let isTransient: Bool
    package let isOptional: Bool
    package let defaultValue: StoredValue
    /// Whether a save must check the value: it is required, or restricted by validation predicates.
    package let needsValidation: Bool
    package let description: NSPropertyDescription

    init(attribute description: NSAttributeDescription) {
        let attribute = AttributeLayout(description)
        name = description.name
        kind = .attribute(attribute)
        isTransient = description.isTransient
        isOptional = description.isOptional
        defaultValue = StoredValue(description.defaultValue, for: attribute)
        needsValidation = !description.isOptional || !description.validationPredicates.isEmpty
        self.description = description
    }

    init(toOne relationship: RelationshipLayout) {
        name = relationship.name
        kind = .toOne(relationship)
        isTransient = relationship.isTransient
        isOptional = relationship.isOptional
        defaultValue = .null
        needsValidation = !relationship.isOptional
        description = relationship.description
    }

    /// Whether a save must only check that there is a value.
    var isRequiredOnly: Bool {
        guard !isOptional, attribute?.derivation == nil else { return false }
        return attribute == nil || description.validationPredicates.isEmpty
    }

    /// The attribute; `nil` for a relationship.
    package var attribute: AttributeLayout? {
        if case .attribute(let attribute) = kind { return attribute }
        return nil
    }

    /// The relationship; `nil` for an attribute.
    package var relationship: RelationshipLayout? {
        if case .toOne(let relationship) = kind { return relationship }
        return nil
    }
}
