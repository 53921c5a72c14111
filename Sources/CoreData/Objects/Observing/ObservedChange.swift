import Foundation

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
