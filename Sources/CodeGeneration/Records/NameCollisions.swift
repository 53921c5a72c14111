/// The names of a model that are in the way of one another, or of what generated code uses: otherwise only the Swift
/// compiler would find them, in a file that nobody has written.
struct NameCollisions {
    private let model: RecordModel
    /// The first entity of each class whose code is generated.
    private let owners: [String: String]
    /// The types outside the model that the generated code uses.
    private let usedTypes: Set<String>

    init(_ model: RecordModel) {
        self.model = model
        let generated = model.entities.filter { $0.codeGeneration != .none && $0.hasOwnClass }
        owners = Dictionary(generated.map { ($0.className, $0.name) }) { first, _ in first }
        var types = ReservedNames.types
        for entity in generated {
            for attribute in entity.attributes where attribute.type != .transformable {
                types.formUnion(attribute.swiftType.split { "[]:? ".contains($0) }.map(String.init))
            }
            for relationship in entity.relationships where relationship.isToMany {
                types.formUnion(
                    relationship.isOrdered ? ReservedNames.orderedHelperTypes : ReservedNames.helperTypes)
            }
        }
        usedTypes = types
    }

    /// - Parameter entity: an entity with generated code.
    /// - Returns: the problems, with the property that has each; nil for the class.
    func problems(of entity: RecordEntity) -> [(property: String?, reason: String)] {
        guard entity.codeGeneration != .none, entity.hasOwnClass else { return [] }
        var problems: [(property: String?, reason: String)] = []
        let name = entity.className.escaped
        if let owner = owners[entity.className], owner != entity.name {
            problems.append(
                (nil, "its class “\(name)” is that of the entity “\(owner.escaped)” too, and is generated once"))
        }
        if usedTypes.contains(entity.className) {
            problems.append((nil, "its class “\(name)” has the name of a type that the generated code uses"))
        }
        let properties =
            entity.attributes.map(\.name) + entity.relationships.map(\.name) + entity.fetchedProperties.map(\.name)
        for property in properties {
            if ReservedNames.properties.contains(property) {
                problems.append((property, "every managed object has a property of this name already"))
            } else if ReservedNames.calls.contains(property) {
                problems.append((property, "the generated code uses this name"))
            }
        }
        return problems + helperProblems(of: entity)
    }

    /// `books` and `Books` would both be changed by `addToBooks`.
    private func helperProblems(of entity: RecordEntity) -> [(property: String?, reason: String)] {
        var known: [String: String] = [:]
        for relationship in inherited(by: entity) { known[relationship.name.capitalizedFirst] = relationship.name }
        return entity.relationships.filter(\.isToMany).compactMap { relationship in
            let name = relationship.name.capitalizedFirst
            guard let other = known.updateValue(relationship.name, forKey: name) else { return nil }
            return (
                relationship.name,
                "its methods, such as “addTo\(name.escaped)”, would be those of “\(other.escaped)” too"
            )
        }
    }

    /// The to-many relationships of the generated classes that an entity's class inherits from.
    private func inherited(by entity: RecordEntity) -> [RecordRelationship] {
        var relationships: [RecordRelationship] = []
        var seen: Set<String> = [entity.name]
        var current = model.entity(entity.parent)
        while let parent = current, seen.insert(parent.name).inserted {
            if parent.codeGeneration != .none { relationships += parent.relationships.filter(\.isToMany) }
            current = model.entity(parent.parent)
        }
        return relationships
    }
}

