import Foundation

/// Puts the values of dictionaries into rows: the hot path of a batch insertion.
struct BatchRowReader {
    private let layout: EntityLayout
    private let names: [String]
    private let types: [NSAttributeType]
    private let tracksGiven: Bool
    /// The attributes that must have a value.
    private let required: [Int]

    /// - Parameters:
    ///   - layout: the entity whose rows are read.
    ///   - tracksGiven: whether rows shall record which values were given.
    init(_ layout: EntityLayout, tracksGiven: Bool) {
        self.layout = layout
        self.tracksGiven = tracksGiven
        names = layout.slots.map(\.name)
        types = layout.attributeTypes
        required = layout.slots.indices.filter { slot in
            let slot = layout.slots[slot]
            guard let attribute = slot.attribute, attribute.derivation == nil else { return false }
            return !slot.isOptional && !slot.isTransient
        }
    }

    /// Checks that the attributes that are not optional have a given or default value.
    ///
    /// - Throws: an `NSError` of code 1570 that names the row and the attribute.
    func checkRequired(_ row: BatchRow, _ position: Int) throws {
        for slot in required where row.values[slot].isNull {
            throw NSError(
                domain: NSCocoaErrorDomain, code: CoreDataErrorCode.validationMissingMandatoryProperty,
                userInfo: [
                    NSLocalizedDescriptionKey:
                        "Object \(position) of a batch insertion: “\(layout.name).\(names[slot])” is a required value, and "
                        + "has none.",
                    NSValidationKeyErrorKey: names[slot],
                ])
        }
    }

    /// Sets one value. Keys that are not an attribute or to-one relationship of the entity are ignored.
    ///
    /// - Parameters:
    ///   - value: the value; `NSNull` for none.
    ///   - key: the name of the property.
    ///   - row: the row to write to.
    ///   - position: the number of the row, for errors.
    /// - Throws: an error if the value does not fit the property.
    func set(_ value: Any, _ key: String, in row: inout BatchRow, _ position: Int) throws {
        guard let slot = slot(key) else { return }
        row.values[slot] = try Self.quick(value, types[slot]) ?? Self.checked(value, layout, slot, position)
        guard tracksGiven else { return }
        if row.isGiven.isEmpty { row.isGiven = ContiguousArray(repeating: false, count: names.count) }
        row.isGiven[slot] = true
    }

    /// Comparing a few short names is faster than hashing one.
    private func slot(_ key: String) -> Int? {
        if names.count > 16 { return layout.slotIndex(forName: key) }
        for slot in names.indices where names[slot] == key { return slot }
        return nil
    }

    /// Converts the usual values directly, without going through all types that an attribute accepts; nil for others.
    private static func quick(_ value: Any, _ type: NSAttributeType) -> StoredValue? {
        switch type {
        case .stringAttributeType: return exact(value, String.self).map(StoredValue.string)
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            if let number = exact(value, Int.self) { return StoredValue(whole: Int64(number), for: type) }
            if let number = exact(value, Int64.self) { return StoredValue(whole: number, for: type) }
            if let number = exact(value, Int32.self) { return StoredValue(whole: Int64(number), for: type) }
            return exact(value, Int16.self).map { .integer(Int64($0)) }
        case .booleanAttributeType: return exact(value, Bool.self).map { .integer($0 ? 1 : 0) }
        case .doubleAttributeType:
            guard let number = exact(value, Double.self), !number.isNaN else { return nil }
            return .double(number)
        case .dateAttributeType:
            guard let seconds = exact(value, Date.self)?.timeIntervalSinceReferenceDate, seconds.isFinite else {
                return nil
            }
            return .date(seconds)
        default: return nil
        }
    }

    /// The value, if it is of exactly that type. `as?` also looks for bridging and conformances, which takes ten times
    /// as long and was a fifth of an insertion's time.
    @inline(__always)
    private static func exact<Exact>(_ value: Any, _ type: Exact.Type) -> Exact? {
        guard Swift.type(of: value) == type else { return nil }
        // The types are the same, so the bits are a value of `Exact`.
        func reinterpreted<Value>(_ value: Value) -> Exact { unsafeBitCast(value, to: Exact.self) }
        return reinterpreted(value)
    }

    /// The stored form of any value.
    ///
    /// - Throws: an `NSError` that names the row, the property and the value's type if it does not fit.
    static func checked(
        _ value: Any?, _ layout: EntityLayout, _ slot: Int, _ position: Int
    ) throws -> StoredValue {
        do { return try BatchChanges.stored(value, layout.slots[slot], layout) } catch {
            let error = error as NSError
            var info = error.userInfo
            info[NSLocalizedDescriptionKey] = "Object \(position) of a batch insertion: \(error.localizedDescription)"
            throw NSError(domain: error.domain, code: error.code, userInfo: info)
        }
    }
}
