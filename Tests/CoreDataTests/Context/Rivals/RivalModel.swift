import CoreData

/// People with a boss, tags in common, and an ordered list of tags of their own. Every object has a number, by which
/// stores and contexts are compared.
enum RivalModel {
    static func make() -> NSManagedObjectModel {
        func numbers(and names: [String]) -> [NSAttributeDescription] {
            ["number", "level"].map { Library.attribute($0, .integer64AttributeType) }
                + names.map { Library.attribute($0, .stringAttributeType) }
        }
        let person = Library.entity("Person", numbers(and: ["name"]))
        let tag = Library.entity("Tag", numbers(and: []))
        Library.connect(person, "boss", toMany: false, person, "staff", inverseToMany: true)
        Library.connect(person, "tags", toMany: true, tag, "people", inverseToMany: true)
        Library.connect(person, "list", toMany: true, ordered: true, tag, "owner")
        let model = NSManagedObjectModel()
        model.entities = [person, tag]
        return model
    }

    static let attributes = ["Person": ["level", "name"], "Tag": ["level"]]
    static let toOnes = ["Person": ["boss"], "Tag": ["owner"]]
    static let toManys = ["Person": ["staff", "tags", "list"], "Tag": ["people"]]

    /// What a merge policy compares: attributes and to-one relationships.
    static func compared(_ entity: String) -> [String] { (attributes[entity] ?? []) + (toOnes[entity] ?? []) }

    static func number(of object: NSManagedObject) -> Int { object.value(forKey: "number") as? Int ?? -1 }

    /// A value as a text; objects by their numbers, those of a set in order.
    static func text(_ value: Any?) -> String {
        switch value {
        case nil, is NSNull: "nil"
        case let object as NSManagedObject: "#\(number(of: object))"
        case let set as NSSet: "\(members(set).map(number).sorted())"
        case let list as NSOrderedSet: "\(members(list).map(number))"
        case let value?: "\(value)"
        }
    }

    /// The objects that a relationship leads to.
    static func members(_ value: Any?) -> [NSManagedObject] {
        switch value {
        case let object as NSManagedObject: [object]
        case let set as NSSet: set.allObjects.compactMap { $0 as? NSManagedObject }
        case let list as NSOrderedSet: list.array.compactMap { $0 as? NSManagedObject }
        default: []
        }
    }
}

/// What a context shows of all objects: their values as texts, by number and key.
struct RivalPicture: Equatable {
    private(set) var values: [Int: [String: String]] = [:]

    subscript(number: Int) -> [String: String]? { values[number] }

    /// With `checksInverses`, each relationship must lead to an object from which its inverse leads back.
    init(of context: NSManagedObjectContext, checksInverses: Bool = false) throws {
        for entity in ["Person", "Tag"] {
            for object in try context.all(entity) {
                let number = RivalModel.number(of: object)
                if values[number] != nil { throw RivalFailure("two objects have the number \(number)") }
                var shown = ["entity": entity]
                for key in RivalModel.compared(entity) + (RivalModel.toManys[entity] ?? []) {
                    shown[key] = RivalModel.text(object.value(forKey: key))
                    if checksInverses { try Self.checkInverse(of: key, of: object) }
                }
                values[number] = shown
            }
        }
    }

    private static func checkInverse(of key: String, of object: NSManagedObject) throws {
        guard let inverse = object.entity.relationshipsByName[key]?.inverseRelationship?.name else { return }
        for member in RivalModel.members(object.value(forKey: key)) {
            guard RivalModel.members(member.value(forKey: inverse)).contains(object) else {
                throw RivalFailure(
                    "\(key) of \(RivalModel.number(of: object)) leads to \(RivalModel.number(of: member)), \(inverse) not back"
                )
            }
        }
    }

    /// The first object that two pictures show differently, in words.
    func difference(from other: RivalPicture) -> String? {
        let number = Set(values.keys).union(other.values.keys).sorted().first { self[$0] != other[$0] }
        return number.map { "\($0) was \(other[$0] ?? [:]) and is \(self[$0] ?? [:])" }
    }
}

struct RivalFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
