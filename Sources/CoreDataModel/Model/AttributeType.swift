extension NSAttributeDescription {
    /// The type of an attribute's value, with Swift's names: `.string`, `.integer64`.
    public struct AttributeType: RawRepresentable, Hashable, Sendable {
        /// The type with the Objective-C names.
        public typealias RawValue = NSAttributeType
        /// The value with the Objective-C name.
        public let rawValue: NSAttributeType
        /// Makes the type from the value with the Objective-C name.
        ///
        /// - Parameter rawValue: the value with the Objective-C name.
        public init(rawValue: NSAttributeType) { self.rawValue = rawValue }

        /// No type yet.
        public static let undefined = AttributeType(rawValue: .undefinedAttributeType)
        /// A 16-bit signed integer.
        public static let integer16 = AttributeType(rawValue: .integer16AttributeType)
        /// A 32-bit signed integer.
        public static let integer32 = AttributeType(rawValue: .integer32AttributeType)
        /// A 64-bit signed integer.
        public static let integer64 = AttributeType(rawValue: .integer64AttributeType)
        /// A decimal number.
        public static let decimal = AttributeType(rawValue: .decimalAttributeType)
        /// A double-precision number.
        public static let double = AttributeType(rawValue: .doubleAttributeType)
        /// A single-precision number.
        public static let float = AttributeType(rawValue: .floatAttributeType)
        /// A string.
        public static let string = AttributeType(rawValue: .stringAttributeType)
        /// A Boolean.
        public static let boolean = AttributeType(rawValue: .booleanAttributeType)
        /// A date.
        public static let date = AttributeType(rawValue: .dateAttributeType)
        /// Bytes.
        public static let binaryData = AttributeType(rawValue: .binaryDataAttributeType)
        /// A UUID.
        public static let uuid = AttributeType(rawValue: .UUIDAttributeType)
        /// A URL.
        public static let uri = AttributeType(rawValue: .URIAttributeType)
        /// A value that a transformer converts to bytes.
        public static let transformable = AttributeType(rawValue: .transformableAttributeType)
        /// The ID of a managed object.
        public static let objectID = AttributeType(rawValue: .objectIDAttributeType)
        /// A value made of named elements.
        public static let composite = AttributeType(rawValue: .compositeAttributeType)
    }
}
