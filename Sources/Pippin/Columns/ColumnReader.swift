import CoreData

/// The columns of a row, for code that ``CoreModel()`` writes. It is borrowed, so that it cannot be kept longer than
/// its row.
///
/// The property's type decides which `value(at:)` is called. For a column without a value, an optional property gets
/// `nil` and any other throws ``PersistenceError/Code/unreadable``; a value of another type throws it, too.
public struct ColumnReader: ~Copyable {
    // Retained once per row rather than once per value: a borrowed reader keeps it alive.
    private let row: (any CurrentRow)?
    private let source: any ColumnSource
    // Unsafe memory: `source` keeps it alive.
    private let slots: UnsafeBufferPointer<Int>

    /// - Parameters:
    ///   - row: the row that is handed out; nil if `source` has its values.
    ///   - source: decodes everything but text, numbers and dates, and knows why a value cannot be read.
    ///   - slots: the slot of each column in the row; -1 for a column that the row does not have.
    @inline(__always)
    init(row: (any CurrentRow)?, source: any ColumnSource, slots: UnsafeBufferPointer<Int>) {
        self.row = row
        self.source = source
        self.slots = slots
    }

    /// The slot of a column in the row; -1 for a column that the row does not have, and for an invalid place, for which
    /// the source throws.
    @inline(__always)
    private func slot(_ place: Int) -> Int { place >= 0 && place < slots.count ? slots[place] : -1 }

    // The value in the row, if it is of the usual kind. For nil, the source looks again, slowly.

    @inline(__always)
    private func string(_ place: Int) -> String? {
        let slot = slot(place)
        return slot < 0 ? nil : row?.string(at: slot)
    }

    @inline(__always)
    private func integer(_ place: Int) -> Int64? {
        let slot = slot(place)
        return slot < 0 ? nil : row?.integer(at: slot)
    }

    @inline(__always)
    private func double(_ place: Int) -> Double? {
        let slot = slot(place)
        return slot < 0 ? nil : row?.double(at: slot)
    }

    @inline(__always)
    private func date(_ place: Int) -> Double? {
        let slot = slot(place)
        return slot < 0 ? nil : row?.date(at: slot)
    }

    @inline(__always)
    private func uuid(_ place: Int) -> UUID? {
        let slot = slot(place)
        return slot < 0 ? nil : row?.uuid(at: slot)
    }

    private func url(_ place: Int) -> URL? { text(place).flatMap(URL.init(string:)) }
    private func decimal(_ place: Int) -> Decimal? { text(place).flatMap { Decimal(string: $0) } }

    private func text(_ place: Int) -> String? {
        let slot = slot(place)
        return slot < 0 ? nil : row?.text(at: slot)
    }

    /// Whether a column is in the row and certainly has no value.
    @inline(__always)
    private func isNull(_ place: Int) -> Bool {
        let slot = slot(place)
        return slot >= 0 && row?.isNull(at: slot) == true
    }

    /// The text in a column.
    ///
    /// - Parameter place: the column's place among the names, from 0.
    /// - Returns: the text.
    /// - Throws: ``PersistenceError/Code/unreadable`` for no value, or one of another type.
    public func value(at place: Int) throws -> String {
        try string(place) ?? source.required(source.string(column: place), place)
    }

    /// The text in a column, or nil. See ``ColumnReader``.
    ///
    /// - Parameter place: the column's place among the names, from 0.
    /// - Returns: the text; nil where there is none.
    /// - Throws: ``PersistenceError/Code/unreadable`` for a value of another type.
    public func value(at place: Int) throws -> String? {
        if let text = string(place) { return text }
        return isNull(place) ? nil : try source.string(column: place)
    }

    /// The whole number in a column.
    ///
    /// - Parameter place: the column's place among the names, from 0.
    /// - Returns: the number.
    /// - Throws: ``PersistenceError/Code/unreadable`` for no value, or one of another type.
    public func value(at place: Int) throws -> Int {
        try Int(truncatingIfNeeded: integer(place) ?? source.required(source.integer(column: place), place, Int.self))
    }

