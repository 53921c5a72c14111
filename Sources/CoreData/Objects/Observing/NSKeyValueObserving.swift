/// Is told of changes of the objects that it observes.
///
/// With the Objective-C runtime this is a method that every `NSObject` has, to be overridden. Here, observers adopt the protocol:
/// what is written for Apple's platforms names it, and loses the word `override`, and the call of `super`.
///
/// ```swift
/// final class Watcher: NSObject, NSKeyValueObserving {
///     func observeValue(
///         forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
///         context: UnsafeMutableRawPointer?
///     ) { print(change?[.newKey] ?? "nothing") }
/// }
/// book.addObserver(watcher, forKeyPath: "author.name", options: .new, context: nil)
/// ```
public protocol NSKeyValueObserving: AnyObject {
    /// Hears of a change, on the queue of the object.
    ///
    /// - Parameters:
    ///   - keyPath: the key path that is observed.
    ///   - object: the object that it starts from.
    ///   - change: what changed, by the options of the registration.
    ///   - context: what was given with the registration.
    func observeValue(
        forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?)
}

/// Says of key paths what they depend on, where a class does not do so by names.
public protocol NSKeyValueObservingCustomization: AnyObject {
    /// The key paths that a computed property depends on.
    ///
    /// - Parameter key: the computed property, as a key path.
    /// - Returns: key paths from the same object.
    static func keyPathsAffectingValue(for key: AnyKeyPath) -> Set<AnyKeyPath>

    /// Whether changes of a property are notified of without calls of `willChangeValue` and `didChangeValue`. Accessors of modeled
    /// properties make these calls, and nothing here asks.
    ///
    /// - Parameter key: the property, as a key path.
    /// - Returns: `true` where the runtime is to notify.
    static func automaticallyNotifiesObservers(for key: AnyKeyPath) -> Bool
}
