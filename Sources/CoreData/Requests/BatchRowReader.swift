import Foundation

/// Puts the values of dictionaries into rows: the hot path of a batch insertion.
struct BatchRowReader {
    private let layout: EntityLayout
    private let names: [String]
    private let types: [NSAttributeType]
    private let tracksGiven: Bool

    /// - Parameter tracksGiven: whether rows shall tell which values were given.
    init(_ layout: EntityLayout, tracksGiven: Bool) {
        self.layout = layout
        self.tracksGiven = tracksGiven
        names = layout.slots.map(\.name)
        types = layout.attributeTypes
    }

    /// Sets one value. Keys that are no attribute or to-one relationship of the entity are not looked at.
    ///
    /// - Parameter position: the number of the row, for errors.
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

    /// The usual values without the detour over all that an attribute accepts; nil for others.
    private static func quick(_ value: Any, _ type: NSAttributeType) -> StoredValue? {
        switch type {
        case .stringAttributeType: return (value as? String).map(StoredValue.string)
        case .integer16AttributeType, .integer32AttributeType, .integer64AttributeType:
            return (value as? Int).map { .integer(Int64($0)) }
        case .booleanAttributeType: return (value as? Bool).map { .integer($0 ? 1 : 0) }
        case .doubleAttributeType: return (value as? Double).map(StoredValue.double)
        case .dateAttributeType: return (value as? Date).map { .date($0.timeIntervalSinceReferenceDate) }
        default: return nil
        }
    }

    /// The stored form of any value.
    ///
    /// - Throws: an `NSError` that names the row, the property and the value's type when it does not fit.
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
