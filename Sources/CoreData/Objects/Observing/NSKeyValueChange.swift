/// The content of an observer's notifications. The raw values are Apple's.
public struct NSKeyValueObservingOptions: OptionSet, Sendable {
    /// The options as bits.
    public let rawValue: UInt

    /// Creates a set of options.
    ///
    /// - Parameter rawValue: the options as bits.
    public init(rawValue: UInt) { self.rawValue = rawValue }

    /// The value after the change, under `NSKeyValueChangeKey.newKey`.
    public static let new = NSKeyValueObservingOptions(rawValue: 1)
    /// The value before the change, under `NSKeyValueChangeKey.oldKey`.
    public static let old = NSKeyValueObservingOptions(rawValue: 2)
    /// A first notification immediately, before the observer is registered.
    public static let initial = NSKeyValueObservingOptions(rawValue: 4)
    /// A notification before each change, in addition to the one after it.
    public static let prior = NSKeyValueObservingOptions(rawValue: 8)
}

/// The kind of a change of an observed value. The raw values are Apple's.
public enum NSKeyValueChange: UInt, Sendable {
    /// The value was set, or may have changed for another reason.
    case setting = 1
    /// Members were added to a to-many relationship.
    case insertion = 2
    /// Members were removed from a to-many relationship.
    case removal = 3
    /// Members of a to-many relationship were replaced.
    case replacement = 4
}

/// The keys of the dictionary that describes a change. The raw values are Apple's.
public struct NSKeyValueChangeKey: RawRepresentable, Hashable, Sendable {
    /// The key as text.
    public let rawValue: String

    /// Creates a key.
    ///
    /// - Parameter rawValue: the key as text.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The raw value of an `NSKeyValueChange`, as a number.
    public static let kindKey = NSKeyValueChangeKey(rawValue: "kind")
    /// The new value, or the added members; `NSNull` for no value.
    public static let newKey = NSKeyValueChangeKey(rawValue: "new")
    /// The former value, or the removed members; `NSNull` for no value.
    public static let oldKey = NSKeyValueChangeKey(rawValue: "old")
    /// The indexes of an ordered relationship's members that were added, removed or replaced, as an `NSIndexSet`.
    public static let indexesKey = NSKeyValueChangeKey(rawValue: "indexes")
    /// `true`, in a notification before the change.
    public static let notificationIsPriorKey = NSKeyValueChangeKey(rawValue: "notificationIsPrior")
}
