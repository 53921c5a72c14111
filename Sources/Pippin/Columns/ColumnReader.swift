import StoreSession

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

    /// The slot of a column in the row; -1 for a column that the row does not have, and for an invalid index, for which
    /// the source throws.
    @inline(__always)
    private func slot(_ index: Int) -> Int { index >= 0 && index < slots.count ? slots[index] : -1 }

    // The value in the row, if it is of the usual kind. For nil, the source looks again, slowly.

    @inline(__always)
    private func string(_ index: Int) -> String? {
        let slot = slot(index)
        return slot < 0 ? nil : row?.string(at: slot)
    }

    @inline(__always)
    private func integer(_ index: Int) -> Int64? {
        let slot = slot(index)
        return slot < 0 ? nil : row?.integer(at: slot)
    }

    @inline(__always)
    private func double(_ index: Int) -> Double? {
        let slot = slot(index)
        return slot < 0 ? nil : row?.double(at: slot)
    }

    @inline(__always)
    private func date(_ index: Int) -> Double? {
        let slot = slot(index)
        return slot < 0 ? nil : row?.date(at: slot)
    }

    @inline(__always)
    private func uuid(_ index: Int) -> UUID? {
        let slot = slot(index)
        return slot < 0 ? nil : row?.uuid(at: slot)
    }

    private func url(_ index: Int) -> URL? { text(index).flatMap(URL.init(string:)) }
    private func decimal(_ index: Int) -> Decimal? { text(index).map { NSDecimalNumber.stored($0).decimalValue } }

    private func text(_ index: Int) -> String? {
        let slot = slot(index)
        return slot < 0 ? nil : row?.text(at: slot)
    }

    /// Whether a column is in the row and certainly has no value.
    @inline(__always)
    private func isNull(_ index: Int) -> Bool {
        let slot = slot(index)
        return slot >= 0 && row?.isNull(at: slot) == true
    }

    /// The text in a column.
    ///
    /// - Parameter index: the column's index among the names, from 0.
    /// - Returns: the text.
    /// - Throws: ``PersistenceError/Code/unreadable`` for no value, or one of another type.
    public func value(at index: Int) throws -> String {
        try string(index) ?? source.required(source.string(column: index), index)
    }

    /// The text in a column, or nil. See ``ColumnReader``.
    ///
    /// - Parameter index: the column's index among the names, from 0.
    /// - Returns: the text; nil where there is none.
    /// - Throws: ``PersistenceError/Code/unreadable`` for a value of another type.
    public func value(at index: Int) throws -> String? {
        if let text = string(index) { return text }
        return isNull(index) ? nil : try source.string(column: index)
    }

    /// The whole number in a column.
    ///
    /// - Parameter index: the column's index among the names, from 0.
    /// - Returns: the number.
    /// - Throws: ``PersistenceError/Code/unreadable`` for no value, or one of another type.
    public func value(at index: Int) throws -> Int {
        try Int(truncatingIfNeeded: integer(index) ?? source.required(source.integer(column: index), index, Int.self))
    }

    /// The whole number in a column, or nil.
    ///
    /// - Parameter index: the column's index among the names, from 0.
    /// - Returns: the number; nil where there is none.
    /// - Throws: ``PersistenceError/Code/unreadable`` for a value of another type.
    public func value(at index: Int) throws -> Int? {
        let number: Int64? = try value(at: index)
        return number.map { Int(truncatingIfNeeded: $0) }
    }

    /// The whole number in a column, with 64 bits on every platform.
    ///
    /// - Parameter index: the column's index among the names, from 0.
    /// - Returns: the number.
    /// - Throws: ``PersistenceError/Code/unreadable`` for no value, or one of another type.
    public func value(at index: Int) throws -> Int64 {
        try integer(index) ?? source.required(source.integer(column: index), index)
    }

    /// The whole number in a column, with 64 bits on every platform, or nil.
    ///
    /// - Parameter index: the column's index among the names, from 0.
    /// - Returns: the number; nil where there is none.
    /// - Throws: ``PersistenceError/Code/unreadable`` for a value of another type.
    public func value(at index: Int) throws -> Int64? {
        if let number = integer(index) { return number }
        return isNull(index) ? nil : try source.integer(column: index)
    }

    /// The whole number in a column, in a smaller or unsigned type.
    ///
    /// - Parameter index: the column's index among the names, from 0.
    /// - Returns: the number.
    /// - Throws: ``PersistenceError/Code/unreadable`` for no value, or one of another type or size.
    @inlinable
    public func value<Value: FixedWidthInteger & Decodable>(at index: Int) throws -> Value {
        let number: Int64? = try value(at: index)
        guard let number else { throw missing(index, Value.self) }
        guard let fitting = Value(exactly: number) else { throw unfitting(number, index, Value.self) }
        return fitting
    }

    /// The whole number in a column, in a smaller or unsigned type, or nil.
    ///
    /// - Parameter index: the column's index among the names, from 0.
    /// - Returns: the number; nil where there is none.
    /// - Throws: ``PersistenceError/Code/unreadable`` for a value of another type or size.
    @inlinable
    public func value<Value: FixedWidthInteger & Decodable>(at index: Int) throws -> Value? {
        let number: Int64? = try value(at: index)
        guard let number else { return nil }
        guard let fitting = Value(exactly: number) else { throw unfitting(number, index, Value.self) }
        return fitting
    }

    @usableFromInline
    func missing(_ index: Int, _ type: Any.Type) -> any Error { source.missing(column: index, type) }

    @usableFromInline
    func unfitting(_ number: Int64, _ index: Int, _ type: Any.Type) -> any Error {
        source.unfitting(number, column: index, type)
    }

    /// The Boolean in a column.
    ///
    /// - Parameter index: the column's index among the names, from 0.
    /// - Returns: whether the column has anything but 0.
    /// - Throws: ``PersistenceError/Code/unreadable`` for no value, or one of another type.
    public func value(at index: Int) throws -> Bool {
        try (integer(index) ?? source.required(source.integer(column: index), index, Bool.self)) != 0
    }

    /// The Boolean in a column, or nil.
    ///
    /// - Parameter index: the column's index among the names, from 0.
    /// - Returns: whether the column has anything but 0; nil if it has no value.
    /// - Throws: ``PersistenceError/Code/unreadable`` for a value of another type.
    public func value(at index: Int) throws -> Bool? {
        let number: Int64? = try value(at: index)
        return number.map { $0 != 0 }
    }

    /// The number in a column.
    ///
    /// - Parameter index: the column's index among the names, from 0.
    /// - Returns: the number.
    /// - Throws: ``PersistenceError/Code/unreadable`` for no value, or one of another type.
    public func value(at index: Int) throws -> Double {
        try double(index) ?? source.required(source.double(column: index), index)
    }

    /// The number in a column, or nil.
    ///
    /// - Parameter index: the column's index among the names, from 0.
    /// - Returns: the number; nil where there is none.
    /// - Throws: ``PersistenceError/Code/unreadable`` for a value of another type.
    public func value(at index: Int) throws -> Double? {
        if let number = double(index) { return number }
        return isNull(index) ? nil : try source.double(column: index)
    }

    /// The number in a column, in single precision.
    ///
    /// - Parameter index: the column's index among the names, from 0.
    /// - Returns: the number.
    /// - Throws: ``PersistenceError/Code/unreadable`` for no value, or one of another type.
    public func value(at index: Int) throws -> Float {
        try Float(double(index) ?? source.required(source.double(column: index), index))
    }

    /// The number in a column, in single precision, or nil.
    ///
    /// - Parameter index: the column's index among the names, from 0.
    /// - Returns: the number; nil where there is none.
    /// - Throws: ``PersistenceError/Code/unreadable`` for a value of another type.
    public func value(at index: Int) throws -> Float? {
        let number: Double? = try value(at: index)
        return number.map { Float($0) }
    }

    /// The date in a column, which a store keeps in seconds since 2001.
    ///
    /// - Parameter index: the column's index among the names, from 0.
    /// - Returns: the date.
    /// - Throws: ``PersistenceError/Code/unreadable`` for no value, or one of another type.
    public func value(at index: Int) throws -> Date {
        let seconds = try date(index) ?? source.required(source.date(column: index), index, Date.self)
        return Date(timeIntervalSinceReferenceDate: seconds)
    }

    /// The date in a column, or nil.
    ///
    /// - Parameter index: the column's index among the names, from 0.
    /// - Returns: the date; nil where there is none.
    /// - Throws: ``PersistenceError/Code/unreadable`` for a value of another type.
    public func value(at index: Int) throws -> Date? {
        if let seconds = date(index) { return Date(timeIntervalSinceReferenceDate: seconds) }
        return isNull(index) ? nil : try source.date(column: index).map { Date(timeIntervalSinceReferenceDate: $0) }
    }

    /// A value of any other type: an identifier, bytes, an enumeration, a nested value, models.
    ///
    /// - Parameter index: the column's index among the names, from 0.
    /// - Returns: the value.
    /// - Throws: ``PersistenceError/Code/unreadable`` for no value, or one of another type, and what decoding it
    ///   throws.
    @_disfavoredOverload
    public func value<Value: Decodable>(at index: Int) throws -> Value {
        // The types are the same, as was just checked. A cast would check again, slowly.
        if Value.self == UUID.self, let uuid = uuid(index) { return unsafeBitCast(uuid, to: Value.self) }
        if Value.self == URL.self, let url = url(index) { return unsafeBitCast(url, to: Value.self) }
        if Value.self == Decimal.self, let number = decimal(index) { return unsafeBitCast(number, to: Value.self) }
        if isOptional(Value.self), let optional = try codedOptional(Value.self, at: index) { return optional }
        return try source.required(source.value(Value.self, column: index), index)
    }

    /// A value of any other type, or nil.
    ///
    /// - Parameter index: the column's index among the names, from 0.
    /// - Returns: the value; nil where there is none.
    /// - Throws: ``PersistenceError/Code/unreadable`` for a value of another type, and what decoding it throws.
    public func value<Value: Decodable>(at index: Int) throws -> Value? {
        if Value.self == UUID.self, let uuid = uuid(index) { return unsafeBitCast(uuid, to: Value.self) }
        if Value.self == URL.self, let url = url(index) { return unsafeBitCast(url, to: Value.self) }
        if Value.self == Decimal.self, let number = decimal(index) { return unsafeBitCast(number, to: Value.self) }
        return isNull(index) ? nil : try source.value(Value.self, column: index)
    }
}

extension ColumnReader {
    // What has a raw value, for code of the module that declares its type.
    @usableFromInline func rawText(at index: Int) -> String? { string(index) }
    @usableFromInline func rawNumber(at index: Int) -> Int64? { integer(index) }
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
    fileprivate func required<Value>(_ value: Value?, _ index: Int, _ type: Any.Type = Value.self) throws -> Value {
        guard let value else { throw missing(column: index, type) }
        return value
    }
}