/// Entities of one class, for which it is generated once, with the properties of all of them.
extension RecordModel {
    /// The model with one entity for each class: the first that has it, or the ancestor of those that do. It gets the
    /// properties of the others.
    ///
    /// - Returns: the model, and the properties that two entities of a class have with different types.
    package func mergingSharedClasses() -> (model: RecordModel, problems: [RecordProblem]) {
        let groups = Dictionary(
            grouping: entities.filter { $0.codeGeneration != .none && $0.hasOwnClass }, by: \.className)
        var merged = entities
        var problems: [RecordProblem] = []
        for (className, group) in groups.sorted(by: { $0.key < $1.key }) where group.count > 1 {
            // An entity whose parent has another class, so that the class does not inherit from itself.
            guard var owner = group.first(where: { entity($0.parent)?.className != className }) else { continue }
            for other in group where other.name != owner.name { problems += owner.take(other, in: self) }
            owner.isOnlyOfClass = false
            for index in merged.indices where merged[index].className == className {
                if merged[index].name == owner.name {
                    merged[index] = owner
                } else if entity(merged[index].parent)?.className == className || isSibling(merged[index], owner) {
                    merged[index].codeGeneration = .none
                }
            }
        }
        return (RecordModel(entities: merged), problems)
    }

    /// Whether the classes of two entities' parents are the same, so that a class of both has one superclass.
    private func isSibling(_ one: RecordEntity, _ other: RecordEntity) -> Bool {
        entity(one.parent)?.className == entity(other.parent)?.className
    }
}

extension RecordEntity {
    /// Adds the properties of another entity.
    fileprivate mutating func take(_ other: RecordEntity, in model: RecordModel) -> [RecordProblem] {
        let own = Dictionary(types(in: model), uniquingKeysWith: { first, _ in first })
        attributes += other.attributes.filter { own[$0.name] == nil }
        relationships += other.relationships.filter { own[$0.name] == nil }
        fetchedProperties += other.fetchedProperties.filter { own[$0.name] == nil }
        return other.types(in: model).compactMap { name, type in
            guard let known = own[name], known != type else { return nil }
            return RecordProblem(
                entity: other.name, property: name,
                reason:
                    "its type is “\(type)”; the entity “\(self.name.escaped)”, which has the same class, has it as “\(known)”"
            )
        }
    }

    /// The properties with their types in Swift.
    func types(in model: RecordModel) -> [(String, String)] {
        attributes.map { ($0.name, $0.swiftType) } + relationships.map { ($0.name, $0.swiftType(in: model)) }
            + fetchedProperties.map { property in
                (property.name, "[\(model.entity(property.destination)?.className.asTypeName ?? "NSManagedObject")]?")
            }
    }
}

/// The Swift types that Xcode gives the properties of a generated class.
extension RecordAttribute {
    /// The property's type. Objects are optional whether the attribute is or not: a new object has none yet.
    var swiftType: String {
        switch type {
        case .integer16: isScalar ? "Int16" : "NSNumber?"
        case .integer32: isScalar ? "Int32" : "NSNumber?"
        case .integer64: isScalar ? "Int64" : "NSNumber?"
        case .double: isScalar ? "Double" : "NSNumber?"
        case .float: isScalar ? "Float" : "NSNumber?"
        case .boolean: isScalar ? "Bool" : "NSNumber?"
        case .decimal: "NSDecimalNumber?"
        case .string: "String?"
        // A scalar date counts seconds from the first instant of 2001, as stores do.
        case .date: isScalar ? "TimeInterval" : "Date?"
        case .binaryData: "Data?"
        case .uuid: "UUID?"
        case .uri: "URL?"
        case .transformable: Self.optional(customClass.flatMap { TypeExpression($0)?.text } ?? "NSObject")
        case .composite: "[String: Any]?"
        case .objectID: "NSManagedObjectID?"
        }
    }

    /// `any Shape` needs parentheses.
    private static func optional(_ type: String) -> String {
        type.hasPrefix("any ") || type.contains("&") ? "(\(type))?" : "\(type)?"
    }
}

extension RecordRelationship {
    /// The property's type: a set, or an object of the destination's class.
    func swiftType(in model: RecordModel) -> String {
        guard isToMany else { return destinationClass(in: model) + "?" }
        return isOrdered ? "NSOrderedSet?" : "NSSet?"
    }

    func destinationClass(in model: RecordModel) -> String {
        model.entity(destination)?.className.asTypeName ?? "NSManagedObject"
    }
}
