// Each pair of types that a dictionary is made of has some 2 kB of the standard library's code in every module that
// changes one, and takes the optimizer some 20 ms. These go through what is compiled once.

extension Dictionary {
    /// The value of a key; nil if there is none. Setting nil removes the key.
    package subscript(key: Key) -> Value? {
        @inline(never)
        @_semantics("optimize.sil.specialize.generic.never")
        get {
            guard let index = index(forKey: key) else { return nil }
            return self[index].value
        }
        @inline(never)
        @_semantics("optimize.sil.specialize.generic.never")
        set {
            if let newValue {
                put(newValue, key)
            } else if let index = index(forKey: key) {
                remove(at: index)
            }
        }
        @inline(never)
        @_semantics("optimize.sil.specialize.generic.never")
        _modify {
            // Taken out meanwhile, so that an array is not copied to append to it.
            var value = take(key)
            defer { if let value { put(value, key) } }
            yield &value
        }
    }

    /// The value of a key; another one if there is none.
    package subscript(key: Key, default defaultValue: @autoclosure () -> Value) -> Value {
        @inline(never)
        @_semantics("optimize.sil.specialize.generic.never")
        get {
            guard let index = index(forKey: key) else { return defaultValue() }
            return self[index].value
        }
        @inline(never)
        @_semantics("optimize.sil.specialize.generic.never")
        _modify {
            var value = take(key) ?? defaultValue()
            defer { put(value, key) }
            yield &value
        }
    }

    /// Sets the value of a key.
    ///
    /// - Returns: the former one; nil if there was none.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    @discardableResult
    package mutating func updateValue(_ value: __owned Value, forKey key: Key) -> Value? {
        let former = index(forKey: key).map { self[$0].value }
        put(value, key)
        return former
    }

    /// Removes a key.
    ///
    /// - Returns: its value; nil if there was none.
    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    @discardableResult
    package mutating func removeValue(forKey key: Key) -> Value? { take(key) }

    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    private mutating func put(_ value: Value, _ key: Key) {
        // The standard library's other ways to set a value are hidden here by those above.
        merge(CollectionOfOne((key, value))) { _, new in new }
    }

    @inline(never)
    @_semantics("optimize.sil.specialize.generic.never")
    private mutating func take(_ key: Key) -> Value? {
        guard let index = index(forKey: key) else { return nil }
        return remove(at: index).value
    }
}
