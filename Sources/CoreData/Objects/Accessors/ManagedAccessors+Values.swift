import Foundation

// Called by generated accessors of attributes, with an overload for each type: the compiler selects one by the
// property's type. A value that exists and fits is returned directly; everything else is left to `otherValue` and
// `setOtherValue`.
@_spi(GeneratedCode) extension NSManagedObject {
    /// The string of the key.
    ///
    /// - Parameter key: the attribute.
    /// - Returns: the string; `nil` for no value.
    public final func managedValue(_ key: ManagedPropertyKey) -> String? {
        guard let slot = slot(of: key) else { return otherValue(key) }
        switch storedValue(at: slot) {
        case .string(let value): return value
        case .null: return nil
        default: return otherValue(key)
        }
    }

    /// Sets a value for the key.
    ///
    /// - Parameters:
    ///   - value: the string; `nil` for no value.
    ///   - key: the attribute.
    public final func setManagedValue(_ value: String?, _ key: ManagedPropertyKey) {
        guard let slot = slot(of: key, if: .stringAttributeType) else { return setOtherValue(value, key) }
        setStoredValue(value.map { .string($0) } ?? .null, at: slot)
    }

    /// The string of the key. A missing value stops the program.
    ///
    /// - Parameter key: the attribute.
    /// - Returns: the string.
    public final func managedValue(_ key: ManagedPropertyKey) -> String {
        guard let slot = slot(of: key), case .string(let value) = storedValue(at: slot) else {
            return otherValue(key)
        }
        return value
    }

    /// Sets a value for the key.
    ///
    /// - Parameters:
    ///   - value: the string.
    ///   - key: the attribute.
    public final func setManagedValue(_ value: String, _ key: ManagedPropertyKey) {
        guard let slot = slot(of: key, if: .stringAttributeType) else { return setOtherValue(value, key) }
        setStoredValue(.string(value), at: slot)
    }

    /// The date of the key.
    ///
    /// - Parameter key: the attribute.
    /// - Returns: the date; `nil` for no value.
    public final func managedValue(_ key: ManagedPropertyKey) -> Date? {
        guard let slot = slot(of: key) else { return otherValue(key) }
        switch storedValue(at: slot) {
        case .date(let value): return Date(timeIntervalSinceReferenceDate: value)
        case .null: return nil
        default: return otherValue(key)
        }
    }

    /// Sets a value for the key.
    ///
    /// - Parameters:
    ///   - value: the date; `nil` for no value.
    ///   - key: the attribute.
    public final func setManagedValue(_ value: Date?, _ key: ManagedPropertyKey) {
        guard value?.timeIntervalSinceReferenceDate.isFinite != false, let slot = slot(of: key, if: .dateAttributeType)
        else { return setOtherValue(value, key) }
        setStoredValue(value.map { .date($0.timeIntervalSinceReferenceDate) } ?? .null, at: slot)
    }

    /// The date of the key. A missing value stops the program.
    ///
    /// - Parameter key: the attribute.
    /// - Returns: the date.
    public final func managedValue(_ key: ManagedPropertyKey) -> Date {
        guard let slot = slot(of: key), case .date(let value) = storedValue(at: slot) else {
            return otherValue(key)
        }
        return Date(timeIntervalSinceReferenceDate: value)
    }

    /// Sets a value for the key.
    ///
    /// - Parameters:
    ///   - value: the date.
    ///   - key: the attribute.
    public final func setManagedValue(_ value: Date, _ key: ManagedPropertyKey) {
        guard value.timeIntervalSinceReferenceDate.isFinite, let slot = slot(of: key, if: .dateAttributeType) else {
            return setOtherValue(value, key)
        }
        setStoredValue(.date(value.timeIntervalSinceReferenceDate), at: slot)
    }

    /// The bytes of the key.
    ///
    /// - Parameter key: the attribute.
    /// - Returns: the bytes; `nil` for no value.
    public final func managedValue(_ key: ManagedPropertyKey) -> Data? {
        guard let slot = slot(of: key) else { return otherValue(key) }
        switch storedValue(at: slot) {
        case .data(let value): return value
        case .null: return nil
        default: return otherValue(key)
        }
    }

    /// Sets a value for the key.
    ///
    /// - Parameters:
    ///   - value: the bytes; `nil` for no value.
    ///   - key: the attribute.
    public final func setManagedValue(_ value: Data?, _ key: ManagedPropertyKey) {
        guard let slot = slot(of: key, if: .binaryDataAttributeType) else { return setOtherValue(value, key) }
        setStoredValue(value.map { .data($0) } ?? .null, at: slot)
    }

    /// The bytes of the key. A missing value stops the program.
    ///
    /// - Parameter key: the attribute.
    /// - Returns: the bytes.
    public final func managedValue(_ key: ManagedPropertyKey) -> Data {
        guard let slot = slot(of: key), case .data(let value) = storedValue(at: slot) else {
            return otherValue(key)
        }
        return value
    }

    /// Sets a value for the key.
    ///
    /// - Parameters:
    ///   - value: the bytes.
    ///   - key: the attribute.
    public final func setManagedValue(_ value: Data, _ key: ManagedPropertyKey) {
        guard let slot = slot(of: key, if: .binaryDataAttributeType) else { return setOtherValue(value, key) }
        setStoredValue(.data(value), at: slot)
    }

    /// The UUID of the key.
    ///
    /// - Parameter key: the attribute.
    /// - Returns: the UUID; `nil` for no value.
    public final func managedValue(_ key: ManagedPropertyKey) -> UUID? {
        guard let slot = slot(of: key) else { return otherValue(key) }
        switch storedValue(at: slot) {
        case .uuid(let value): return value
        // Bytes that another program wrote to the store are kept, although they are not a UUID.
        case .null, .data: return nil
        default: return otherValue(key)
        }
    }

    /// Sets a value for the key.
    ///
    /// - Parameters:
    ///   - value: the UUID; `nil` for no value.
    ///   - key: the attribute.
    public final func setManagedValue(_ value: UUID?, _ key: ManagedPropertyKey) {
        guard let slot = slot(of: key, if: .UUIDAttributeType) else { return setOtherValue(value, key) }
        setStoredValue(value.map { .uuid($0) } ?? .null, at: slot)
    }

    /// The UUID of the key. A missing value stops the program.
    ///
    /// - Parameter key: the attribute.
    /// - Returns: the UUID.
    public final func managedValue(_ key: ManagedPropertyKey) -> UUID {
        guard let slot = slot(of: key), case .uuid(let value) = storedValue(at: slot) else {
            return otherValue(key)
        }
        return value
    }

    /// Sets a value for the key.
    ///
    /// - Parameters:
    ///   - value: the UUID.
    ///   - key: the attribute.
    public final func setManagedValue(_ value: UUID, _ key: ManagedPropertyKey) {
        guard let slot = slot(of: key, if: .UUIDAttributeType) else { return setOtherValue(value, key) }
        setStoredValue(.uuid(value), at: slot)
    }
}
