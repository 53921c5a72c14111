/// The name of a value transformer.
public struct NSValueTransformerName: RawRepresentable, Hashable, Sendable {
    /// The name as a string.
    public typealias RawValue = String
    /// The name as a string.
    public let rawValue: String
    /// Makes a name from a string.
    ///
    /// - Parameter rawValue: the name under which the transformer is registered.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Makes a name from a string.
    ///
    /// - Parameter rawValue: the name under which the transformer is registered.
    public init(_ rawValue: String) { self.rawValue = rawValue }

    /// The transformer from keyed archives to objects of allowed classes.
    public static let secureUnarchiveFromDataTransformerName = NSValueTransformerName("NSSecureUnarchiveFromData")
    /// The transformer that negates a Boolean.
    public static let negateBooleanTransformerName = NSValueTransformerName("NSNegateBoolean")
    /// The transformer that says whether there is no value.
    public static let isNilTransformerName = NSValueTransformerName("NSIsNil")
    /// The transformer that says whether there is a value.
    public static let isNotNilTransformerName = NSValueTransformerName("NSIsNotNil")
}
