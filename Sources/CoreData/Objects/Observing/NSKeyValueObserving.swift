/// An observer of managed objects' changes.
///
/// With the Objective-C runtime this is a method of every `NSObject`, which observers override. Here, observers adopt
/// the protocol: code written for Apple's platforms names it, and drops the word `override` and the call of `super`.
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
    /// Called for a change, on the queue of the object.
    ///
    /// - Parameters:
    ///   - keyPath: the observed key path.
    ///   - object: the object at which it starts.
    ///   - change: the change, with the content that the options request.
    ///   - context: the pointer that was passed at registration.
    func observeValue(
        forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?)
}

/// Declares the dependencies of key paths, for a class that does not do so by names.
public protocol NSKeyValueObservingCustomization: AnyObject {
    /// The key paths on which a computed property depends.
    ///
    /// - Parameter key: the computed property, as a key path.
    /// - Returns: key paths from the same object.
    static func keyPathsAffectingValue(for key: AnyKeyPath) -> Set<AnyKeyPath>

    /// Whether observers are notified of a property's changes without calls of `willChangeValue` and `didChangeValue`.
    /// It is not used here, since accessors of modeled properties make these calls.
    ///
    /// - Parameter key: the property, as a key path.
    /// - Returns: `true` if the runtime shall notify observers.
    static func automaticallyNotifiesObservers(for key: AnyKeyPath) -> Bool
}
