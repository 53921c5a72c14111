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
