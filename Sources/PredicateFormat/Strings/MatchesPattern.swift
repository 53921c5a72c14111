import Foundation

/// The right side of `MATCHES`: an ICU regular expression that the whole string must match.
///
/// - Note: `@unchecked Sendable`: `NSRegularExpression` is immutable and documented as thread-safe.
package struct MatchesPattern: @unchecked Sendable {
    private enum Engine {
        case plain(PlainExpression)
        case full(NSRegularExpression)
    }

    private let engine: Engine
    private let pattern: String
    private let foldingOptions: StringOptions

    /// Nil for a pattern that is not a regular expression.
    package init?(_ pattern: String, options: StringOptions) {
        self.pattern = pattern
        // Folding case would turn `\S` into `\s`, so the regular expression ignores case itself.
        foldingOptions = options.subtracting(.caseInsensitive)
        let ignoresCase = options.contains(.caseInsensitive) && !options.contains(.normalized)
        let folded = pattern.folded(foldingOptions)
        if !ignoresCase, let plain = PlainExpression(folded) {
            engine = .plain(plain)
            return
        }
        // The pattern must be valid by itself, which `a)|(b` is not. Foundation refuses the empty pattern.
        guard pattern.isEmpty || (try? NSRegularExpression(pattern: pattern)) != nil,
            // As on Apple's platforms, `^` and `$` match at line breaks, and a dot matches a line break.
            let expression = try? NSRegularExpression(
                pattern: "^(?:\(folded))\\z",
                options: ignoresCase
                    ? [.anchorsMatchLines, .dotMatchesLineSeparators, .caseInsensitive]
                    : [.anchorsMatchLines, .dotMatchesLineSeparators])
        else { return nil }
        engine = .full(expression)
    }

    /// How many progress reports an expression may send, one about every ten thousand steps: some patterns double their
    /// work with every character (`(a+)+b`).
    private static let progressLimit = 500

    /// Whether the whole string matches the pattern. Matching is limited: ``EvaluationFailure`` records a pattern that
    /// exceeds the limit.
    package func matches(_ string: String) -> Bool {
        let text = foldingOptions.isEmpty ? string : string.folded(foldingOptions)
        switch engine {
        case .plain(let expression): return expression.matches(text)
        case .full(let expression):
            return matches(text, expression)
        }
    }

    private func matches(_ text: String, _ expression: NSRegularExpression) -> Bool {
        if EvaluationFailure.isNoted { return false }
        var isMatch = false
        var isExceeded = false
        var reports = 0
        expression.enumerateMatches(
            in: text, options: [.anchored, .reportProgress, .reportCompletion],
            range: NSRange(location: 0, length: text.utf16.count)
        ) { match, flags, stop in
            if match != nil { isMatch = true }
            if flags.contains(.progress) { reports += 1 }
            isExceeded = isExceeded || flags.contains(.internalError) || reports > Self.progressLimit
            if isMatch || isExceeded { stop.pointee = true }
        }
        if isExceeded, !isMatch {
            EvaluationFailure.note(
                "MATCHES \"\(pattern)\" takes too many steps for a text of \(text.count) characters; write the pattern without "
                    + "repetitions within repetitions")
        }
        return isMatch
    }

    private static let cache = PatternCache<MatchesPattern>()

    /// The pattern, compiled once while it is used repeatedly.
    package static func cached(_ pattern: String, options: StringOptions) -> MatchesPattern? {
        cache.pattern(pattern, options) { MatchesPattern($0, options: $1) }
    }
}

/// Why the evaluation of a predicate failed, such as a regular expression that takes too long.
///
/// Predicates return a Boolean, so they cannot throw. The failure is recorded for the thread, and thrown by the code
/// that called ``throwing(_:)`` around the evaluation: fetches, counts, SQL functions. Otherwise it is written to
/// standard error, and the comparison is false.
package enum EvaluationFailure {
    /// The first failure within ``throwing(_:)``; in the thread's dictionary.
    private final class Record: NSObject {
        var reason: String?
    }

    private static let key = "PredicateFormat.EvaluationFailure"

    private static var record: Record? { Thread.current.threadDictionary[key] as? Record }

    /// Runs code that evaluates predicates.
    ///
    /// - Throws: the body's error; an ``UnevaluatedPredicateError`` if the evaluation of a predicate failed.
    package static func throwing<Result>(_ body: () throws -> Result) throws -> Result {
        let outer = record
        let mine = Record()
        Thread.current.threadDictionary[key] = mine
        defer { Thread.current.threadDictionary[key] = outer }
        let result = try body()
        if let reason = mine.reason {
            throw UnevaluatedPredicateError(reason: reason)
        }
        return result
    }

    /// Whether a failure that is noted now will be thrown.
    static var isThrown: Bool { record != nil }

    /// Whether a failure was recorded that will be thrown, so that further work is useless.
    static var isNoted: Bool { record?.reason != nil }

    static func note(_ reason: String) {
        if let record {
            record.reason = record.reason ?? reason
        } else {
            try? FileHandle.standardError.write(contentsOf: Data("Predicate: error: \(reason)\n".utf8))
        }
    }
}

/// Why a predicate could not be evaluated.
package struct UnevaluatedPredicateError: LocalizedError {
    let reason: String
    package var errorDescription: String? { "The predicate cannot be evaluated: \(reason)." }
}

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
