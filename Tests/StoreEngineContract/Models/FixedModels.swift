import CoreDataModel
import Foundation

extension ContractModel {
    /// Products of categories, with reviews and tags: relationships of the usual kinds, a unique name.
    package static let shop: ContractModel = {
        let product = Declare.entity(
            "Product",
            [
                Declare.attribute("name", .stringAttributeType), Declare.attribute("price", .doubleAttributeType),
                Declare.attribute("stock", .integer16AttributeType, default: 1),
                Declare.attribute("added", .dateAttributeType),
                Declare.derived("folded", .stringAttributeType, .function(.lowercase, [.keyPath(["name"])])),
                Declare.derived("categoryName", .stringAttributeType, .keyPath(["category", "name"])),
                Declare.derived("reviewCount", .integer32AttributeType, .keyPath(["reviews", "@count"])),
                Declare.derived("stars", .integer32AttributeType, .keyPath(["reviews", "@sum", "stars"])),
                Declare.derived("tagCount", .integer32AttributeType, .keyPath(["tags", "@count"])),
            ])
        let category = Declare.entity("Category", [Declare.attribute("name", .stringAttributeType)])
        let review = Declare.entity(
            "Review",
            [Declare.attribute("stars", .integer32AttributeType), Declare.attribute("text", .stringAttributeType)])
        let tag = Declare.entity("Tag", [Declare.attribute("name", .stringAttributeType)], unique: [["name"]])
        Declare.relate(product, .one("category"), category, .many("products", .denyDeleteRule))
        Declare.relate(product, .many("reviews", .cascadeDeleteRule), review, .one("product", isOptional: false))
        Declare.relate(product, .many("tags"), tag, .many("products"))
        Declare.relate(category, .many("children", .cascadeDeleteRule), category, .one("parent"))
        return ContractModel("shop", [product, category, review, tag])
    }()

    /// One entity with attributes of all types, one whose attributes are required and have defaults.
    package static let values: ContractModel = {
        func composite(_ name: String) -> NSCompositeAttributeDescription {
            let composite = NSCompositeAttributeDescription()
            composite.name = name
            composite.isOptional = true
            composite.elements = [
                Declare.attribute("x", .doubleAttributeType), Declare.attribute("label", .stringAttributeType),
            ]
            return composite
        }
        let large = Declare.attribute("large", .binaryDataAttributeType)
        large.allowsExternalBinaryDataStorage = true
        let passing = Declare.attribute("passing", .stringAttributeType, default: "passing")
        passing.isTransient = true
        let thing = Declare.entity(
            "Thing",
            [
                Declare.attribute("int16", .integer16AttributeType),
                Declare.attribute("int32", .integer32AttributeType),
                Declare.attribute("int64", .integer64AttributeType), Declare.attribute("double", .doubleAttributeType),
                Declare.attribute("float", .floatAttributeType), Declare.attribute("flag", .booleanAttributeType),
                Declare.attribute("text", .stringAttributeType), Declare.attribute("date", .dateAttributeType),
                Declare.attribute("uuid", .UUIDAttributeType), Declare.attribute("bytes", .binaryDataAttributeType),
                Declare.attribute("decimal", .decimalAttributeType), Declare.attribute("url", .URIAttributeType),
                Declare.attribute("list", .transformableAttributeType), large, passing, composite("place"),
            ])
        let strict = Declare.entity(
            "Strict",
            [
                Declare.attribute("code", .stringAttributeType, isOptional: false, default: "none"),
                Declare.attribute("count", .integer32AttributeType, isOptional: false, default: 7),
                Declare.attribute("ratio", .doubleAttributeType, isOptional: false, default: 0.25),
                Declare.attribute("flag", .booleanAttributeType, isOptional: false, default: true),
                Declare.attribute(
                    "since", .dateAttributeType, isOptional: false, default: Date(timeIntervalSinceReferenceDate: 1.5)),
                Declare.attribute("rank", .integer16AttributeType),
            ], unique: [["code", "rank"]])
        return ContractModel("values", [thing, strict])
    }()

    /// Inheritance, relationships to and from entities with subentities, and all delete rules.
    package static let family: ContractModel = {
        let being = Declare.entity(
            "Being",
            [Declare.attribute("name", .stringAttributeType), Declare.attribute("age", .integer32AttributeType)],
            unique: [["name"]], isAbstract: true)
        let person = Declare.subentity("Person", [Declare.attribute("wealth", .decimalAttributeType)])
        let animal = Declare.subentity("Animal", [Declare.attribute("weight", .doubleAttributeType)])
        let dog = Declare.subentity("Dog", [Declare.attribute("chip", .stringAttributeType)], unique: [["chip"]])
        being.subentities = [person, animal]
        animal.subentities = [dog]
        let house = Declare.entity("House", [Declare.attribute("street", .stringAttributeType)])
        Declare.relate(house, .many("beings", .noActionDeleteRule), being, .one("house"))
        Declare.relate(person, .many("pets", .cascadeDeleteRule), animal, .one("owner"))
        Declare.relate(person, .one("spouse"), person, .one("spouseOf"))
        Declare.reflect(person, .one("twin"))
        Declare.reflect(being, .many("friends"))
        Declare.relate(dog, .one("kennel", .cascadeDeleteRule), house, .one("guard", .denyDeleteRule))
        Declare.relate(being, .one("mother", .noActionDeleteRule), being, .many("children"))
        return ContractModel("family", [being, person, animal, dog, house])
    }()

    /// Ordered relationships, and those without an inverse.
    package static let lists: ContractModel = {
        let list = Declare.entity("List", [Declare.attribute("title", .stringAttributeType)])
        let special = Declare.subentity("SpecialList", [Declare.attribute("colour", .stringAttributeType)])
        list.subentities = [special]
        let entry = Declare.entity(
            "Entry",
            [Declare.attribute("text", .stringAttributeType), Declare.attribute("weight", .doubleAttributeType)])
        let label = Declare.entity("Label", [Declare.attribute("name", .stringAttributeType)], unique: [["name"]])
        Declare.relate(list, .ordered("entries", .cascadeDeleteRule), entry, .one("list"))
        Declare.relate(entry, .ordered("labels"), label, .many("entries"))
        Declare.relate(list, .ordered("labels"), label, .ordered("lists"))
        // A batch insertion that replaces a label may move it to another board.
        Declare.relate(list, .ordered("pinned"), label, .one("board"))
        Declare.relate(entry, .many("drafts", .cascadeDeleteRule), list, .many("drafters", .denyDeleteRule))
        Declare.lead(list, .many("owned", .cascadeDeleteRule), to: label)
        Declare.lead(special, .ordered("favourites"), to: entry)
        Declare.lead(entry, .one("seeAlso"), to: list)
        return ContractModel("lists", [list, special, entry, label])
    }()
}
