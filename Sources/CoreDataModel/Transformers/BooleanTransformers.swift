import Foundation

/// Negates a Boolean; a missing value counts as false.
final class NegateBooleanTransformer: ValueTransformer {
    override class func transformedValueClass() -> AnyClass { NSNumber.self }

    override func transformedValue(_ value: Any?) -> Any? {
        NSNumber(value: !((value as? NSNumber)?.boolValue ?? false))
    }
}

/// Returns whether there is a value, or whether there is none. It cannot be reversed.
class PresenceTransformer: ValueTransformer {
    override class func transformedValueClass() -> AnyClass { NSNumber.self }
    override class func allowsReverseTransformation() -> Bool { false }
}

final class IsNilTransformer: PresenceTransformer {
    override func transformedValue(_ value: Any?) -> Any? { NSNumber(value: value == nil) }
}

final class IsNotNilTransformer: PresenceTransformer {
    override func transformedValue(_ value: Any?) -> Any? { NSNumber(value: value != nil) }
}
