import Foundation

/// A property as a value.
package struct PropertyDocument: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        case attribute(AttributeDocument)
        case relationship(RelationshipDocument)
        case fetched(FetchRequestDocument?)
    }

    package var name: String
    package var kind: Kind
    package var isOptional = false
    package var isTransient = false
    package var isIndexed = false
    package var isIndexedBySpotlight = false
    package var isStoredInExternalRecord = false
    package var validation: [ValidationDocument] = []
    package var userInfo: [String: ModelValue] = [:]
    package var versionHashModifier: String?
    /// The name in the previous version of the model, if it differs.
    package var renamingIdentifier: String?

    package init(name: String, kind: Kind) {
        self.name = name
        self.kind = kind
    }

    package var attribute: AttributeDocument? {
        if case .attribute(let attribute) = kind { return attribute }
        return nil
    }

    package var relationship: RelationshipDocument? {
        if case .relationship(let relationship) = kind { return relationship }
        return nil
    }

    /// Gives the classes of an attribute's values, and of its elements', other names.
    mutating func mapValueClasses(_ transform: (String) -> String) {
        guard case .attribute(var attribute) = kind else { return }
        attribute.valueClassName = attribute.valueClassName?.mapTypeNames(transform)
        for index in attribute.elements.indices { attribute.elements[index].mapValueClasses(transform) }
        kind = .attribute(attribute)
    }

    var compiled: PropertyDocument {
        guard case .attribute(var attribute) = kind else { return self }
        var result = self
        attribute.usesScalarType = false
        attribute.customClassName = nil
        attribute.compositeName = nil
        attribute.elements = attribute.elements.map(\.compiled)
        result.kind = .attribute(attribute)
        return result
    }
}

/// An attribute as a value.
package struct AttributeDocument: Equatable, Sendable {
    /// How a derived attribute gets its value.
    package enum Derivation: Equatable, Sendable {
        case expression(ExpressionTree)
        /// A derived attribute whose expression is missing.
        case unknown

        /// The same derivation in one form: Apple's compiler makes `count:(parts)` of the source's `parts.@count`.
        package var canonical: Derivation {
            guard case .expression(.function(.count, let arguments)) = self, arguments.count == 1,
                case .keyPath(let keys) = arguments[0]
            else { return self }
            return .expression(.keyPath(keys + ["@count"]))
        }
    }

    package var type: NSAttributeType
    /// The class of the value, if the type does not determine it: for a transformable one any type, such as `[Route]`.
    package var valueClassName: String?
    package var defaultValue: ModelValue?
    package var valueTransformerName: String?
    package var allowsExternalStorage = false
    package var preservesValueOnDeletion = false
    package var allowsCloudEncryption = false
    /// Nil for an attribute that is not derived.
    package var derivation: Derivation?
    /// The elements of a composite attribute.
    package var elements: [PropertyDocument] = []
    /// The name of the composite type that defines the elements in the editor. Source files only.
    package var compositeName: String?
    /// Whether the generated accessor is of a scalar type. Source files only.
    package var usesScalarType = false
    /// The class of a transformable attribute's value in generated code. Source files only.
    package var customClassName: String?

    package init(type: NSAttributeType) { self.type = type }

    /// The custom class as the class of the values, as Apple's compiler has it: if no transformer says what these are.
    var archivedClassName: String? {
        type == .transformableAttributeType && (valueTransformerName ?? "").isEmpty ? customClassName : nil
    }
}

/// A relationship as a value.
package struct RelationshipDocument: Equatable, Sendable {
    package var destinationName: String?
    package var inverseName: String?
    package var minCount = 0
    /// 1 for a to-one relationship; 0 or less for no bound.
    package var maxCount = 0
    package var deleteRule = NSDeleteRule.nullifyDeleteRule
    package var isOrdered = false

    package init() {}

    package var isToMany: Bool { maxCount != 1 }
}

/// A predicate that a property's value must satisfy, and the message or error code for a value that does not.
package struct ValidationDocument: Equatable, Sendable {
    package var predicate: PredicateTree
    package var warning: ModelValue

    package init(predicate: PredicateTree, warning: ModelValue) {
        self.predicate = predicate
        self.warning = warning
    }
}

extension String {
    /// The text of a type with other names in it: of `[String: App.Route]` these are `String` and `App.Route`. A
    /// leading point is part of a name.
    package func mapTypeNames(_ transform: (String) -> String) -> String {
        var result = ""
        var name = ""
        func add() {
            result += name.isEmpty || name == "any" ? name : transform(name)
            name = ""
        }
        for character in self {
            if character.isLetter || character.isNumber || "_.$".contains(character) {
                name.append(character)
            } else {
                add()
                result.append(character)
            }
        }
        add()
        return result
    }
}
