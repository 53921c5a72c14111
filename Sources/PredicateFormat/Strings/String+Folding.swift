import Foundation

extension String {
    /// The string without the differences that the options ignore: two strings are equal by the options if their
    /// foldings are literally equal. A store's SQL functions must fold in the same way.
    package func folded(_ options: StringOptions) -> String {
        let ignoresCase = options.contains(.caseInsensitive)
        let ignoresDiacritics = options.contains(.diacriticInsensitive)
        if options.contains(.normalized) || !(ignoresCase || ignoresDiacritics) { return self }
        let isLocal = options.contains(.localeSensitive)
        if !isLocal, let ascii = foldedASCII(ignoresCase) { return ascii }
        var compareOptions: String.CompareOptions = []
        if ignoresCase { compareOptions.insert(.caseInsensitive) }
        if ignoresDiacritics { compareOptions.insert(.diacriticInsensitive) }
        return folding(options: compareOptions, locale: isLocal ? .current : nil)
    }

    /// The folding of a string of ASCII characters, which have no diacritics; nil for others.
    private func foldedASCII(_ ignoresCase: Bool) -> String? {
        var hasUppercase = false
        for byte in utf8 {
            if byte >= 0x80 { return nil }
            if byte >= 0x41 && byte <= 0x5A { hasUppercase = true }
        }
        guard ignoresCase, hasUppercase else { return self }
        let count = utf8.count
        return String(unsafeUninitializedCapacity: count) { buffer in
            var index = 0
            for byte in utf8 {
                buffer[index] = byte >= 0x41 && byte <= 0x5A ? byte | 0x20 : byte
                index += 1
            }
            return count
        }
    }
}

extension String {
    /// Whether the string begins with the bytes of another one. Every string begins with the empty one.
    package func literallyBegins(with prefix: String) -> Bool {
        utf8.starts(with: prefix.utf8)
    }

    /// Whether the string ends with the bytes of another one.
    package func literallyEnds(with suffix: String) -> Bool {
        let count = suffix.utf8.count
        return utf8.count >= count && utf8.suffix(count).elementsEqual(suffix.utf8)
    }

    /// Whether this string contains the bytes of another one.
    package func literallyContains(_ part: String) -> Bool {
        let found = utf8.withContiguousStorageIfAvailable { text in
            part.utf8.withContiguousStorageIfAvailable { part in
                UnsafeRawBufferPointer(text).contains(UnsafeRawBufferPointer(part))
            }
        }
        if let found, let found { return found }
        return Array(utf8).withUnsafeBytes { text in
            Array(part.utf8).withUnsafeBytes { part in text.contains(part) }
        }
    }
}

extension UnsafeRawBufferPointer {
    fileprivate func contains(_ part: UnsafeRawBufferPointer) -> Bool {
        guard let needle = part.baseAddress, !part.isEmpty else { return true }
        guard let haystack = baseAddress, count >= part.count else { return false }
        var start = haystack
        var left = count
        // The C library finds the first byte faster than a loop can.
        while left >= part.count, let found = memchr(start, Int32(part[0]), left - part.count + 1) {
            if memcmp(found, needle, part.count) == 0 { return true }
            left -= UnsafeRawPointer(found) - start + 1
            start = UnsafeRawPointer(found) + 1
        }
        return false
    }
}

extension String {
    /// Whether two strings have the same bytes. Swift's `==` also holds for canonically equivalent strings, which
    /// differ for `isEqual(_:)` and for SQLite.
    package func isLiterallyEqual(to other: String) -> Bool {
        let fast = utf8.withContiguousStorageIfAvailable { first in
            other.utf8.withContiguousStorageIfAvailable { second in
                first.count == second.count && first.elementsEqual(second)
            }
        }
        if let fast, let fast { return fast }
        return utf8.elementsEqual(other.utf8)
    }

    /// The order of the strings' bytes, which is that of their Unicode scalars, and that of SQLite.
    package func literalComparison(with other: String) -> ComparisonResult {
        if utf8.lexicographicallyPrecedes(other.utf8) { return .orderedAscending }
        return isLiterallyEqual(to: other) ? .orderedSame : .orderedDescending
    }
}
