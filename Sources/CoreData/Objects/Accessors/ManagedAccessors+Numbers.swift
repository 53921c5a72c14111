import Foundation

// Called by generated accessors of numbers. A missing number is zero, as in Core Data.
@_spi(GeneratedCode) extension NSManagedObject {
    /// The integer of the key.
    ///
    /// - Parameter key: the attribute.
    /// - Returns: the integer; 0 for no value.
    public final func managedValue(_ key: ManagedPropertyKey) -> Int16 {
        guard let slot = slot(of: key) else { return otherInteger(key) }
        switch storedValue(at: slot) {
        case .integer(let value): return Int16(exactly: value) ?? nearest(to: value, key)
        case .null: return 0
        default: return otherInteger(key)
        }
    }

    /// Sets an integer for the key.
    ///
    /// - Parameters:
    ///   - value: the integer.
    ///   - key: the attribute.
    public final func setManagedValue(_ value: Int16, _ key: ManagedPropertyKey) {
        setManagedInteger(Int64(value), key)
    }

    /// The integer of the key.
    ///
    /// - Parameter key: the attribute.
    /// - Returns: the integer; 0 for no value.
    public final func managedValue(_ key: ManagedPropertyKey) -> Int32 {
        guard let slot = slot(of: key) else { return otherInteger(key) }
        switch storedValue(at: slot) {
        case .integer(let value): return Int32(exactly: value) ?? nearest(to: value, key)
        case .null: return 0
        default: return otherInteger(key)
        }
    }

    /// Sets an integer for the key.
    ///
    /// - Parameters:
    ///   - value: the integer.
    ///   - key: the attribute.
    public final func setManagedValue(_ value: Int32, _ key: ManagedPropertyKey) {
        setManagedInteger(Int64(value), key)
    }

    /// The integer of the key.
    ///
    /// - Parameter key: the attribute.
    /// - Returns: the integer; 0 for no value.
    public final func managedValue(_ key: ManagedPropertyKey) -> Int64 {
        guard let slot = slot(of: key) else { return otherInteger(key) }
        switch storedValue(at: slot) {
        case .integer(let value): return value
        case .null: return 0
        default: return otherInteger(key)
        }
    }

    /// Sets an integer for the key.
    ///
    /// - Parameters:
    ///   - value: the integer.
    ///   - key: the attribute.
    public final func setManagedValue(_ value: Int64, _ key: ManagedPropertyKey) {
        setManagedInteger(Int64(value), key)
    }

    /// The integer of the key.
    ///
    /// - Parameter key: the attribute.
    /// - Returns: the integer; 0 for no value.
    public final func managedValue(_ key: ManagedPropertyKey) -> Int {
        Int(truncatingIfNeeded: managedValue(key) as Int64)
    }

    /// Sets an integer for the key.
    ///
    /// - Parameters:
    ///   - value: the integer.
    ///   - key: the attribute.
    public final func setManagedValue(_ value: Int, _ key: ManagedPropertyKey) {
        setManagedInteger(Int64(value), key)
    }

    /// The Boolean of the key.
    ///
    /// - Parameter key: the attribute.
    /// - Returns: the Boolean; `false` for no value.
    public final func managedValue(_ key: ManagedPropertyKey) -> Bool {
        (managedValue(key) as Int64) != 0
    }

    /// Sets a Boolean for the key.
    ///
    /// - Parameters:
    ///   - value: the Boolean.
    ///   - key: the attribute.
    public final func setManagedValue(_ value: Bool, _ key: ManagedPropertyKey) {
        setManagedInteger(value ? 1 : 0, key)
    }

    /// The floating-point number of the key; for a date, seconds since the first instant of 2001.
    ///
    /// - Parameter key: the attribute.
    /// - Returns: the number; 0 for no value.
    public final func managedValue(_ key: ManagedPropertyKey) -> Double {
        guard let slot = slot(of: key) else { return otherNumber(key).map { $0.nearestDouble } ?? 0 }
        switch storedValue(at: slot) {
        case .double(let value), .date(let value): return value
        case .null: return 0
        default: return otherNumber(key).map { $0.nearestDouble } ?? 0
        }
    }

    /// Sets a floating-point number for the key; for a date, seconds since the first instant of 2001.
    ///
    /// - Parameters:
    ///   - value: the number.
    ///   - key: the attribute.
    public final func setManagedValue(_ value: Double, _ key: ManagedPropertyKey) {
        if value.isNaN {
            setOtherValue(value, key)
        } else if let slot = slot(of: key, if: .doubleAttributeType) {
            setStoredValue(.double(value), at: slot)
        } else if let slot = slot(of: key, if: .dateAttributeType) {
            setStoredValue(.date(value), at: slot)
        } else {
            setOtherValue(value, key)
        }
    }

    /// The floating-point number of the key.
    ///
    /// - Parameter key: the attribute.
    /// - Returns: the number; 0 for no value.
    public final func managedValue(_ key: ManagedPropertyKey) -> Float {
        Float(managedValue(key) as Double)
    }

    /// Sets a floating-point number for the key.
    ///
    /// - Parameters:
    ///   - value: the number.
    ///   - key: the attribute.
    public final func setManagedValue(_ value: Float, _ key: ManagedPropertyKey) {
        guard !value.isNaN, let slot = slot(of: key, if: .floatAttributeType) else { return setOtherValue(value, key) }
        setStoredValue(.double(Double(value)), at: slot)
    }

    /// The number of the key as an object, `nil` for none.
    ///
    /// - Parameter key: the attribute.
    /// - Returns: the number; `nil` for no value.
    public final func managedValue(_ key: ManagedPropertyKey) -> NSNumber? {
        guard let slot = slot(of: key), let attribute = layout.slots[slot].attribute else { return otherValue(key) }
        guard let value = storedValue(at: slot).objectValue(for: attribute) else { return nil }
        return value as? NSNumber ?? mismatch(value, key)
    }

    private final func setManagedInteger(_ value: Int64, _ key: ManagedPropertyKey) {
        guard let slot = slot(of: key), let stored = StoredValue(whole: value, for: layout.attributeTypes[slot]) else {
            return setOtherValue(value, key)
        }
        setStoredValue(stored, at: slot)
    }

    /// The number of the property's type that is nearest to a stored number outside its range. The stored number stays,
    /// and is reported.
    @inline(never)
    private final func nearest<Number: FixedWidthInteger>(to value: Int64, _ key: ManagedPropertyKey) -> Number {
        let reason = "\(value) is not of type \(Number.self)"
        storedContext?.report(
            "“\(layout.name).\(key.name)” is shown as \(Number(clamping: value))",
            StoreError.make(CoreDataErrorCode.managedObjectValidation, reason))
        return Number(clamping: value)
    }

    /// The number of an attribute whose stored type differs from the accessor's, without its fraction.
    @inline(never)
    private final func otherInteger<Number: FixedWidthInteger>(_ key: ManagedPropertyKey) -> Number {
        guard let number = otherNumber(key) else { return 0 }
        guard number.isFloatingPoint else {
            return Number(exactly: number.int64Value) ?? nearest(to: number.int64Value, key)
        }
        let value = number.doubleValue.rounded(.towardZero)
        return Number(exactly: value) ?? (value.isNaN ? 0 : value > 0 ? .max : .min)
    }

    /// The number of an attribute whose stored type differs from the accessor's.
    @inline(never)
    private final func otherNumber(_ key: ManagedPropertyKey) -> NSNumber? {
        otherValue(key)
    }
}
