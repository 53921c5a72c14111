import Foundation

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

/// The impending change of an observed property.
enum ObservedChange {
    case setting
    /// No change, although the accessor runs: an added member is already there.
    case nothing
    /// Members of a to-many relationship are added and removed: sets of an unordered one, arrays and indexes of an
    /// ordered one. `new` is `nil` if the added members are to be read afterwards, at their indexes.
    case members(NSKeyValueChange, old: NSObject?, new: NSObject?, indexes: IndexSet?)
}

/// A change as an observer is notified of it.
struct ChangeNotification {
    var kind = NSKeyValueChange.setting
    /// The outer `nil` means that it was not requested, or is not known yet.
    var old: Any??
    var new: Any??
    var indexes: IndexSet?
    var isPrior = false

    /// The dictionary of key-value observing.
    var dictionary: [NSKeyValueChangeKey: Any] {
        var dictionary: [NSKeyValueChangeKey: Any] = [.kindKey: NSNumber(value: kind.rawValue)]
        if let old { dictionary[.oldKey] = old ?? NSNull() }
        if let new { dictionary[.newKey] = new ?? NSNull() }
        if let indexes { dictionary[.indexesKey] = indexes as NSIndexSet }
        if isPrior { dictionary[.notificationIsPriorKey] = NSNumber(value: true) }
        return dictionary
    }

    /// The change for a block that knows the type of the value.
    func observed<Value>(as type: Value.Type) -> NSKeyValueObservedChange<Value> {
        NSKeyValueObservedChange(
            kind: kind, newValue: Self.value(new), oldValue: Self.value(old), indexes: indexes, isPrior: isPrior)
    }

    private static func value<Value>(_ value: Any??) -> Value? {
        guard let value else { return nil }
        guard let there = value else { return Any?.none as? Value }
        // Members added to an ordered relationship are an array, whereas the property is an ordered set.
        return there as? Value ?? (there as? NSArray).flatMap { NSOrderedSet(array: Array($0)) as? Value }
    }
}

extension ToManyMembers {
    /// The change for observers when objects are added; objects that are members already are left out.
    ///
    /// - Parameters:
    ///   - objects: the objects, in order.
    ///   - position: the index in an ordered relationship; `nil` for its end.
    /// - Returns: the change.
    func coming(_ objects: [NSManagedObject], at position: Int? = nil) -> ObservedChange {
        let new = objects.filter { !contains($0) }
        if !isOrdered || new.isEmpty { return .coming(Set(new)) }
        let start = position.map { min(max(0, $0), all.count) } ?? all.count
        return .members(
            .insertion, old: nil, new: new as NSArray, indexes: IndexSet(integersIn: start..<start + new.count))
    }

    /// The change for observers when objects are removed; in a relationship that is not loaded, all of them count as
    /// members.
    func leaving(_ objects: [NSManagedObject]) -> ObservedChange {
        let old = isLoaded ? objects.filter(contains) : objects
        if !isOrdered || old.isEmpty { return .leaving(Set(old)) }
        let leaving = Set(old)
        let places = all.indices.filter { leaving.contains(all[$0]) }
        return .members(.removal, old: places.map { all[$0] } as NSArray, new: nil, indexes: IndexSet(places))
    }
}

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

/// How the members of a to-many relationship change. The raw values are Apple's.
public enum NSKeyValueSetMutationKind: UInt, Sendable {
    /// Members are added.
    case union = 1
    /// Members are removed.
    case minus = 2
    /// All members but these are removed.
    case intersect = 3
    /// All members are replaced by these.
    case set = 4
}
