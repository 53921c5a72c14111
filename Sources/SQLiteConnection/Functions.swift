import CPippinSQLite
import Foundation

/// The arguments of a call to a registered SQL function, by index from 0. Valid only during the call.
package struct FunctionArguments {
    private let values: UnsafeMutablePointer<OpaquePointer?>
    /// How many arguments there are.
    package let count: Int

    init(values: UnsafeMutablePointer<OpaquePointer?>, count: Int) {
        self.values = values
        self.count = count
    }

    /// The type of an argument.
    package func kind(at index: Int) -> ColumnKind {
        switch sqlite3_value_type(values[index]) {
        case SQLITE_INTEGER: return .integer
        case SQLITE_FLOAT: return .double
        case SQLITE_TEXT: return .text
        case SQLITE_BLOB: return .blob
        default: return .null
        }
    }

    /// An argument as an integer; 0 for NULL.
    package func integer(at index: Int) -> Int64 { sqlite3_value_int64(values[index]) }

    /// An argument as a floating-point number; 0 for NULL.
    package func double(at index: Int) -> Double { sqlite3_value_double(values[index]) }

    /// An argument as a text; nil for NULL.
    package func string(at index: Int) -> String? {
        guard let bytes = sqlite3_value_text(values[index]) else { return nil }
        let count = Int(sqlite3_value_bytes(values[index]))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    /// Reads the bytes of an argument where SQLite has them; those of a text are UTF-8. There are none for NULL.
    package func withBytes<Result>(at index: Int, _ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result
    {
        if sqlite3_value_type(values[index]) == SQLITE_TEXT { _ = sqlite3_value_text(values[index]) }
        let bytes = sqlite3_value_blob(values[index])
        let count = bytes == nil ? 0 : Int(sqlite3_value_bytes(values[index]))
        return try body(UnsafeRawBufferPointer(start: bytes, count: count))
    }

    /// An argument as bytes; nil for NULL and for an empty blob. Those of a text are UTF-8, in a database that is kept
    /// in UTF-16, too.
    package func data(at index: Int) -> Data? {
        if sqlite3_value_type(values[index]) == SQLITE_TEXT { _ = sqlite3_value_text(values[index]) }
        guard let bytes = sqlite3_value_blob(values[index]) else { return nil }
        return Data(bytes: bytes, count: Int(sqlite3_value_bytes(values[index])))
    }
}

/// The result of a registered SQL function.
package enum FunctionResult {
    case null
    case integer(Int64)
    case double(Double)
    case text(String)
    case blob(Data)
    /// Fails the statement with this message.
    case failure(String)
}

/// Computes an aggregate of rows; each group of rows has its own instance.
package protocol AggregateFunction: AnyObject {
    /// Takes the arguments of a row.
    func add(_ arguments: FunctionArguments)
    /// The result for the group.
    var result: FunctionResult { get }
}

/// Keeps the closure of a function or a collation for as long as SQLite knows it.
private final class Registration<Body> {
    let body: Body
    init(_ body: Body) { self.body = body }
}

extension Connection {
    /// Makes a function known to SQL: `SELECT name(a, b)`.
    ///
    /// - Parameters:
    ///   - name: the function's name in SQL.
    ///   - argumentCount: how many arguments it takes; -1 for any number.
    ///   - isDeterministic: whether equal arguments always give an equal result, which lets SQLite call it once.
    ///   - body: runs on the connection's queue, inside the calling statement. It must not use the connection.
    /// - Throws: SQLite's error if it refuses the function.
    package func register(
        function name: String, argumentCount: Int32, isDeterministic: Bool = true,
        _ body: @escaping (FunctionArguments) -> FunctionResult
    ) throws {
        let registration = Unmanaged.passRetained(Registration(body))
        let flags = SQLITE_UTF8 | (isDeterministic ? SQLITE_DETERMINISTIC : 0)
        // SQLite releases the registration through the destructor, also if the call fails.
        let code = sqlite3_create_function_v2(
            handle, name, argumentCount, flags, registration.toOpaque(),
            { context, count, values in
                guard let pointer = sqlite3_user_data(context), let values else { return }
                typealias Body = (FunctionArguments) -> FunctionResult
                let body = Unmanaged<Registration<Body>>.fromOpaque(pointer).takeUnretainedValue().body
                Connection.set(body(FunctionArguments(values: values, count: Int(count))), in: context)
            }, nil, nil,
            { pointer in
                guard let pointer else { return }
                Unmanaged<Registration<(FunctionArguments) -> FunctionResult>>.fromOpaque(pointer).release()
            })
        guard code == SQLITE_OK else { throw database.error(code, sql: nil) }
    }

    /// Makes a function of the rows of a group known to SQL: `SELECT name(a) FROM b GROUP BY c`.
    ///
    /// - Parameters:
    ///   - name: the function's name in SQL.
    ///   - argumentCount: how many arguments it takes.
    ///   - make: makes what computes it, for each group that has a row.
    /// - Throws: SQLite's error when it takes no such function.
    package func register(
        aggregate name: String, argumentCount: Int32, _ make: @escaping () -> any AggregateFunction
    ) throws {
        let registration = Unmanaged.passRetained(Registration(make))
        let code = sqlite3_create_function_v2(
            handle, name, argumentCount, SQLITE_UTF8 | SQLITE_DETERMINISTIC, registration.toOpaque(), nil,
            { context, count, values in
                guard let pointer = sqlite3_user_data(context), let values,
                    let place = Connection.group(of: context, size: MemoryLayout<Group?>.size)
                else { return }
                if place.pointee == nil {
                    let make = Unmanaged<Registration<() -> any AggregateFunction>>.fromOpaque(pointer)
                        .takeUnretainedValue().body
                    place.pointee = Unmanaged.passRetained(Registration(make()))
                }
                place.pointee?.takeUnretainedValue().body.add(FunctionArguments(values: values, count: Int(count)))
            },
            { context in
                // Without a size no group is made: one without rows has none.
                guard let group = Connection.group(of: context, size: 0)?.pointee else {
                    return sqlite3_result_null(context)
                }
                Connection.set(group.takeRetainedValue().body.result, in: context)
            },
            { pointer in
                guard let pointer else { return }
                Unmanaged<Registration<() -> any AggregateFunction>>.fromOpaque(pointer).release()
            })
        guard code == SQLITE_OK else { throw database.error(code, sql: nil) }
    }

    /// The instance for the group that is being read, in memory of SQLite's.
    private typealias Group = Unmanaged<Registration<any AggregateFunction>>

    private static func group(of context: OpaquePointer?, size: Int) -> UnsafeMutablePointer<Group?>? {
        sqlite3_aggregate_context(context, Int32(size))?.assumingMemoryBound(to: Group?.self)
    }

    /// Makes an order of texts known to SQL: `ORDER BY ZNAME COLLATE name`.
    ///
    /// - Parameters:
    ///   - name: the collation's name in SQL.
    ///   - compare: returns a negative number, zero or a positive number. It must order consistently.
    /// - Throws: SQLite's error if it refuses the collation.
    package func register(
        collation name: String,
        _ compare: @escaping (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Int
    ) throws {
        typealias Body = (UnsafeBufferPointer<UInt8>, UnsafeBufferPointer<UInt8>) -> Int
        let registration = Unmanaged.passRetained(Registration<Body>(compare))
        let code = sqlite3_create_collation_v2(
            handle, name, SQLITE_UTF8, registration.toOpaque(),
            { pointer, firstCount, first, secondCount, second in
                guard let pointer else { return 0 }
                let body = Unmanaged<Registration<Body>>.fromOpaque(pointer).takeUnretainedValue().body
                let result = body(
                    UnsafeBufferPointer(start: first?.assumingMemoryBound(to: UInt8.self), count: Int(firstCount)),
                    UnsafeBufferPointer(start: second?.assumingMemoryBound(to: UInt8.self), count: Int(secondCount)))
                return result < 0 ? -1 : (result > 0 ? 1 : 0)
            },
            { pointer in
                guard let pointer else { return }
                Unmanaged<Registration<Body>>.fromOpaque(pointer).release()
            })
        guard code == SQLITE_OK else {
            // Unlike for functions, SQLite does not call the destructor when this call fails.
            registration.release()
            throw database.error(code, sql: nil)
        }
    }

    static func set(_ result: FunctionResult, in context: OpaquePointer?) {
        switch result {
        case .null: sqlite3_result_null(context)
        case .integer(let value): sqlite3_result_int64(context, value)
        case .double(let value): sqlite3_result_double(context, value)
        case .text(let value): sqlite3_result_text(context, value, Int32(value.utf8.count), copiesBoundBytes)
        case .blob(let value):
            value.withUnsafeBytes { bytes in
                if bytes.isEmpty {
                    sqlite3_result_zeroblob(context, 0)
                } else {
                    sqlite3_result_blob(context, bytes.baseAddress, Int32(bytes.count), copiesBoundBytes)
                }
            }
        case .failure(let message): sqlite3_result_error(context, message, Int32(message.utf8.count))
        }
    }
}

/// Tells SQLite to copy a bound value before the call returns. C spells it as the pointer -1.
@usableFromInline
let copiesBoundBytes = unsafeBitCast(-1, to: sqlite3_destructor_type.self)

extension Statement {
    /// Binds an integer to a parameter.
    @inlinable
    package func bind(_ value: Int64, at index: Int32) throws {
        try check(sqlite3_bind_int64(handle, index, value))
    }

    /// Binds a floating-point number to a parameter. SQLite stores NaN as NULL.
    @inlinable
    package func bind(_ value: Double, at index: Int32) throws {
        try check(sqlite3_bind_double(handle, index, value))
    }

    /// Binds NULL to a parameter.
    @inlinable
    package func bindNull(at index: Int32) throws {
        try check(sqlite3_bind_null(handle, index))
    }

    /// Binds a text to a parameter, as UTF-8.
    ///
    /// A short text is kept in the statement's scratch memory until the reset; SQLite copies a long one.
    @inlinable
    package func bind(_ value: String, at index: Int32) throws {
        // Most texts are contiguous in memory; others are copied.
        if let code = value.utf8.withContiguousStorageIfAvailable({ bind($0, at: index) }) { return try check(code) }
        var text = value
        try check(text.withUTF8 { bind($0, at: index) })
    }

    @inlinable
    func bind(_ utf8: UnsafeBufferPointer<UInt8>, at index: Int32) -> Int32 {
        let count = utf8.count
        if count <= scratch.count - scratchUsed, count > 0, let source = utf8.baseAddress {
            let place = scratch.baseAddress.unsafelyUnwrapped + scratchUsed
            place.copyMemory(from: source, byteCount: count)
            scratchUsed += count
            return sqlite3_bind_text(
                handle, index, place.assumingMemoryBound(to: CChar.self), Int32(truncatingIfNeeded: count), nil)
        }
        return bindCopying(utf8, at: index)
    }

    /// Binds bytes to a parameter; SQLite copies them.
    package func bind(_ value: Data, at index: Int32) throws {
        guard !value.isEmpty else { return try check(sqlite3_bind_zeroblob(handle, index, 0)) }
        let code = value.withUnsafeBytes { bytes in
            sqlite3_bind_blob64(handle, index, bytes.baseAddress, UInt64(bytes.count), copiesBoundBytes)
        }
        try check(code)
    }

    /// Binds a UUID to a parameter, as a blob of its 16 bytes.
    package func bind(_ value: UUID, at index: Int32) throws {
        let code = withUnsafeBytes(of: value.uuid) { bytes in
            sqlite3_bind_blob(handle, index, bytes.baseAddress, 16, copiesBoundBytes)
        }
        try check(code)
    }

    @inlinable
    func check(_ code: Int32) throws {
        if code != SQLITE_OK { throw failure(code) }
    }

    /// Binds a text that does not fit the scratch memory, and provides that memory the first time.
    @usableFromInline
    func bindCopying(_ utf8: UnsafeBufferPointer<UInt8>, at index: Int32) -> Int32 {
        if scratch.baseAddress == nil {
            scratch = UnsafeMutableRawBufferPointer.allocate(byteCount: 2048, alignment: 16)
        }
        return utf8.withMemoryRebound(to: CChar.self) { characters in
            guard let start = characters.baseAddress else { return sqlite3_bind_text(handle, index, "", 0, nil) }
            return sqlite3_bind_text64(
                handle, index, start, UInt64(characters.count), copiesBoundBytes, UInt8(SQLITE_UTF8))
        }
    }
}
