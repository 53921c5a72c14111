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

    /// Gives a column a whole number of a smaller or an unsigned type.
    ///
    /// - Parameters:
    ///   - value: the number; nil for none.
    ///   - index: the column's index among the names, from 0.
    /// - Throws: `EncodingError` for a number above `Int64.max`, and if the property is decoded as something else.
    @inlinable
    public func set<Value: FixedWidthInteger & Encodable>(_ value: Value?, at index: Int) throws {
        guard let value else { return }
        guard let number = Int64(exactly: value) else { return try refuse(UInt64(truncatingIfNeeded: value), index) }
        try set(number as Int64?, at: index)
    }

    /// - Throws: the error for a number that no column holds.
    @usableFromInline
    func refuse(_ number: UInt64, _ index: Int) throws {
        try sink.set(column: index) { (try AttributeEncoder.integer(number), .integer64) }
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

// Enumerations and other types with raw values.
extension ColumnWriter {
    /// Gives a column a value whose type has a coding of its own.
    ///
    /// - Parameters:
    ///   - value: the value; nil for none.
    ///   - index: the column's index among the names, from 0.
    ///   - coding: the type's `encode(to:)`, by which the compiler tells it from one that has a raw value; not called.
    ///   - plain: sets the value.
    /// - Throws: what `plain` throws.
    @inlinable
    public func set<Value>(
        _ value: Value?, at index: Int, _ coding: (Value) -> (any Encoder) throws -> Void,
        else plain: @autoclosure () throws -> Void
    ) throws { try plain() }

    /// Gives a column the raw value of a type that Swift codes by it, a text.
    ///
    /// - Parameters:
    ///   - value: the value; nil for none.
    ///   - index: the column's index among the names, from 0.
    ///   - coding: the `encode(to:)` of types without one of their own; not called.
    ///   - plain: is not used.
    /// - Throws: `EncodingError` if the property is decoded as something else.
    @inlinable
    public func set<Value: RawRepresentable>(
        _ value: Value?, at index: Int, _ coding: (Value) -> (RawCoding) throws -> Void,
        else plain: @autoclosure () throws -> Void
    ) throws where Value.RawValue == String {
        if let value { try set(value.rawValue, at: index) }
    }

    /// Gives a column the raw value of a type that Swift codes by it, a whole number.
    ///
    /// - Parameters:
    ///   - value: the value; nil for none.
    ///   - index: the column's index among the names, from 0.
    ///   - coding: the `encode(to:)` of types without one of their own; not called.
    ///   - plain: is not used.
    /// - Throws: `EncodingError` for a number above `Int64.max`, and if the property is decoded as something else.
    @inlinable
    public func set<Value: RawRepresentable>(
        _ value: Value?, at index: Int, _ coding: (Value) -> (RawCoding) throws -> Void,
        else plain: @autoclosure () throws -> Void
    ) throws where Value.RawValue: FixedWidthInteger & Encodable {
        if let value { try set(value.rawValue as Value.RawValue?, at: index) }
    }
}

/// What encodes the columns of models.
protocol ColumnSink: AnyObject {
    func set(_ value: StoredValue, _ kind: AttributeKind, column: Int) throws
    /// Sets a value that may be refused. The error then names this column.
    func set(column: Int, _ value: () throws -> (StoredValue, AttributeKind)) throws
    func encode<Value: Encodable>(_ value: Value, column: Int) throws
}

/// Functions that read a model from columns and write it to them without `Codable` in between. ``CoreModel()`` writes
/// them.
///
/// ```swift
/// ModelColumns(
///     ["id", "name"],
///     read: { columns in try Person(columns: columns) },
///     write: { person, columns in try person.write(columns: columns) })
/// ```
public struct ModelColumns: Sendable {
    /// The properties' names, in the order of their columns.
    let names: [String]
    let functions: ColumnFunctions

    /// - Parameters:
    ///   - names: the names of the stored properties. The coding keys must have the same names in the same order.
    ///   - read: makes a model from a row. It reads each column by its place among the names, and throws what reading
    ///     throws.
    ///   - write: gives each column its value, by the same places.
    public init<Model: Codable & Sendable>(
        _ names: [String], read: @escaping @Sendable (borrowing ColumnReader) throws -> Model,
        write: @escaping @Sendable (borrowing Model, borrowing ColumnWriter) throws -> Void
    ) {
        self.names = names
        functions = ColumnFunctionsOf<Model>(read: read, write: write)
    }
}

/// The functions of a model of any type.
class ColumnFunctions: @unchecked Sendable {
    // @unchecked Sendable: subclasses add only constants that are Sendable.
    let type: Any.Type

    init(type: Any.Type) { self.type = type }
}

final class ColumnFunctionsOf<Model>: ColumnFunctions, @unchecked Sendable {
    // @unchecked Sendable: as its superclass; both constants are Sendable.
    let read: @Sendable (borrowing ColumnReader) throws -> Model
    let write: @Sendable (borrowing Model, borrowing ColumnWriter) throws -> Void

    init(
        read: @escaping @Sendable (borrowing ColumnReader) throws -> Model,
        write: @escaping @Sendable (borrowing Model, borrowing ColumnWriter) throws -> Void
    ) {
        (self.read, self.write) = (read, write)
        super.init(type: Model.self)
    }
}

extension ColumnFunctions {
    /// The functions for a type; nil if these are for another type.
    @inline(__always)
    func functions<Model>(of type: Model.Type) -> ColumnFunctionsOf<Model>? {
        guard self.type == type else { return nil }
        // The types are the same, as was just checked. A cast would look that up again, slowly, for each row.
        return unsafeDowncast(self, to: ColumnFunctionsOf<Model>.self)
    }
}
