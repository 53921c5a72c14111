import CLibPQ
import Foundation

/// The rows that a statement returned, or how many it changed. Values are read in place.
@usableFromInline package final class PostgresResult: RowCells {
    @usableFromInline let pointer: OpaquePointer?
    /// The number of rows.
    @usableFromInline package let count: Int

    init(_ pointer: OpaquePointer?) {
        self.pointer = pointer
        count = Int(PQntuples(pointer))
    }

    deinit { PQclear(pointer) }

    package var columnCount: Int { Int(PQnfields(pointer)) }

    /// How many rows were changed, or read.
    package var affected: Int { Int(String(cString: PQcmdTuples(pointer))) ?? 0 }

    package func columnName(_ column: Int) -> String {
        PQfname(pointer, Int32(column)).map { String(cString: $0) } ?? ""
    }

    /// The number that the server has for a column's type.
    package func typeNumber(_ column: Int) -> UInt32 { PQftype(pointer, Int32(column)) }

    /// The type of a column; nil for an unknown type.
    package func type(_ column: Int) -> PostgresType? { PostgresType(rawValue: PQftype(pointer, Int32(column))) }

    @inlinable @inline(__always)
    package func isNull(_ row: Int, _ column: Int) -> Bool { PQgetisnull(pointer, Int32(row), Int32(column)) != 0 }

    /// The bytes of a value; empty for NULL.
    @inlinable @inline(__always)
    package func raw(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(
            start: PQgetvalue(pointer, Int32(row), Int32(column)),
            count: Int(PQgetlength(pointer, Int32(row), Int32(column))))
    }

    @inlinable @inline(__always)
    package func forEachRow(_ body: (Int) throws -> Bool) throws {
        for row in 0..<count { if try !body(row) { return } }
    }

    /// The values of an array of bigints; empty for anything else.
    package func integers(_ row: Int, _ column: Int) -> [Int64] {
        let raw = raw(row, column)
        guard raw.count >= 20 else { return [] }
        // The header has the dimensions, whether there are nulls, the type, the length and the lower bound; then each
        // value follows with its size.
        return stride(from: 20, to: raw.count - 11, by: 12).map {
            Int64(bigEndian: raw.loadUnaligned(fromByteOffset: $0 + 4, as: Int64.self))
        }
    }
}

/// A statement that was sent ahead: its rows have not been requested yet.
package final class StatementAhead {
    let sql: String
    var result: Result<PostgresResult, any Error>?

    /// Whether it runs outside of a transaction.
    let isByItself: Bool

    init(_ sql: String, isByItself: Bool) { (self.sql, self.isByItself) = (sql, isByItself) }
}

/// Rows whose values are read in place: those of a result, or the one that has just arrived.
@usableFromInline package protocol RowCells: AnyObject {
    /// The bytes of a value; empty for NULL.
    func raw(_ row: Int, _ column: Int) -> UnsafeRawBufferPointer

    func isNull(_ row: Int, _ column: Int) -> Bool

    /// Goes from row to row, until the closure says not to go on.
    ///
    /// - Parameter body: receives the number by which values of the row are read, and returns whether to go on.
    /// - Throws: the errors of `body`, and the server's errors if rows have yet to arrive.
    func forEachRow(_ body: (Int) throws -> Bool) throws
}

extension RowCells {
    /// A whole number of any width, or a Boolean; 0 for no value.
    @inlinable @inline(__always)
    package func integer(_ row: Int, _ column: Int) -> Int64 { BinaryNumber.integer(raw(row, column)) }

    /// A floating-point number; 0 for no value.
    @inlinable @inline(__always)
    package func double(_ row: Int, _ column: Int) -> Double { BinaryNumber.double(raw(row, column)) }

    @inlinable @inline(__always)
    package func string(_ row: Int, _ column: Int) -> String {
        String(decoding: raw(row, column), as: UTF8.self)
    }

    @inlinable package func data(_ row: Int, _ column: Int) -> Data { Data(raw(row, column)) }

    @inlinable package func uuid(_ row: Int, _ column: Int) -> UUID? {
        let raw = raw(row, column)
        return raw.count == 16 ? UUID(uuid: raw.loadUnaligned(as: uuid_t.self)) : nil
    }

    @inlinable package func timestamp(_ row: Int, _ column: Int) -> Timestamp {
        Timestamp(microseconds: integer(row, column))
    }

    package func numeric(_ row: Int, _ column: Int) -> Numeric? { Numeric(raw(row, column)) }
}

/// Numbers from the binary form in which the server sends them.
@usableFromInline package enum BinaryNumber {
    /// A whole number of any width.
    @inlinable @inline(__always)
    package static func integer(_ raw: UnsafeRawBufferPointer) -> Int64 {
        switch raw.count {
        case 8: Int64(bigEndian: raw.loadUnaligned(as: Int64.self))
        case 4: Int64(Int32(bigEndian: raw.loadUnaligned(as: Int32.self)))
        case 2: Int64(Int16(bigEndian: raw.loadUnaligned(as: Int16.self)))
        case 1: Int64(raw[0])
        default: 0
        }
    }

    /// A floating-point number of either width; 0 for no value.
    @inlinable @inline(__always)
    package static func double(_ raw: UnsafeRawBufferPointer) -> Double {
        switch raw.count {
        case 8: return Double(bitPattern: UInt64(bigEndian: raw.loadUnaligned(as: UInt64.self)))
        case 4: return Double(Float(bitPattern: UInt32(bigEndian: raw.loadUnaligned(as: UInt32.self))))
        default: return 0
        }
    }
}
