import Foundation

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
