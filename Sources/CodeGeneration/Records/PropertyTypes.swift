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
