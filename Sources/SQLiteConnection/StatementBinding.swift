import CSQLite
import Foundation

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
