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

/// Keys and values in the user info of attributes, by which models derived from structs describe nested values.
package enum NestedValueInfo {
    /// When a composite attribute has a value: `always`, or `initially` if only the objects older than the attribute
    /// certainly have one.
    package static let presence = "PippinPresence"
    /// Marks the element that says whether there is a value.
    package static let mark = "PippinMark"
    /// The name of an element in JSON.
    package static let key = "PippinKey"
    /// The list of models that an attribute marks as present.
    package static let markedList = "PippinMarkedList"
    /// The coding of bytes: `JSON`.
    package static let coding = "PippinCoding"
}

/// Keys in the user info of attributes, and of relationships to objects whose texts are searched as well, by which a
/// model says what texts are searched.
package enum SearchInfo {
    /// How much an occurrence in the attribute counts: `4`.
    package static let weight = "PippinSearch"
    /// The language whose endings are removed: `english`.
    package static let stemming = "PippinSearchStemming"

    /// The key in the user info of a relationship that says how much an occurrence in an attribute of the related
    /// objects counts: `PippinSearch.name`.
    package static func weight(of path: [String]) -> String { "\(weight).\(path.joined(separator: "."))" }
}

extension RelationshipLayout {
    /// The texts of the related objects that are searched as texts of the object itself, with how much an occurrence in
    /// each counts, in the order of their names.
    package var searchedTexts: [(path: [String], weight: Double)] {
        let prefix = SearchInfo.weight(of: [""])
        let infos = (description.userInfo ?? [:]).compactMap { key, value -> (path: [String], weight: Double)? in
            guard let key = key as? String, key.hasPrefix(prefix), let weight = (value as? String).flatMap(Double.init)
            else { return nil }
            return (key.dropFirst(prefix.count).split(separator: ".").map(String.init), weight)
        }
        return infos.sorted { $0.path.joined(separator: ".") < $1.path.joined(separator: ".") }
    }

    /// Whether English words are found with other endings.
    package var isStemmedInSearch: Bool { description.userInfo?[SearchInfo.stemming] as? String == "english" }
}

extension AttributeLayout {
    /// How much an occurrence of a word in the attribute counts; nil if the attribute is not searched.
    package var searchWeight: Double? { info(SearchInfo.weight).flatMap(Double.init) }
    /// Whether English words are found with other endings.
    package var isStemmedInSearch: Bool { info(SearchInfo.stemming) == "english" }

    /// Whether every object has the nested value of a composite attribute.
    package var isAlwaysPresent: Bool { info(NestedValueInfo.presence) == "always" }
    /// Whether every object older than the attribute has the nested value.
    package var isPresentInitially: Bool { info(NestedValueInfo.presence) == "initially" }
    /// Whether the user info says when there is a value.
    package var tellsPresence: Bool { info(NestedValueInfo.presence) != nil }
    /// The name of the element in JSON.
    package var nestedKey: String { info(NestedValueInfo.key) ?? name }
    /// Whether the element says that there is a value.
    package var isPresenceMark: Bool { info(NestedValueInfo.mark) != nil }
    /// The relationship to many whose list the attribute marks as present; nil for any other attribute.
    package var markedList: String? { info(NestedValueInfo.markedList) }
    /// Whether the bytes are JSON.
    package var isJSON: Bool { info(NestedValueInfo.coding) == "JSON" }

    private func info(_ key: String) -> String? { description.userInfo?[key] as? String }
}
