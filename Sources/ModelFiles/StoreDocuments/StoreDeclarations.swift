/// What a store's file says about the properties of its objects, by the names in the file.
package struct StoreDeclarations: Equatable, Sendable {
    package struct Entity: Equatable, Sendable {
        /// The types of the attributes. An element of a composite attribute has a path: `address.street`.
        package var attributes: [String: NSAttributeType] = [:]
        package var relationships: [String: Relationship] = [:]

        package init() {}
    }

    package struct Relationship: Equatable, Sendable {
        package var minCount: Int
        /// 1 for a to-one relationship; 0 for no bound.
        package var maxCount: Int
        /// The entity that it leads to; nil if the file does not say it.
        package var destination: String?

        package init(minCount: Int = 0, maxCount: Int = 0, destination: String? = nil) {
            (self.minCount, self.maxCount, self.destination) = (minCount, maxCount, destination)
        }

        /// The bounds of an XML store, such as `0/1`.
        init(bounds: String, destination: String?) {
            let numbers = bounds.split(separator: "/").map { Int($0) ?? 0 }
            self.init(
                minCount: numbers.first ?? 0, maxCount: numbers.count == 2 ? numbers[1] : 0,
                destination: destination?.isEmpty == true ? nil : destination)
        }
    }

    package var entities: [String: Entity] = [:]
    /// The type of an attribute whose values are of several types.
    package var mixedType = NSAttributeType.stringAttributeType

    package init() {}

    /// Adds what one object says about an attribute.
    package mutating func add(_ type: NSAttributeType, _ attribute: String, of entity: String) {
        let known = entities[entity]?.attributes[attribute]
        guard known != type else { return }
        entities[entity, default: Entity()].attributes[attribute] = known.map { common($0, type) } ?? type
    }

    /// Adds what one object says about a relationship.
    package mutating func add(_ relationship: Relationship, _ name: String, of entity: String) {
        guard let known = entities[entity]?.relationships[name] else {
            entities[entity, default: Entity()].relationships[name] = relationship
            return
        }
        guard known != relationship else { return }
        let isToMany = known.maxCount != 1 || relationship.maxCount != 1
        entities[entity]?.relationships[name] = Relationship(
            minCount: min(known.minCount, relationship.minCount), maxCount: isToMany ? 0 : 1,
            destination: known.destination ?? relationship.destination)
    }

    /// The type that has the values of both: a number may be archived as a whole one and as a real one.
    package func common(_ one: NSAttributeType, _ other: NSAttributeType) -> NSAttributeType {
        if one == other { return one }
        let ranks: [NSAttributeType] = [
            .booleanAttributeType, .integer16AttributeType, .integer32AttributeType, .integer64AttributeType,
            .floatAttributeType, .doubleAttributeType, .decimalAttributeType,
        ]
        guard let first = ranks.firstIndex(of: one), let second = ranks.firstIndex(of: other) else {
            return mixedType
        }
        return ranks[max(first, second)]
    }
}
