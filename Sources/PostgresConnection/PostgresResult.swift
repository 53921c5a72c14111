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
