import CoreDataModel

extension ContractModel {
    /// A model made at random: some entities, perhaps one below another, with attributes and relationships of all
    /// kinds.
    package static func random(_ seed: UInt64) -> ContractModel {
        var random = SplitMix(seed: seed)
        var entities = (0..<2 + random.below(3)).map { number in
            let attributes = attributes(&random)
            let unique =
                random.chance(30)
                ? random.pick(attributes.filter { SplitMix.canBeUnique($0.attributeType) }.map(\.name) + ["number"])
                : "number"
            return Declare.entity("E\(number)", attributes, unique: unique == "number" ? [] : [[unique]])
        }
        for below in 0..<random.below(3) {
            let entity = Declare.subentity(
                "Below\(below)", [Declare.attribute("only\(below)", random.pick(types))])
            let parent = random.pick(entities)
            parent.subentities = parent.subentities + [entity]
            entities.append(entity)
        }
        for number in 0..<2 + random.below(5) {
            let (source, destination) = (random.pick(entities), random.pick(entities))
            let (there, here) = (end("to\(number)", &random), end("from\(number)", &random))
            switch random.below(8) {
            case 0: Declare.lead(source, there, to: destination)
            case 1 where there.count != .ordered: Declare.reflect(source, there)
            default: Declare.relate(source, there, destination, here)
            }
        }
        return ContractModel("\(seed)", entities)
    }

    private static let types: [NSAttributeType] = [
        .stringAttributeType, .stringAttributeType, .integer16AttributeType, .integer32AttributeType,
        .integer64AttributeType, .doubleAttributeType, .floatAttributeType, .booleanAttributeType, .dateAttributeType,
        .UUIDAttributeType, .decimalAttributeType, .URIAttributeType, .binaryDataAttributeType,
    ]

    /// Names that are words of the language, of SQL, or not of ASCII.
    private static let names = ["name", "group", "order", "größe", "select", "first", "count", "in", "index", "null"]

    private static func attributes(_ random: inout SplitMix) -> [NSAttributeDescription] {
        let start = random.below(names.count)
        return (0..<2 + random.below(4)).map { number in
            Declare.attribute(names[(start + number) % names.count], random.pick(types))
        }
    }

    private static func end(_ name: String, _ random: inout SplitMix) -> Declare.End {
        Declare.End(
            name: name, count: random.pick([.one, .one, .many, .ordered]),
            rule: random.pick([
                .nullifyDeleteRule, .nullifyDeleteRule, .cascadeDeleteRule, .denyDeleteRule, .noActionDeleteRule,
            ]), isOptional: random.chance(80))
    }
}
