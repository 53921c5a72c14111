import Foundation

/// A change of an observed value, as `observe(_:options:changeHandler:)` hands it out.
public struct NSKeyValueObservedChange<Value> {
    /// What happened to the value.
    public typealias Kind = NSKeyValueChange
    /// What happened to the value.
    public let kind: Kind
    /// The new value, or the members that came, with the option `new`.
    public let newValue: Value?
    /// The former value, or the members that left, with the option `old`.
    public let oldValue: Value?
    /// The places of an ordered relationship's members that came, left or gave way.
    public let indexes: IndexSet?
    /// Whether the change is yet to come.
    public let isPrior: Bool
}

/// An observation, which lasts until it is let go or invalidated.
public final class NSKeyValueObservation: NSObject, Sendable {
    let registration: ObservingRegistration

    init(_ registration: ObservingRegistration) { self.registration = registration }

    deinit { registration.end() }

    /// Ends the observation, on any thread.
    public func invalidate() { registration.end() }
}
