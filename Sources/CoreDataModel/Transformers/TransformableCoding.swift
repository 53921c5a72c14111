import Foundation

/// Converts the values of transformable attributes to bytes and back.
///
/// Without a transformer Core Data stores a keyed archive. Bytes that cannot be read here, because their transformer or
/// their class is Apple's or another program's, or is not allowed, stay `.data` and are written back unchanged, so that
/// they are never lost.
package enum TransformableCoding {
    /// The permissions in a store's options, in addition to the model's.
    package struct Options {
        var classes: [AnyClass] = []
        var allowsAllClasses = false
        /// Whether a keyed archive replaces a transformer that is not registered.
        var archivesWithoutTransformer = false
        /// Whether values stay the bytes that a store has, since they are only copied.
        package var keepsBytes = false

        package init(classes: [AnyClass] = [], allowsAllClasses: Bool = false) {
            (self.classes, self.allowsAllClasses) = (classes, allowsAllClasses)
        }

        /// The options of stores in memory, which nobody else reads: Core Data keeps the objects themselves there, and
        /// needs no transformer.
        package static var inMemory: Options {
            var options = Options(allowsAllClasses: true)
            options.archivesWithoutTransformer = true
            return options
        }
    }

    package static func value(of bytes: Data, for attribute: AttributeLayout?, _ options: Options = Options())
        -> StoredValue
    {
        guard !options.keepsBytes, let object = object(of: bytes, attribute, options) else { return .data(bytes) }
        return .object((object as? NSObject) ?? AnyValueBox(object))
    }

    private static func object(of bytes: Data, _ attribute: AttributeLayout?, _ options: Options) -> Any? {
        let name = attribute?.valueTransformerName
        if let transformer = custom(name) {
            return isReversed(transformer)
                ? transformer.transformedValue(bytes) : transformer.reverseTransformedValue(bytes)
        }
        guard options.archivesWithoutTransformer || usesKeyedArchive(name) else { return nil }
        let allowed = options.allowsAllClasses ? .all : allowed(by: attribute).adding(options.classes)
        return try? SecureUnarchiving.object(in: bytes, allowed: allowed)
    }

    /// The bytes of a value; nil if it cannot be transformed.
    package static func bytes(
        of object: NSObject, for attribute: AttributeLayout?, _ options: Options = Options()
    ) -> Data? {
        let name = attribute?.valueTransformerName
        let value: Any = (object as? AnyValueBox)?.value ?? object
        if let transformer = custom(name) {
            let bytes =
                isReversed(transformer)
                ? transformer.reverseTransformedValue(value) : transformer.transformedValue(value)
            return bytes as? Data
        }
        guard options.archivesWithoutTransformer || usesKeyedArchive(name) else { return nil }
        return try? SecureUnarchiving.archive(of: value)
    }

    /// The classes that an attribute's archive may contain: the basic ones, and those that the model names.
    private static func allowed(by attribute: AttributeLayout?) -> UnarchivedClasses {
        .onlyBasic.adding(attribute?.valueClasses ?? [])
    }

    /// The transformer that the developer registered under a name; `nil` for one of the class that every program has.
    private static func custom(_ name: String?) -> ValueTransformer? {
        registered(name).flatMap { isPlain($0) ? nil : $0 }
    }

    private static func registered(_ name: String?) -> ValueTransformer? {
        guard let name, !name.isEmpty else { return nil }
        return ValueTransformer(forName: NSValueTransformerName(name))
    }

    private static func isPlain(_ transformer: ValueTransformer) -> Bool {
        type(of: transformer) == NSSecureUnarchiveFromDataTransformer.self
    }

    /// Whether a transformer converts bytes to values, as unarchiving ones do, rather than values to bytes. Its
    /// `transformedValueClass()` is not used, since unarchiving subclasses return `NSData`, too.
    private static func isReversed(_ transformer: ValueTransformer) -> Bool {
        transformer is NSSecureUnarchiveFromDataTransformer
    }

    /// Whether the values of an attribute are kept as keyed archives of themselves, and not as what a transformer makes
    /// of them.
    package static func archivesValues(of attribute: AttributeLayout) -> Bool {
        custom(attribute.valueTransformerName) == nil && usesKeyedArchive(attribute.valueTransformerName)
    }

    /// Whether a name means a keyed archive. Models contain the names of Foundation's constants, too, instead of their
    /// values. A program may register the class of such archives under a name of its own.
    private static func usesKeyedArchive(_ name: String?) -> Bool {
        switch name {
        case nil, "", "NSSecureUnarchiveFromData", "NSSecureUnarchiveFromDataTransformer", "NSUnarchiveFromData",
            "NSKeyedUnarchiveFromData", "NSSecureUnarchiveFromDataTransformerName",
            "NSUnarchiveFromDataTransformerName", "NSKeyedUnarchiveFromDataTransformerName":
            return true
        default: return registered(name).map(isPlain) ?? false
        }
    }
}
