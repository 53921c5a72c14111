import CPippinPQ
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

/// A decimal number of any length: digits in groups of four, as in PostgreSQL.
package struct Numeric: BinaryValue, Hashable, Sendable {
    /// The groups, each below 10,000, the most significant first.
    private var groups: [Int16] = []
    /// The power of 10,000 of the first group.
    private var weight: Int16 = 0
    private var sign: UInt16 = 0
    /// How many digits after the point are shown.
    private var scale: Int16 = 0

    private static let notANumber: UInt16 = 0xC000
    private static let negative: UInt16 = 0x4000

    /// Reads a number such as `-12.5`, without an exponent; nil for anything else.
    package init?(_ text: String) {
        var digits = Array(text.utf8)
        if digits.first == UInt8(ascii: "-") {
            sign = Self.negative
            digits.removeFirst()
        }
        let point = digits.firstIndex(of: UInt8(ascii: ".")) ?? digits.count
        var whole = Array(digits[..<point])
        var fraction = point < digits.count ? Array(digits[(point + 1)...]) : []
        guard !whole.isEmpty || !fraction.isEmpty,
            (whole + fraction).allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }),
            fraction.count < 16384, whole.count <= 131_068
        else { return nil }
        scale = Int16(fraction.count)
        let zero = UInt8(ascii: "0")
        while whole.count % 4 != 0 { whole.insert(zero, at: 0) }
        while fraction.count % 4 != 0 { fraction.append(zero) }
        weight = Int16(whole.count / 4) - 1
        let all = whole + fraction
        for start in stride(from: 0, to: all.count, by: 4) {
            groups.append(all[start..<start + 4].reduce(Int16(0)) { $0 * 10 + Int16($1 - zero) })
        }
        while groups.first == 0 {
            groups.removeFirst()
            weight -= 1
        }
        while groups.last == 0 { groups.removeLast() }
        if groups.isEmpty { (weight, sign) = (0, 0) }
    }

    /// Reads the binary form.
    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count >= 8 else { return nil }
        func number(_ position: Int) -> Int16 {
            Int16(bigEndian: bytes.loadUnaligned(fromByteOffset: position * 2, as: Int16.self))
        }
        let count = Int(number(0))
        guard count >= 0, bytes.count >= 8 + count * 2 else { return nil }
        weight = number(1)
        sign = UInt16(bitPattern: number(2))
        scale = number(3)
        groups = (0..<count).map { number(4 + $0) }
    }

    package static var type: PostgresType { .numeric }
    package var binaryCount: Int { 8 + groups.count * 2 }

    package func write(to values: inout BinaryValues) {
        values.append(Int16(groups.count))
        values.append(weight)
        values.append(sign)
        values.append(scale)
        for group in groups { values.append(group) }
    }

    /// Whether this is NaN or an infinity.
    package var isSpecial: Bool { sign & Self.notANumber == Self.notANumber }

    /// The number in digits, without trailing zeros.
    package var text: String {
        if isSpecial { return "NaN" }
        func group(_ power: Int) -> Int {
            let index = Int(weight) - power
            return groups.indices.contains(index) ? Int(groups[index]) : 0
        }
        func padded(_ number: Int) -> String {
            let text = String(number)
            return String(repeating: "0", count: 4 - text.count) + text
        }
        var whole = "0"
        if weight >= 0 {
            whole = String(group(Int(weight)))
            for power in stride(from: Int(weight) - 1, through: 0, by: -1) { whole += padded(group(power)) }
        }
        var fraction = ""
        var power = -1
        while Int(weight) - power < groups.count {
            fraction += padded(group(power))
            power -= 1
        }
        while fraction.last == "0" { fraction.removeLast() }
        let text = fraction.isEmpty ? whole : whole + "." + fraction
        return sign == Self.negative ? "-" + text : text
    }
}