    /// The whole number in a column, or nil.
    ///
    /// - Parameter place: the column's place among the names, from 0.
    /// - Returns: the number; nil where there is none.
    /// - Throws: ``PersistenceError/Code/unreadable`` for a value of another type.
    public func value(at place: Int) throws -> Int? {
        let number: Int64? = try value(at: place)
        return number.map { Int(truncatingIfNeeded: $0) }
    }

    /// The whole number in a column, with 64 bits on every platform.
    ///
    /// - Parameter place: the column's place among the names, from 0.
    /// - Returns: the number.
    /// - Throws: ``PersistenceError/Code/unreadable`` for no value, or one of another type.
    public func value(at place: Int) throws -> Int64 {
        try integer(place) ?? source.required(source.integer(column: place), place)
    }

    /// The whole number in a column, with 64 bits on every platform, or nil.
    ///
    /// - Parameter place: the column's place among the names, from 0.
    /// - Returns: the number; nil where there is none.
    /// - Throws: ``PersistenceError/Code/unreadable`` for a value of another type.
    public func value(at place: Int) throws -> Int64? {
        if let number = integer(place) { return number }
        return isNull(place) ? nil : try source.integer(column: place)
    }

    /// The whole number in a column, in a smaller or unsigned type.
    ///
    /// - Parameter place: the column's place among the names, from 0.
    /// - Returns: the number.
    /// - Throws: ``PersistenceError/Code/unreadable`` for no value, or one of another type or size.
    public func value<Value: FixedWidthInteger & Decodable>(at place: Int) throws -> Value {
        let number = try integer(place) ?? source.required(source.integer(column: place), place, Value.self)
        return try source.fitting(number, place)
    }

    /// The whole number in a column, in a smaller or unsigned type, or nil.
    ///
    /// - Parameter place: the column's place among the names, from 0.
    /// - Returns: the number; nil where there is none.
    /// - Throws: ``PersistenceError/Code/unreadable`` for a value of another type or size.
    public func value<Value: FixedWidthInteger & Decodable>(at place: Int) throws -> Value? {
        let number: Int64? = try value(at: place)
        return try number.map { try source.fitting($0, place) }
    }

    /// The Boolean in a column.
    ///
    /// - Parameter place: the column's place among the names, from 0.
    /// - Returns: whether the column has anything but 0.
    /// - Throws: ``PersistenceError/Code/unreadable`` for no value, or one of another type.
    public func value(at place: Int) throws -> Bool {
        try (integer(place) ?? source.required(source.integer(column: place), place, Bool.self)) != 0
    }

    /// The Boolean in a column, or nil.
    ///
    /// - Parameter place: the column's place among the names, from 0.
    /// - Returns: whether the column has anything but 0; nil if it has no value.
    /// - Throws: ``PersistenceError/Code/unreadable`` for a value of another type.
    public func value(at place: Int) throws -> Bool? {
        let number: Int64? = try value(at: place)
        return number.map { $0 != 0 }
    }

    /// The number in a column.
    ///
    /// - Parameter place: the column's place among the names, from 0.
    /// - Returns: the number.
    /// - Throws: ``PersistenceError/Code/unreadable`` for no value, or one of another type.
    public func value(at place: Int) throws -> Double {
        try double(place) ?? source.required(source.double(column: place), place)
    }

    /// The number in a column, or nil.
    ///
    /// - Parameter place: the column's place among the names, from 0.
    /// - Returns: the number; nil where there is none.
    /// - Throws: ``PersistenceError/Code/unreadable`` for a value of another type.
    public func value(at place: Int) throws -> Double? {
        if let number = double(place) { return number }
        return isNull(place) ? nil : try source.double(column: place)
    }

    /// The number in a column, in single precision.
    ///
    /// - Parameter place: the column's place among the names, from 0.
    /// - Returns: the number.
    /// - Throws: ``PersistenceError/Code/unreadable`` for no value, or one of another type.
    public func value(at place: Int) throws -> Float {
        try Float(double(place) ?? source.required(source.double(column: place), place))
    }

