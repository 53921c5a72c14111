import PredicateFormat

// A request for the changes of a few objects needs no others: the store leaves them out by their keys, before the whole
// condition is evaluated in memory.
extension PredicateTree {
    /// The keys that a change's object must have so that the condition can be true; nil if it does not say. Pure.
    var changedKeys: Set<Int64>? {
        switch self {
        case .comparison(let comparison): comparison.changedKeys
        case .and(let parts):
            parts.reduce(nil) { found, part in
                guard let keys = part.changedKeys else { return found }
                return found?.intersection(keys) ?? keys
            }
        case .or(let parts):
            parts.reduce([]) { found, part in
                guard let found, let keys = part.changedKeys else { return nil }
                return found.union(keys)
            }
        case .constant, .not: nil
        }
    }
}

extension ComparisonTree {
    fileprivate var changedKeys: Set<Int64>? {
        guard modifier == .direct else { return nil }
        switch (comparison, left, right) {
        case (.equalTo, .keyPath(let path), .constant(let value)), (.equalTo, .constant(let value), .keyPath(let path)):
            return Self.key(value, of: path).map { [$0] }
        case (.in, .keyPath(let path), .constant(.collection(let values))):
            let keys = values.map { Self.key($0, of: path) }
            return keys.contains(nil) ? nil : Set(keys.compactMap { $0 })
        default: return nil
        }
    }

    private static func key(_ value: Value, of path: [String]) -> Int64? {
        switch (path, value) {
        case (["changedID"], .integer(let key)): return key
        case (["changedObjectID"], .object(let reference)):
            return (reference.object as? NSManagedObjectID).flatMap { $0.isTemporaryID ? nil : $0.key }
        default: return nil
        }
    }
}
