import Foundation
import Synchronization

/// Converts values to others and, if possible, back. Foundation on Linux has no such class; the names are Apple's.
///
/// A transformable attribute names a registered transformer, which makes the stored bytes:
///
/// ```swift
/// final class PointTransformer: ValueTransformer {
///     override class func transformedValueClass() -> AnyClass { NSData.self }
///     override func transformedValue(_ value: Any?) -> Any? { (value as? Point).flatMap { try? JSONEncoder().encode($0) } }
///     override func reverseTransformedValue(_ value: Any?) -> Any? { … }
/// }
/// ValueTransformer.setValueTransformer(PointTransformer(), forName: NSValueTransformerName("PointTransformer"))
/// ```
///
/// Transformers are used on the queues of all coordinators, so they must be immutable.
open class ValueTransformer: NSObject {
    /// Creates a transformer.
    public override init() { super.init() }

    /// The class of the results of `transformedValue(_:)`. By default `NSObject`.
    open class func transformedValueClass() -> AnyClass { NSObject.self }

    /// Whether `reverseTransformedValue(_:)` restores the original value. By default `true`.
    open class func allowsReverseTransformation() -> Bool { true }

    /// Transforms a value. By default the result is `nil`.
    ///
    /// - Parameter value: the value; `nil` for none.
    /// - Returns: the transformed value; `nil` for none.
    open func transformedValue(_ value: Any?) -> Any? { nil }

    /// Transforms a value back. By default it calls `transformedValue(_:)`.
    ///
    /// - Parameter value: a result of `transformedValue(_:)`; `nil` for none.
    /// - Returns: the original value; `nil` for none.
    open func reverseTransformedValue(_ value: Any?) -> Any? { transformedValue(value) }

    /// Registers a transformer under a name; `nil` removes the name.
    ///
    /// ```swift
    /// ValueTransformer.setValueTransformer(ColorTransformer(), forName: NSValueTransformerName("ColorTransformer"))
    /// ```
    ///
    /// - Parameters:
    ///   - transformer: the transformer, which must be immutable from now on.
    ///   - name: the name that attributes of models use.
    public class func setValueTransformer(_ transformer: ValueTransformer?, forName name: NSValueTransformerName) {
        registered.withLock { $0[name] = transformer.map { Shared($0) } }
    }

    /// The names of the registered transformers.
    public class func valueTransformerNames() -> [NSValueTransformerName] {
        registered.withLock { $0.keys.sorted { $0.rawValue < $1.rawValue } }
    }

    fileprivate static func registered(_ name: NSValueTransformerName) -> ValueTransformer? {
        registered.withLock { $0[name] }?.value
    }

    private static let registered = Mutex<[NSValueTransformerName: Shared]>([
        .secureUnarchiveFromDataTransformerName: Shared(NSSecureUnarchiveFromDataTransformer()),
        .negateBooleanTransformerName: Shared(NegateBooleanTransformer()),
        .isNilTransformerName: Shared(IsNilTransformer()),
        .isNotNilTransformerName: Shared(IsNotNilTransformer()),
    ])

    /// A registered transformer, for all threads.
    private struct Shared: @unchecked Sendable {
        // @unchecked Sendable: transformers do not change once they are registered, as documented above.
        let value: ValueTransformer
        init(_ value: ValueTransformer) { self.value = value }
    }
}

/// Lets `ValueTransformer(forName:)` return the registered transformer, which a class's own initializer cannot.
public protocol RegisteredTransformer {}

extension ValueTransformer: RegisteredTransformer {}

extension RegisteredTransformer where Self: ValueTransformer {
    /// The transformer registered under a name; `nil` if there is none.
    ///
    /// - Parameter name: the name.
    public init?(forName name: NSValueTransformerName) {
        guard let transformer = ValueTransformer.registered(name) as? Self else { return nil }
        self = transformer
    }
}

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

/// Converts keyed archives to objects of allowed classes, and objects to keyed archives.
///
/// Subclass it to allow classes of your own:
///
/// ```swift
/// final class RouteTransformer: NSSecureUnarchiveFromDataTransformer {
///     override class var allowedTopLevelClasses: [AnyClass] { super.allowedTopLevelClasses + [Route.self] }
/// }
/// ```
open class NSSecureUnarchiveFromDataTransformer: ValueTransformer {
    /// The allowed classes of the object, and of the objects in collections. By default those of property lists,
    /// `NSURL`, `NSUUID`, `NSSet` and `NSNull`.
    open class var allowedTopLevelClasses: [AnyClass] { UnarchivedClasses.basic }

    /// The object in a keyed archive; `nil` for an archive that is damaged, or contains objects of other classes.
    ///
    /// - Parameter value: the archive, as `Data`.
    /// - Returns: the object; `nil` for no value.
    open override func transformedValue(_ value: Any?) -> Any? {
        guard let data = value as? Data else { return nil }
        return try? SecureUnarchiving.object(
            in: data, allowed: UnarchivedClasses(type(of: self).allowedTopLevelClasses))
    }

    /// The keyed archive of an object; `nil` if it cannot be archived.
    ///
    /// - Parameter value: the object; `nil` for none.
    /// - Returns: the archive, as `Data`.
    open override func reverseTransformedValue(_ value: Any?) -> Any? {
        value.flatMap { try? SecureUnarchiving.archive(of: $0) }
    }
}
