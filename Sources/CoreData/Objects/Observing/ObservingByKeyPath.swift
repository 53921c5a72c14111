import Foundation

/// The types that can be observed by key paths: managed objects. The name is Foundation's on Apple's platforms.
public protocol _KeyValueCodingAndObserving {}

extension NSManagedObject: _KeyValueCodingAndObserving {}

// In a protocol, since only there is `Self` the class of the object from which the key path starts.
extension _KeyValueCodingAndObserving where Self: NSManagedObject {
    /// Calls a block at each change of a value, on the queue of the object, until the result is released or
    /// invalidated.
    ///
    /// ```swift
    /// let observation = book.observe(\.author?.name, options: [.old, .new]) { book, change in
    ///     print(change.oldValue ?? nil, change.newValue ?? nil)
    /// }
    /// ```
    ///
    /// The block need not be `Sendable`, since it belongs to the object's queue. A computed property changes with the
    /// modeled properties that it reads, and with those that `NSKeyValueObservingCustomization` names.
    ///
    /// - Parameters:
    ///   - keyPath: a property, or a property of an object that to-one relationships lead to.
    ///   - options: the content of the notifications.
    ///   - changeHandler: the block; it receives the object and the change.
    /// - Returns: the observation. It keeps neither the object nor itself alive.
    public func observe<Value>(
        _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping (Self, NSKeyValueObservedChange<Value>) -> Void
    ) -> NSKeyValueObservation {
        let registration = ObservingRegistration(
            self, Self.observedPath(of: keyPath), options,
            .block { object, news in
                guard let object = object as? Self else { return }
                changeHandler(object, news.observed(as: Value.self))
            })
        registration.begin()
        return NSKeyValueObservation(registration)
    }

    /// Announces a change of a property, for custom accessors.
    ///
    /// - Parameter keyPath: a property of the model; other key paths have no name to observe.
    public func willChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {
        if let name = KeyPathProbe.keyPathName(keyPath) { willChangeValue(forKey: name) }
    }

    /// Says that an announced change was made, for custom accessors.
    ///
    /// - Parameter keyPath: a property of the model; other key paths have no name to observe.
    public func didChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {
        if let name = KeyPathProbe.keyPathName(keyPath) { didChangeValue(forKey: name) }
    }

    private static func observedPath<Value>(of keyPath: KeyPath<Self, Value>) -> ObservedPath {
        let name = KeyPathProbe.keyPathName(keyPath)
        var watched = name.map { [$0.split(separator: ".").map(String.init)] } ?? pathsRead(by: keyPath)
        if let type = Self.self as? any NSKeyValueObservingCustomization.Type {
            for path in type.keyPathsAffectingValue(for: keyPath) { watched += pathsRead(by: path) }
        }
        // A missing value has no representation in a non-optional type, except that a number is zero.
        let isAlwaysThere =
            Value.self is any ExpressibleByNilLiteral.Type || Value.self is any Numeric.Type
            || Value.self == Bool.self
        return ObservedPath(name: name, watched: watched) { object in
            guard let object = object as? Self else { return nil }
            if let name, !isAlwaysThere, object.value(forKeyPath: name) == nil { return nil }
            return object[keyPath: keyPath]
        }
    }

    private static func pathsRead(by keyPath: AnyKeyPath) -> [[String]] {
        KeyPathProbe.pathsRead(by: keyPath, of: Self.self)
    }
}
