/// The calls of the run-time part (`CoreData/Objects/ManagedAccessors…`) that get and set a property.
struct PropertyAccess {
    let getter: String
    let setter: String

    /// - Parameters:
    ///   - key: the property's name.
    ///   - type: its type, as declared.
    init(key: String, type: String) {
        let (reference, kind) = (PropertyKeys.reference(to: key), Self.isOfAnyKind(type) ? "Any" : "")
        getter = "managed\(kind)Value(\(reference))"
        setter = "setManaged\(kind)Value(newValue, \(reference))"
    }

    /// Whether values of many kinds are of a type, so that overloads by type cannot tell which is meant. Xcode declares
    /// transformable properties as `NSObject?`.
    private static func isOfAnyKind(_ type: String) -> Bool {
        if type.hasPrefix("any ") || type.hasPrefix("(any ") { return true }
        let plain = type.filter { !"?!() ".contains($0) }
        return kinds.contains(plain.hasPrefix("Foundation.") ? String(plain.dropFirst("Foundation.".count)) : plain)
    }

    private static let kinds: Set = [
        "Any", "AnyObject", "AnyHashable", "NSObject", "NSObjectProtocol", "NSCoding", "NSSecureCoding", "NSCopying",
        "NSFetchRequestResult",
    ]
}
