/// The Swift types that Xcode gives the properties of a generated class.
extension RecordAttribute {
    /// The property's type, `nil` for an attribute type that has none.
    var swiftType: String? {
        switch type {
        case "Integer 16": isScalar ? "Int16" : "NSNumber?"
        case "Integer 32": isScalar ? "Int32" : "NSNumber?"
        case "Integer 64": isScalar ? "Int64" : "NSNumber?"
        case "Double": isScalar ? "Double" : "NSNumber?"
        case "Float": isScalar ? "Float" : "NSNumber?"
        case "Boolean": isScalar ? "Bool" : "NSNumber?"
        case "Decimal": "NSDecimalNumber?"
        case "String": "String?"
        // A scalar date counts seconds from the first instant of 2001, as stores do.
        case "Date": isScalar ? "TimeInterval" : "Date?"
        case "Binary", "Binary Data": "Data?"
        case "UUID": "UUID?"
        case "URI": "URL?"
        case "Transformable": "\(customClass ?? "NSObject")?"
        case "Composite": "[String: Any]?"
        case "ObjectID": "NSManagedObjectID?"
        default: nil
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
