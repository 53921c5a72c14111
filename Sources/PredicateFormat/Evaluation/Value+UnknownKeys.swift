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
