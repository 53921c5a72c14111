import Foundation

/// A change of an observed value, as passed to the handler of `observe(_:options:changeHandler:)`.
public struct NSKeyValueObservedChange<Value> {
    /// The kind of the change.
    public typealias Kind = NSKeyValueChange
    /// The kind of the change.
    public let kind: Kind
    /// The new value, or the added members, with the option `new`.
    public let newValue: Value?
    /// The former value, or the removed members, with the option `old`.
    public let oldValue: Value?
    /// The indexes of an ordered relationship's members that were added, removed or replaced.
    public let indexes: IndexSet?
    /// Whether the notification precedes the change.
    public let isPrior: Bool
}

/// An observation, which lasts until it is released or invalidated.
public final class NSKeyValueObservation: NSObject, Sendable {
    let registration: ObservingRegistration

    init(_ registration: ObservingRegistration) { self.registration = registration }

    deinit { registration.end() }

    /// Ends the observation, on any thread.
    public func invalidate() { registration.end() }
}
