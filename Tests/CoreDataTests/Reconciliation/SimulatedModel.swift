import Foundation
import TestSupport

@testable import CoreData
@testable import CoreDataModel
@testable import MigrationPlans
@testable import SQLGeneration
@testable import SQLiteEngine
@testable import StoreEngine

/// A model of entities that inherit, share names, and are related in all ways.
struct SimulatedModel {
    enum Kind {
        /// With the type of its column.
        case attribute(String)
        case composite([(String, String)])
        case toOne(String, isInverseOrdered: Bool)
        case toMany(String, inverse: String?, isOrdered: Bool)
    }

    struct Property {
        let name: String
        let kind: Kind
        let description: NSPropertyDescription
    }

    struct Entity {
        let name: String
        let parent: String?
        var properties: [Property] = []
    }

    private(set) var entities: [Entity] = []
    let model = NSManagedObjectModel()
    /// The entities in the order of Core Data's numbers.
    private(set) var numbered: [String] = []
    /// Both ends of the many-to-many relationships, that which names the table first.
    private(set) var joins: [((String, String), (String, String))] = []

    private static let words = [
        "name", "Name", "id", "title", "date", "größe", "straße", "select", "order", "zName", "Z", "item2", "items",
        "value", "aVeryLongNameOfAPropertyIndeed", "aVeryLongNameOfAnotherProperty", "élan", "place", "year", "index1",
    ]
    private static let types: [(NSAttributeType, String)] = [
        (.stringAttributeType, "VARCHAR"), (.integer64AttributeType, "INTEGER"), (.doubleAttributeType, "FLOAT"),
        (.dateAttributeType, "TIMESTAMP"), (.binaryDataAttributeType, "BLOB"), (.decimalAttributeType, "DECIMAL"),
    ]

    init(_ random: inout SplitMix) {
        let names = ["Alpha", "beta", "Gamma", "AnEntityWithAnExtraordinarilyLongName", "Zeta", "Ödland", "Order"]
            .shuffled(using: &random).prefix(Int.random(in: 2...6, using: &random))
        for (index, name) in names.enumerated() {
            let parent =
                index > 0 && Int.random(in: 0..<3, using: &random) == 0
                ? names[Int.random(in: 0..<index, using: &random)] : nil
            entities.append(Entity(name: name, parent: parent))
        }
        for index in entities.indices { addAttributes(to: index, &random) }
        for _ in 0..<Int.random(in: 1...8, using: &random) { relate(&random) }
        var descriptions: [String: NSEntityDescription] = [:]
        for entity in entities {
            let description = NSEntityDescription()
            description.name = entity.name
            description.properties = entity.properties.map(\.description)
            descriptions[entity.name] = description
        }
        for entity in entities {
            guard let parent = entity.parent, let child = descriptions[entity.name] else { continue }
            descriptions[parent]?.subentities.append(child)
        }
        model.entities = entities.compactMap { descriptions[$0.name] }
        func number(_ parent: String?) {
            for entity in entities.filter({ $0.parent == parent }).sorted(by: {
                $0.name.lowercased() < $1.name.lowercased()
            }) {
                numbered.append(entity.name)
                number(entity.name)
            }
        }
        number(nil)
    }

    var roots: [Entity] { numbered.map(entity).filter { $0.parent == nil } }

    func entity(_ name: String) -> Entity { entities.first { $0.name == name } ?? entities[0] }

    /// An entity and what inherits from it, in the order of Core Data's numbers.
    func members(of root: Entity) -> [Entity] {
        numbered.map(entity).filter { member in
            var current: Entity? = member
            while let entity = current {
                if entity.name == root.name { return true }
                current = entity.parent.map { self.entity($0) }
            }
            return false
        }
    }

    func isJoined(_ entity: Entity, _ property: Property) -> Bool {
        joins.contains { $0.0 == (entity.name, property.name) || $0.1 == (entity.name, property.name) }
    }

    func isOrdered(_ end: (String, String)) -> Bool {
        guard case .toMany(_, _, true)? = entity(end.0).properties.first(where: { $0.name == end.1 })?.kind else {
            return false
        }
        return true
    }

    // MARK: Properties

    /// A name that no entity of the hierarchy above or below has.
    private func freeName(_ entity: String, _ random: inout SplitMix, suffix: String = "") -> String? {
        let line = entities.filter { other in
            members(from: other.name).contains(entity) || members(from: entity).contains(other.name)
        }
        let taken = Set(line.flatMap { $0.properties.map(\.name) })
        return Self.words.map { $0 + suffix }.filter { !taken.contains($0) }.randomElement(using: &random)
    }

    private func members(from name: String) -> [String] {
        [name] + entities.filter { $0.parent == name }.flatMap { members(from: $0.name) }
    }

    private mutating func addAttributes(to index: Int, _ random: inout SplitMix) {
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            guard let name = freeName(entities[index].name, &random) else { continue }
            let (type, column) = Self.types.randomElement(using: &random) ?? Self.types[0]
            if Int.random(in: 0..<6, using: &random) == 0 {
                let composite = NSCompositeAttributeDescription()
                composite.name = name
                composite.isOptional = true
                let elements = ["year", "id", "Place"].shuffled(using: &random).prefix(2)
                composite.elements = elements.map { makeAttribute($0, type) }
                entities[index].properties.append(
                    Property(name: name, kind: .composite(elements.map { ($0, column) }), description: composite))
            } else {
                entities[index].properties.append(
                    Property(name: name, kind: .attribute(column), description: makeAttribute(name, type)))
            }
        }
    }

    private mutating func relate(_ random: inout SplitMix) {
        let (source, destination) = (
            Int.random(in: entities.indices, using: &random), Int.random(in: entities.indices, using: &random)
        )
        let (first, second) = (entities[source].name, entities[destination].name)
        guard let name = freeName(first, &random, suffix: "Of") else { return }
        let isOrdered = Bool.random(using: &random)
        switch Int.random(in: 0..<4, using: &random) {
        case 0:
            add(
                to: source, name, .toMany(second, inverse: nil, isOrdered: isOrdered),
                makeToMany(name, second, inverse: nil, ordered: isOrdered))
        case 1:
            add(to: source, name, .toOne(second, isInverseOrdered: false), makeToOne(name, second, inverse: nil))
        case 2:
            guard let inverse = freeName(second, &random, suffix: "By") else { return }
            add(
                to: source, name, .toOne(second, isInverseOrdered: isOrdered), makeToOne(name, second, inverse: inverse)
            )
            add(
                to: destination, inverse, .toMany(first, inverse: name, isOrdered: isOrdered),
                makeToMany(inverse, first, inverse: name, ordered: isOrdered))
        default:
            guard let inverse = freeName(second, &random, suffix: "By") else { return }
            add(
                to: source, name, .toMany(second, inverse: inverse, isOrdered: isOrdered),
                makeToMany(name, second, inverse: inverse, ordered: isOrdered))
            add(
                to: destination, inverse, .toMany(first, inverse: name, isOrdered: false),
                makeToMany(inverse, first, inverse: name))
            let isFirst = first == second ? name > inverse : first < second
            joins.append(isFirst ? ((first, name), (second, inverse)) : ((second, inverse), (first, name)))
        }
    }

    private mutating func add(to index: Int, _ name: String, _ kind: Kind, _ description: NSPropertyDescription) {
        entities[index].properties.append(Property(name: name, kind: kind, description: description))
    }
}
