import CSQLite
import Foundation

/// The five kinds of values that SQLite stores.
package enum ColumnKind: Sendable {
    case integer, double, text, blob, null
}

extension Statement {
    /// How many columns a row has.
    package var columnCount: Int { Int(sqlite3_column_count(handle)) }

    /// A column's name.
    package func columnName(at index: Int32) -> String {
        sqlite3_column_name(handle, index).map { String(cString: $0) } ?? ""
    }

    /// The type of the value in a column of the current row.
    @inlinable
    package func kind(at index: Int32) -> ColumnKind {
        switch sqlite3_column_type(handle, index) {
        case SQLITE_INTEGER: return .integer
        case SQLITE_FLOAT: return .double
        case SQLITE_TEXT: return .text
        case SQLITE_BLOB: return .blob
        default: return .null
        }
    }

    /// Whether a column of the current row is NULL.
    @inlinable
    package func isNull(at index: Int32) -> Bool { sqlite3_column_type(handle, index) == SQLITE_NULL }

    /// A column of the current row as an integer, converted by SQLite's rules; 0 for NULL.
    @inlinable
    package func integer(at index: Int32) -> Int64 { sqlite3_column_int64(handle, index) }

    /// A column of the current row as a floating-point number, converted by SQLite's rules; 0 for NULL.
    @inlinable
    package func double(at index: Int32) -> Double { sqlite3_column_double(handle, index) }

    /// A column of the current row as a text, built once from its UTF-8 bytes; empty for NULL. Bytes that are no UTF-8
    /// become U+FFFD.
    @inlinable
    package func string(at index: Int32) -> String {
        guard let bytes = sqlite3_column_text(handle, index) else { return "" }
        let count = Int(sqlite3_column_bytes(handle, index))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    /// How many bytes the text or the blob in a column of the current row has; those of a text in UTF-8.
    package func byteCount(at index: Int32) -> Int { Int(sqlite3_column_bytes(handle, index)) }

    /// Whether a column of the current row is a text with the same bytes.
    package func isText(_ text: String, at index: Int32) -> Bool {
        guard let bytes = sqlite3_column_text(handle, index) else { return false }
        let count = Int(sqlite3_column_bytes(handle, index))
        let isSame = { (utf8: UnsafeBufferPointer<UInt8>) in
            guard utf8.count == count, let start = utf8.baseAddress else { return count == 0 && utf8.isEmpty }
            return memcmp(start, bytes, count) == 0
        }
        // Most texts are contiguous in memory; others are copied.
        if let known = text.utf8.withContiguousStorageIfAvailable(isSame) { return known }
        var copy = text
        return copy.withUTF8(isSame)
    }

    /// A column of the current row as a text; nil for NULL.
    @inlinable
    package func optionalString(at index: Int32) -> String? {
        guard let bytes = sqlite3_column_text(handle, index) else { return nil }
        let count = Int(sqlite3_column_bytes(handle, index))
        return String(decoding: UnsafeBufferPointer(start: bytes, count: count), as: UTF8.self)
    }

    /// A column of the current row as bytes; empty for NULL.
    package func data(at index: Int32) -> Data {
        guard let bytes = sqlite3_column_blob(handle, index) else { return Data() }
        return Data(bytes: bytes, count: Int(sqlite3_column_bytes(handle, index)))
    }

    /// A column of the current row as a UUID; nil unless it is a blob of 16 bytes.
    package func uuid(at index: Int32) -> UUID? {
        guard let bytes = sqlite3_column_blob(handle, index), sqlite3_column_bytes(handle, index) == 16 else {
            return nil
        }
        return UUID(uuid: bytes.loadUnaligned(as: uuid_t.self))
    }
}
