extension Dictionary {
    /// The pairs of a sequence. The program stops where two have one key, as in the standard library: it is for keys
    /// that are known to differ.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    package init<S: Sequence>(uniqueKeysWithValues keysAndValues: __owned S) where S.Element == (Key, Value) {
        self.init(minimumCapacity: keysAndValues.underestimatedCount)
        for (key, value) in keysAndValues {
            let former = updateValue(value, forKey: key)
            precondition(former == nil, "Two values have the key \(key)")
        }
    }

    /// The pairs of a sequence, with what a closure makes of values that have one key.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    package init<S: Sequence>(
        _ keysAndValues: __owned S, uniquingKeysWith combine: (Value, Value) throws -> Value
    ) rethrows where S.Element == (Key, Value) {
        self.init(minimumCapacity: keysAndValues.underestimatedCount)
        try merge(keysAndValues, uniquingKeysWith: combine)
    }

    /// The elements of a sequence by the key that a closure gives each, in order.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    package init<S: Sequence>(
        grouping values: __owned S, by keyForValue: (S.Element) throws -> Key
    ) rethrows where Value == [S.Element] {
        self.init()
        for value in values { self[try keyForValue(value), default: []].append(value) }
    }

    /// The same keys, with what a closure makes of each value.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    package func mapValues<T>(_ transform: (Value) throws -> T) rethrows -> [Key: T] {
        var result: [Key: T] = Dictionary<Key, T>(minimumCapacity: count)
        for (key, value) in self { result[key] = try transform(value) }
        return result
    }

    /// The keys for which a closure makes something of the value, with what it makes.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    package func compactMapValues<T>(_ transform: (Value) throws -> T?) rethrows -> [Key: T] {
        var result: [Key: T] = [:]
        for (key, value) in self {
            if let made = try transform(value) { result[key] = made }
        }
        return result
    }

    /// The pairs that a closure accepts.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    package __consuming func filter(_ isIncluded: (Element) throws -> Bool) rethrows -> [Key: Value] {
        var result: [Key: Value] = [:]
        for pair in self where try isIncluded(pair) { result[pair.key] = pair.value }
        return result
    }
}
