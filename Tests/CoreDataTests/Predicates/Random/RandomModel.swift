import CoreData

/// A model made at random: two to four entities, perhaps one below another, with attributes of all types that
/// predicates compare, and relationships of all kinds.
enum RandomModel {
    /// The types, those more often that have more ways to be compared.
    private static let types: [NSAttributeType] = [
        .stringAttributeType, .stringAttributeType, .stringAttributeType, .integer16AttributeType,
        .integer32AttributeType, .integer64AttributeType, .integer64AttributeType, .doubleAttributeType,
        .doubleAttributeType, .floatAttributeType, .booleanAttributeType, .dateAttributeType, .UUIDAttributeType,
        .decimalAttributeType, .URIAttributeType, .binaryDataAttributeType,
    ]

    /// Names that are words of the language, of SQL, or not of ASCII.
    private static let names = [
        "name", "group", "order", "größe", "select", "first", "count", "in", "value", "x1", "null", "z_pk", "index",
    ]

    static func make(_ random: inout SeededNumbers) -> NSManagedObjectModel {
        var entities = (0..<2 + random.number(below: 3)).map { number in
            Library.entity("E\(number)", attributes(&random))
        }
        for source in entities.indices {
            for _ in 0..<1 + random.number(below: 2) {
                let destination = random.number(below: entities.count)
                let number = entities[source].properties.count
                let isToMany = random.once(in: 2)
                Library.connect(
                    entities[source], "to\(number)", toMany: isToMany, ordered: isToMany && random.once(in: 3),
                    entities[destination], "from\(source)x\(number)", inverseToMany: random.once(in: 2))
            }
        }
        if random.once(in: 2) {
            let below = Library.entity("E0Below", [Library.attribute("only", random.pick(types))])
            entities[0].subentities = [below]
            entities.append(below)
        }
        let model = NSManagedObjectModel()
        model.entities = entities
        return model
    }

    private static func attributes(_ random: inout SeededNumbers) -> [NSPropertyDescription] {
        let start = random.number(below: names.count)
        return (0..<4 + random.number(below: 4)).map { number in
            Library.attribute(names[(start + number) % names.count], random.pick(types))
        }
    }
}
