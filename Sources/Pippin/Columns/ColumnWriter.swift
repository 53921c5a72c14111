import StoreSession

/// Takes the columns of a row, from code that ``CoreModel()`` writes. It is borrowed, so that it cannot be kept longer
/// than its model.
///
/// The property's type decides which `set(_:at:)` is called. `nil` leaves a column without a value.
public struct ColumnWriter: ~Copyable {
    private let sink: any ColumnSink

    @inline(__always)
    init(sink: any ColumnSink) { self.sink = sink }

    /// Gives a column a text.
    ///
    /// - Parameters:
    ///   - value: the text; nil for none.
    ///   - index: the column's index among the names, from 0.
    /// - Throws: `EncodingError` if the property is decoded as something else.
    public func set(_ value: String?, at index: Int) throws {
        if let value { try sink.set(.string(value), .string, column: index) }
    }

    /// Gives a column a whole number.
    ///
    /// - Parameters:
    ///   - value: the number; nil for none.
    ///   - index: the column's index among the names, from 0.
    /// - Throws: `EncodingError` if the property is decoded as something else.
    public func set(_ value: Int?, at index: Int) throws {
        if let value { try sink.set(.integer(Int64(value)), .integer64, column: index) }
    }

    /// Gives a column a whole number, with 64 bits on every platform.
    ///
    /// - Parameters:
    ///   - value: the number; nil for none.
    ///   - index: the column's index among the names, from 0.
    /// - Throws: `EncodingError` if the property is decoded as something else.
    public func set(_ value: Int64?, at index: Int) throws {
        if let value { try sink.set(.integer(value), .integer64, column: index) }
    }

    /// Gives a column a Boolean, as 1 or 0.
    ///
    /// - Parameters:
    ///   - value: the Boolean; nil for none.
    ///   - index: the column's index among the names, from 0.
    /// - Throws: `EncodingError` if the property is decoded as something else.
    public func set(_ value: Bool?, at index: Int) throws {
        if let value { try sink.set(.integer(value ? 1 : 0), .boolean, column: index) }
    }

    /// Gives a column a number.
    ///
    /// - Parameters:
    ///   - value: the number; nil for none.
    ///   - index: the column's index among the names, from 0.
    /// - Throws: `EncodingError` for NaN, which no store keeps, and if the property is decoded as something else.
    public func set(_ value: Double?, at index: Int) throws {
        guard let value else { return }
        try sink.set(column: index) { (.double(try AttributeEncoder.number(value)), .double) }
    }

    /// Gives a column a date, in seconds since 2001.
    ///
    /// - Parameters:
    ///   - value: the date; nil for none.
    ///   - index: the column's index among the names, from 0.
    /// - Throws: `EncodingError` for a date that is not a number, and if the property is decoded as something else.
    public func set(_ value: Date?, at index: Int) throws {
        guard let value else { return }
        try sink.set(column: index) {
            (.date(try AttributeEncoder.number(value.timeIntervalSinceReferenceDate)), .date)
        }
    }

    /// Gives a column a UUID.
    ///
    /// - Parameters:
    ///   - value: the UUID; nil for none.
    ///   - index: the column's index among the names, from 0.
    /// - Throws: `EncodingError` if the property is decoded as something else.
    public func set(_ value: UUID?, at index: Int) throws {
        if let value { try sink.set(.uuid(value), .uuid, column: index) }
    }

    /// Gives a column a value of any other type: bytes, an enumeration, a nested value, models.
    ///
    /// - Parameters:
    ///   - value: the value; nil for none.
    ///   - index: the column's index among the names, from 0.
    /// - Throws: what encoding the value throws.
    public func set<Value: Encodable>(_ value: Value?, at index: Int) throws {
        if let value { try sink.encode(value, column: index) }
    }
}

/// What encodes the columns of models.
protocol ColumnSink: AnyObject {
    func set(_ value: StoredValue, _ kind: AttributeKind, column: Int) throws
    /// Sets a value that may be refused. The error then names this column.
    func set(column: Int, _ value: () throws -> (StoredValue, AttributeKind)) throws
    func encode<Value: Encodable>(_ value: Value, column: Int) throws
}
