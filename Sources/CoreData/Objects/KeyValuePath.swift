import Foundation
import PredicateFormat

/// Follows key paths as key-value coding does: through objects, through collections member by member, and with the
/// collection operators of its programming guide.
///
/// Predicates treat missing values as SQL does, so that memory and stores agree. Here, as in the guide, `@avg` and
/// `@sum` count them as zero.
enum KeyValuePath {
    // MARK: Reading

    /// The value that a path leads to.
    static func value(of target: Any?, _ keys: ArraySlice<String>) -> Any? {
        guard let key = keys.first else { return target }
        guard let target, !(target is NSNull) else { return nil }
        let rest = keys.dropFirst()
        if let object = target as? NSManagedObject { return value(of: object.value(forKey: key), rest) }
        if let operation = CollectionOperator(rawValue: key) {
            return value(of: operation, members(of: target) ?? [target], rest)
        }
        if let dictionary = target as? [String: Any] { return value(of: dictionary[key], rest) }
        guard let members = members(of: target) else {
            return value(of: Value(target).value(forKey: key).any, rest)
        }
        let values = members.map { value(of: $0, [key]) }
        let collected: Any =
            switch target {
            case is NSOrderedSet: NSOrderedSet(array: values.compactMap(\.self))
            case is NSSet, is Set<AnyHashable>: NSSet(array: values.compactMap(\.self))
            default: values.map { $0 ?? NSNull() }
            }
        return value(of: collected, rest)
    }

    private static func value(of operation: CollectionOperator, _ members: [Any], _ path: ArraySlice<String>) -> Any? {
        if operation == .count { return NSNumber(value: members.count) }
        let values = members.map { value(of: $0, path) }
        let there = values.filter { !($0 is NSNull) }.compactMap(\.self)
        switch operation {
        case .count, .sum, .minimum, .maximum:
            return operation.apply(to: .collection(there.map { Value($0) })).any
        case .average:
            guard !values.isEmpty else { return NSNumber(value: 0.0) }
            let sum = there.reduce(0.0) { $0 + (Value($1).doubleValue ?? 0) }
            return NSNumber(value: sum / Double(values.count))
        case .unionOfObjects: return there
        case .distinctUnionOfObjects: return distinct(there)
        case .unionOfArrays: return there.flatMap { Self.members(of: $0) ?? [$0] }
        case .distinctUnionOfArrays: return distinct(there.flatMap { Self.members(of: $0) ?? [$0] })
        case .unionOfSets, .distinctUnionOfSets:
            return NSSet(array: there.flatMap { Self.members(of: $0) ?? [$0] }.filter { !($0 is NSNull) })
        }
    }

    private static func distinct(_ values: [Any]) -> [Any] {
        var seen: Set<Value> = []
        return values.filter { seen.insert(Value($0)).inserted }
    }

    /// The members of a set, an ordered set or an array; nil for any other value.
    private static func members(of value: Any) -> [Any]? {
        switch value {
        case let list as NSOrderedSet: list.array
        case let set as NSSet: set.allObjects
        case let list as [Any]: list
        case let set as Set<AnyHashable>: set.map(\.base)
        default: nil
        }
    }

    // MARK: Writing

    /// Sets a value at the end of a path, for every member of collections on the path. A path that ends early, at a
    /// relationship without a destination, sets nothing.
    static func set(_ value: Any?, of target: Any?, _ keys: ArraySlice<String>) {
        guard let key = keys.first, let target, !(target is NSNull) else { return }
        let rest = keys.dropFirst()
        if let object = target as? NSManagedObject {
            if rest.isEmpty { return object.setValue(value, forKey: key) }
            if object.isComposite(key) {
                let elements = object.value(forKey: key) as? [String: Any] ?? [:]
                return object.setValue(setting(value, in: elements, rest), forKey: key)
            }
            return set(value, of: object.value(forKey: key), rest)
        }
        if let dictionary = target as? NSMutableDictionary, rest.isEmpty {
            return dictionary[key] = value
        }
        guard let members = members(of: target) else {
            programmerError("a value cannot be set for “\(keys.joined(separator: "."))” of a \(type(of: target))")
        }
        for member in members { set(value, of: member, keys) }
    }

    /// A composite value with one element replaced.
    private static func setting(_ value: Any?, in elements: [String: Any], _ keys: ArraySlice<String>) -> [String: Any]
    {
        guard let key = keys.first else { return elements }
        var elements = elements
        elements[key] =
            keys.count == 1 ? value : setting(value, in: elements[key] as? [String: Any] ?? [:], keys.dropFirst())
        return elements
    }
}

extension NSManagedObject {
    final func isComposite(_ key: String) -> Bool {
        guard case .slot(let slot)? = layout.place(forKey: key) else { return false }
        return layout.slots[slot].attribute?.type == .compositeAttributeType
    }
}
