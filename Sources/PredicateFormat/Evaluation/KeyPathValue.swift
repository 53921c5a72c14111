extension Value {
    /// The value under a key: for an object, the object's value; for a collection, its elements' values in one flat
    /// collection, without missing ones; for `nil`, `nil`.
    package func value(forKey key: String) -> Value {
        switch self {
        case .object(let reference): return reference.operand.operand(forKey: key)
        case .null: return .null
        case .collection(let elements):
            var values: [Value] = []
            values.reserveCapacity(elements.count)
            for element in elements {
                switch element.value(forKey: key) {
                case .collection(let inner): values += inner
                case let value: values.append(value)
                }
            }
            return .collection(values)
        case _ where key == "description": return text.map { .string($0) } ?? .null
        case _ where key == "self": return self
        default:
            if let method = StandardMethod(rawValue: key), method.argumentCount == 0 {
                return method.apply(to: self, .null)
            }
            programmerError(noKey(key))
        }
    }

    /// The value under a key path, which may contain collection operators: `reviews.@avg.stars`.
    package func value(forKeyPath keys: some Collection<String>) -> Value {
        var value = self
        var isOfSeveral = false
        var index = keys.startIndex
        while index < keys.endIndex {
            let key = keys[index]
            index = keys.index(after: index)
            guard key.utf8.first == UInt8(ascii: "@"), let operation = CollectionOperator(rawValue: key) else {
                if case .collection(let elements) = value {
                    isOfSeveral = true
                    if elements.contains(where: \.isNull), isToMany(keys[..<index]) {
                        // Nothing is behind a missing object, not one value that is nil.
                        value = .collection(elements.filter { !$0.isNull })
                    }
                }
                value = value.value(forKey: key)
                continue
            }
            if operation.takesKeyPath {
                return operation.apply(to: value.value(forKeyPath: keys[index...]))
            }
            // As in SQL, and in a set's values for a key, an object without a value does not count.
            if isOfSeveral, case .collection(let values) = value {
                value = .collection(values.filter { !$0.isNull })
            }
            value = operation.apply(to: value)
        }
        return value
    }

    /// Whether the last key of a path is known to be a relationship to many objects.
    private func isToMany(_ keys: some Sequence<String>) -> Bool {
        let start = elements?.first { !$0.isNull } ?? self
        guard case .object(let reference) = start else { return false }
        return reference.operand.endsToMany(Array(keys))
    }
}

extension CollectionOperator {
    /// The operator's value for the elements of a collection.
    package func apply(to value: Value) -> Value {
        if self == .count { return BuiltInFunction.count.apply([value]) }
        // Behind a relationship without an object there is nothing to add.
        if self == .sum, value.isNull { return .integer(0) }
        switch self {
        case .count, .sum: return BuiltInFunction.sum.apply([value])
        case .average: return BuiltInFunction.average.apply([value])
        case .minimum: return BuiltInFunction.minimum.apply([value])
        case .maximum: return BuiltInFunction.maximum.apply([value])
        case .unionOfObjects, .unionOfArrays, .unionOfSets: return value
        case .distinctUnionOfObjects, .distinctUnionOfArrays, .distinctUnionOfSets:
            return BuiltInFunction.distinct.apply([value])
        }
    }
}

extension SetOperation {
    /// The elements of the result, each once, in order.
    func apply(to first: Value, _ second: Value) -> Value {
        guard let first = first.elements, let second = second.elements else { return .null }
        let others = Set(second)
        switch self {
        case .union: return .collection(once(first + second) { _ in true })
        case .intersect: return .collection(once(first, where: others.contains))
        case .minus: return .collection(once(first) { !others.contains($0) })
        }
    }

    private func once(_ values: [Value], where isWanted: (Value) -> Bool) -> [Value] {
        var seen: Set<Value> = []
        return values.filter { isWanted($0) && seen.insert($0).inserted }
    }
}

// Finds out why a key cannot be read, for callers that can report an error instead of stopping the program.
extension Value {
    /// Why there is no value under a key path; nil if there is one, or none is expected.
    package func obstacle(toKeyPath keys: some Collection<String>) -> String? {
        var value = self
        for (key, index) in zip(keys, keys.indices) {
            if key.utf8.first == UInt8(ascii: "@"), let operation = CollectionOperator(rawValue: key) {
                if operation.takesKeyPath {
                    return value.obstacle(toKeyPath: keys[keys.index(after: index)...])
                }
                value = operation.apply(to: value)
                continue
            }
            if let obstacle = value.obstacle(toKey: key) { return obstacle }
            value = value.value(forKey: key)
        }
        return nil
    }

    private func obstacle(toKey key: String) -> String? {
        switch self {
        case .null: return nil
        case .object(let reference): return reference.operand.obstacle(toKey: key)
        case .collection(let elements):
            for element in elements {
                if let obstacle = element.obstacle(toKey: key) { return obstacle }
            }
            return nil
        default: return Self.isPart(key) ? nil : noKey(key)
        }
    }

    /// Whether predicates can read a key of texts, numbers, dates and other plain values, such as `length`.
    package static func isPart(_ key: String) -> Bool {
        key == "description" || key == "self" || StandardMethod(rawValue: key)?.argumentCount == 0
    }

    func noKey(_ key: String) -> String { "\(kindDescription) has no key \"\(key)\" that a predicate could read." }
}