    /// The number in a column, in single precision, or nil.
    ///
    /// - Parameter place: the column's place among the names, from 0.
    /// - Returns: the number; nil where there is none.
    /// - Throws: ``PersistenceError/Code/unreadable`` for a value of another type.
    public func value(at place: Int) throws -> Float? {
        let number: Double? = try value(at: place)
        return number.map { Float($0) }
    }

    /// The date in a column, which a store keeps in seconds since 2001.
    ///
    /// - Parameter place: the column's place among the names, from 0.
    /// - Returns: the date.
    /// - Throws: ``PersistenceError/Code/unreadable`` for no value, or one of another type.
    public func value(at place: Int) throws -> Date {
        let seconds = try date(place) ?? source.required(source.date(column: place), place, Date.self)
        return Date(timeIntervalSinceReferenceDate: seconds)
    }

    /// The date in a column, or nil.
    ///
    /// - Parameter place: the column's place among the names, from 0.
    /// - Returns: the date; nil where there is none.
    /// - Throws: ``PersistenceError/Code/unreadable`` for a value of another type.
    public func value(at place: Int) throws -> Date? {
        if let seconds = date(place) { return Date(timeIntervalSinceReferenceDate: seconds) }
        return isNull(place) ? nil : try source.date(column: place).map { Date(timeIntervalSinceReferenceDate: $0) }
    }

    /// A value of any other type: an identifier, bytes, an enumeration, a nested value, models.
    ///
    /// - Parameter place: the column's place among the names, from 0.
    /// - Returns: the value.
    /// - Throws: ``PersistenceError/Code/unreadable`` for no value, or one of another type, and what decoding it
    ///   throws.
    @_disfavoredOverload
    public func value<Value: Decodable>(at place: Int) throws -> Value {
        // The types are the same, as was just checked. A cast would check again, slowly.
        if Value.self == UUID.self, let uuid = uuid(place) { return unsafeBitCast(uuid, to: Value.self) }
        if Value.self == URL.self, let url = url(place) { return unsafeBitCast(url, to: Value.self) }
        if Value.self == Decimal.self, let number = decimal(place) { return unsafeBitCast(number, to: Value.self) }
        return try source.required(source.value(Value.self, column: place), place)
    }

    /// A value of any other type, or nil.
    ///
    /// - Parameter place: the column's place among the names, from 0.
    /// - Returns: the value; nil where there is none.
    /// - Throws: ``PersistenceError/Code/unreadable`` for a value of another type, and what decoding it throws.
    public func value<Value: Decodable>(at place: Int) throws -> Value? {
        if Value.self == UUID.self, let uuid = uuid(place) { return unsafeBitCast(uuid, to: Value.self) }
        if Value.self == URL.self, let url = url(place) { return unsafeBitCast(url, to: Value.self) }
        if Value.self == Decimal.self, let number = decimal(place) { return unsafeBitCast(number, to: Value.self) }
        return isNull(place) ? nil : try source.value(Value.self, column: place)
    }
}

/// Decodes columns that are not of the usual kinds.
protocol ColumnSource: AnyObject {
    // The values that most properties have; nil for none.
    func string(column: Int) throws -> String?
    func integer(column: Int) throws -> Int64?
    func double(column: Int) throws -> Double?
    /// Seconds since 2001.
    func date(column: Int) throws -> Double?
    /// A value of any type; nil for none.
    func value<Value: Decodable>(_ type: Value.Type, column: Int) throws -> Value?
    /// The error for a column without a value that must have one.
    func missing(column: Int, _ type: Any.Type) -> any Error
    /// The error for a number that a type cannot hold.
    func unfitting(_ number: Int64, column: Int, _ type: Any.Type) -> any Error
}

extension ColumnSource {
    @inline(__always)
    fileprivate func required<Value>(_ value: Value?, _ place: Int, _ type: Any.Type = Value.self) throws -> Value {
        guard let value else { throw missing(column: place, type) }
        return value
    }

    @inline(__always)
    fileprivate func fitting<Value: FixedWidthInteger>(_ number: Int64, _ place: Int) throws -> Value {
        guard let fitting = Value(exactly: number) else { throw unfitting(number, column: place, Value.self) }
        return fitting
    }
}
