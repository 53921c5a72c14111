import CoreDataModel

/// A model that sequences run on. Every root entity has an attribute `number`, by which steps name objects.
package struct ContractModel: Sendable {
    package let name: String
    package let model: NSManagedObjectModel

    init(_ name: String, _ entities: [NSEntityDescription]) {
        self.name = name
        model = NSManagedObjectModel()
        model.entities = entities
    }

    /// How a test asks for the model.
    var source: String { Self.fixed.contains { $0.name == name } ? ".\(name)" : ".random(\(name))" }

    /// The models that are always tried.
    package static let fixed = [shop, values, family, lists]
}

/// Declares models in few words.
enum Declare {
    /// An entity with a number.
    static func entity(
        _ name: String, _ attributes: [NSAttributeDescription], unique: [[String]] = [], isAbstract: Bool = false
    ) -> NSEntityDescription {
        let entity = subentity(name, attributes, unique: unique)
        entity.properties = [attribute(EntityLayout.numberName, .integer64AttributeType)] + entity.properties
        entity.isAbstract = isAbstract
        return entity
    }

    static func subentity(
        _ name: String, _ attributes: [NSAttributeDescription], unique: [[String]] = []
    ) -> NSEntityDescription {
        let entity = NSEntityDescription()
        entity.name = name
        entity.properties = attributes
        entity.uniquenessConstraints = unique
        return entity
    }

    static func attribute(
        _ name: String, _ type: NSAttributeType, isOptional: Bool = true, default value: Any? = nil
    ) -> NSAttributeDescription {
        let attribute = NSAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = isOptional
        attribute.defaultValue = value
        return attribute
    }

    static func derived(_ name: String, _ type: NSAttributeType, _ expression: ExpressionTree) -> NSAttributeDescription
    {
        let attribute = NSDerivedAttributeDescription()
        attribute.name = name
        attribute.attributeType = type
        attribute.isOptional = true
        attribute.derivationExpression = makeExpression(expression)
        return attribute
    }

    /// One end of a relationship.
    struct End {
        var name: String
        var count: Count
        var rule: NSDeleteRule
        var isOptional: Bool

        enum Count { case one, many, ordered }

        static func one(_ name: String, _ rule: NSDeleteRule = .nullifyDeleteRule, isOptional: Bool = true) -> End {
            End(name: name, count: .one, rule: rule, isOptional: isOptional)
        }

        static func many(_ name: String, _ rule: NSDeleteRule = .nullifyDeleteRule) -> End {
            End(name: name, count: .many, rule: rule, isOptional: true)
        }

        static func ordered(_ name: String, _ rule: NSDeleteRule = .nullifyDeleteRule) -> End {
            End(name: name, count: .ordered, rule: rule, isOptional: true)
        }

        func description(to destination: NSEntityDescription) -> NSRelationshipDescription {
            let relationship = NSRelationshipDescription()
            relationship.name = name
            relationship.destinationEntity = destination
            relationship.maxCount = count == .one ? 1 : 0
            relationship.isOrdered = count == .ordered
            relationship.deleteRule = rule
            relationship.isOptional = isOptional
            return relationship
        }
    }

    /// Makes two entities lead to each other.
    static func relate(
        _ source: NSEntityDescription, _ forward: End, _ destination: NSEntityDescription, _ back: End
    ) {
        let (there, here) = (forward.description(to: destination), back.description(to: source))
        source.properties = source.properties + [there]
        destination.properties = destination.properties + [here]
        there.inverseRelationship = here
        here.inverseRelationship = there
    }

    /// Makes an entity lead to another that does not lead back.
    static func lead(_ source: NSEntityDescription, _ forward: End, to destination: NSEntityDescription) {
        source.properties = source.properties + [forward.description(to: destination)]
    }

    /// Makes a relationship that is its own inverse.
    static func reflect(_ entity: NSEntityDescription, _ end: End) {
        let relationship = end.description(to: entity)
        entity.properties = entity.properties + [relationship]
        relationship.inverseRelationship = relationship
    }
}
