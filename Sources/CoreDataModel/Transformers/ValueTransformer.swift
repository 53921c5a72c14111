import Foundation
import Ordering
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
        registered.withLock { $0.keys.ordered { $0.rawValue < $1.rawValue } }
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
