import Foundation

/// What is about to happen to an observed property.
enum ObservedChange {
    case setting
    /// Nothing, though the accessor runs: a member is added that is there already.
    case nothing
    /// Members of a to-many relationship come and go: sets of an unordered one, arrays and places of an ordered one. The members that come
    /// are `nil` where they are to be read, at their places, afterwards.
    case members(NSKeyValueChange, old: NSObject?, new: NSObject?, indexes: IndexSet?)
}

/// A change as an observer hears of it.
struct ObservedNews {
    var kind = NSKeyValueChange.setting
    /// Outer `nil` where it was not asked for, or is not known yet.
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
        // Members that come to an ordered relationship are an array, its property is not.
        return there as? Value ?? (there as? NSArray).flatMap { NSOrderedSet(array: Array($0)) as? Value }
    }
}

extension ToManyMembers {
    /// What observers are told when objects are added: those that are members already do not come.
    ///
    /// - Parameters:
    ///   - objects: the objects, in order.
    ///   - position: where in an order; `nil` for its end.
    /// - Returns: the change.
    func coming(_ objects: [NSManagedObject], at position: Int? = nil) -> ObservedChange {
        let new = objects.filter { !contains($0) }
        if !isOrdered || new.isEmpty { return .coming(Set(new)) }
        let start = position.map { min(max(0, $0), all.count) } ?? all.count
        return .members(
            .insertion, old: nil, new: new as NSArray, indexes: IndexSet(integersIn: start..<start + new.count))
    }

    /// What observers are told when objects are removed; of a relationship that is not loaded all of them may be members.
    func leaving(_ objects: [NSManagedObject]) -> ObservedChange {
        let old = isLoaded ? objects.filter(contains) : objects
        if !isOrdered || old.isEmpty { return .leaving(Set(old)) }
        let leaving = Set(old)
        let places = all.indices.filter { leaving.contains(all[$0]) }
        return .members(.removal, old: places.map { all[$0] } as NSArray, new: nil, indexes: IndexSet(places))
    }
}
