import Foundation
import PredicateFormat

/// A set of objects by identity.
///
/// A `Set<NSManagedObject>` asks each object for its hash and equality through Foundation's class, which takes about
/// four times as long.
struct IdentitySet: Sequence, Equatable, ExpressibleByArrayLiteral {
    private var members: Set<Member>

    private struct Member: Hashable {
        let object: NSManagedObject

        static func == (one: Member, other: Member) -> Bool { one.object === other.object }
        func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(object)) }
    }

    init(_ objects: some Sequence<NSManagedObject>) {
        members = Set(minimumCapacity: objects.underestimatedCount)
        for object in objects { members.insert(Member(object: object)) }
    }

    init(minimumCapacity: Int) { members = Set(minimumCapacity: minimumCapacity) }

    init(arrayLiteral elements: NSManagedObject...) { self.init(elements) }

    private init(_ members: Set<Member>) { self.members = members }

    var count: Int { members.count }
    var isEmpty: Bool { members.isEmpty }
    var underestimatedCount: Int { members.count }

    func makeIterator() -> some IteratorProtocol<NSManagedObject> { members.lazy.map(\.object).makeIterator() }

    func contains(_ object: NSManagedObject) -> Bool { members.contains(Member(object: object)) }

    /// - Returns: whether the object was not a member before.
    @discardableResult
    mutating func insert(_ object: NSManagedObject) -> Bool { members.insert(Member(object: object)).inserted }

    /// - Returns: whether the object was a member.
    @discardableResult
    mutating func remove(_ object: NSManagedObject) -> Bool { members.remove(Member(object: object)) != nil }

    mutating func formIntersection(_ other: IdentitySet) { members.formIntersection(other.members) }
    mutating func subtract(_ other: IdentitySet) { members.subtract(other.members) }
    func subtracting(_ other: IdentitySet) -> IdentitySet { IdentitySet(members.subtracting(other.members)) }
    func union(_ other: IdentitySet) -> IdentitySet { IdentitySet(members.union(other.members)) }
}

// Key-value coding of Foundation's collections, which the Objective-C runtime provides on Apple's platforms.

extension NSArray {
    /// The values that the elements have under a key.
    ///
    /// - Parameter key: the name of a property, or a collection operator that needs no path: `@count`.
    /// - Returns: an array with a value for each element, `NSNull` where there is none.
    public func value(forKey key: String) -> Any { KeyValuePath.value(of: self, byKey: key) ?? NSNull() }

    /// The values at the end of a path, or what a collection operator makes of them: `@sum.price`, `author.name`.
    ///
    /// - Parameter keyPath: keys with dots between them.
    /// - Returns: an array of values, or one value after an operator; `nil` for none.
    public func value(forKeyPath keyPath: String) -> Any? { KeyValuePath.value(of: self, along: keyPath) }

    /// Sets a value for each of the elements.
    ///
    /// - Parameters:
    ///   - value: the value; `nil` for none.
    ///   - key: the name of a property.
    public func setValue(_ value: Any?, forKey key: String) { KeyValuePath.set(value, of: self, [key]) }
}

extension NSSet {
    /// The values that the members have under a key.
    ///
    /// - Parameter key: the name of a property, or a collection operator that needs no path: `@count`.
    /// - Returns: a set of the values; members without one add nothing.
    public func value(forKey key: String) -> Any { KeyValuePath.value(of: self, byKey: key) ?? NSNull() }

    /// The values at the end of a path, or what a collection operator makes of them: `@sum.price`, `author.name`.
    ///
    /// - Parameter keyPath: keys with dots between them.
    /// - Returns: a set of values, or one value after an operator; `nil` for none.
    public func value(forKeyPath keyPath: String) -> Any? { KeyValuePath.value(of: self, along: keyPath) }

    /// Sets a value for each of the members.
    ///
    /// - Parameters:
    ///   - value: the value; `nil` for none.
    ///   - key: the name of a property.
    public func setValue(_ value: Any?, forKey key: String) { KeyValuePath.set(value, of: self, [key]) }
}

extension NSOrderedSet {
    /// The values that the members have under a key.
    ///
    /// - Parameter key: the name of a property, or a collection operator that needs no path: `@count`.
    /// - Returns: an ordered set of the values; members without one add nothing.
    public func value(forKey key: String) -> Any { KeyValuePath.value(of: self, byKey: key) ?? NSNull() }

    /// The values at the end of a path, or what a collection operator makes of them: `@sum.price`, `author.name`.
    ///
    /// - Parameter keyPath: keys with dots between them.
    /// - Returns: an ordered set of values, or one value after an operator; `nil` for none.
    public func value(forKeyPath keyPath: String) -> Any? { KeyValuePath.value(of: self, along: keyPath) }

    /// Sets a value for each of the members.
    ///
    /// - Parameters:
    ///   - value: the value; `nil` for none.
    ///   - key: the name of a property.
    public func setValue(_ value: Any?, forKey key: String) { KeyValuePath.set(value, of: self, [key]) }
}

extension NSDictionary {
    /// The value under a key.
    ///
    /// - Parameter key: a key of the dictionary, or a collection operator that needs no path: `@count`.
    /// - Returns: the value; `nil` for none.
    public func value(forKey key: String) -> Any? {
        key.hasPrefix("@") ? KeyValuePath.value(of: allValues, [key]) : object(forKey: key)
    }

    /// The value at the end of a path through dictionaries, arrays, sets and objects.
    ///
    /// - Parameter keyPath: keys with dots between them.
    /// - Returns: the value; `nil` for none.
    public func value(forKeyPath keyPath: String) -> Any? { KeyValuePath.value(of: self, along: keyPath) }
}

extension KeyValuePath {
    fileprivate static func value(of collection: NSObject, byKey key: String) -> Any? {
        Self.object(value(of: collection as Any?, [key][...]))
    }

    fileprivate static func value(of collection: NSObject, along keyPath: String) -> Any? {
        Self.object(value(of: collection as Any?, keyPath.split(separator: ".").map(String.init)[...]))
    }

    /// Arrays are returned as `NSArray`, since callers cast to that class.
    private static func object(_ value: Any?) -> Any? {
        if let list = value as? [Any] { return NSArray(array: list) }
        return value
    }
}
