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
        case .transformable: "\(customClass ?? "NSObject")?"
        case .composite: "[String: Any]?"
        case .objectID: "NSManagedObjectID?"
        }
    }
}

extension RecordRelationship {
    /// The property's type: a set, or an object of the destination's class.
    func swiftType(in model: RecordModel) -> String {
        guard isToMany else { return destinationClass(in: model) + "?" }
        return isOrdered ? "NSOrderedSet?" : "NSSet?"
    }

    func destinationClass(in model: RecordModel) -> String {
        model.entity(destination)?.className ?? "NSManagedObject"
    }
}

extension String {
    /// The name as Swift takes it for a declaration: in backticks where it is a keyword.
    var asIdentifier: String {
        Self.keywords.contains(self) ? "`\(self)`" : self
    }

    /// The name with its first letter in upper case, as it is in the names of accessors.
    var capitalizedFirst: String {
        prefix(1).uppercased() + dropFirst()
    }

    private static let keywords: Set = [
        "associatedtype", "class", "deinit", "enum", "extension", "fileprivate", "func", "import", "init", "inout",
        "internal", "let", "open", "operator", "private", "precedencegroup", "protocol", "public", "rethrows", "static",
        "struct", "subscript", "typealias", "var", "break", "case", "catch", "continue", "default", "defer", "do",
        "else", "fallthrough", "for", "guard", "if", "in", "repeat", "return", "switch", "throw", "where", "while",
        "Any", "as", "await", "catch", "false", "is", "nil", "rethrows", "self", "Self", "super", "throws", "true",
        "try", "Type", "Protocol",
    ]
}
