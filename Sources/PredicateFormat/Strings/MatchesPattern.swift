import Foundation

/// The right side of `MATCHES`: a regular expression of ICU that the whole string must match.
///
/// - Note: `@unchecked Sendable`: `NSRegularExpression` never changes and is documented as safe on all threads.
package struct MatchesPattern: @unchecked Sendable {
    private enum Engine {
        case plain(PlainExpression)
        case full(NSRegularExpression)
    }

    private let engine: Engine
    private let foldingOptions: StringOptions

    /// Nil for a pattern that is no regular expression.
    package init?(_ pattern: String, options: StringOptions) {
        // Folding case would turn `\S` into `\s`: that is left to the expression.
        foldingOptions = options.subtracting(.caseInsensitive)
        let ignoresCase = options.contains(.caseInsensitive) && !options.contains(.normalized)
        let folded = pattern.folded(foldingOptions)
        if !ignoresCase, let plain = PlainExpression(folded) {
            engine = .plain(plain)
            return
        }
        // The pattern must be one by itself: `a)|(b` is none. Foundation takes the empty one for none.
        guard pattern.isEmpty || (try? NSRegularExpression(pattern: pattern)) != nil,
            // As on Apple's platforms, `^` and `$` match at line breaks, and a dot matches one.
            let expression = try? NSRegularExpression(
                pattern: "^(?:\(folded))\\z",
                options: ignoresCase
                    ? [.anchorsMatchLines, .dotMatchesLineSeparators, .caseInsensitive]
                    : [.anchorsMatchLines, .dotMatchesLineSeparators])
        else { return nil }
        engine = .full(expression)
    }

    /// Whether the whole string matches the pattern.
    package func matches(_ string: String) -> Bool {
        let text = foldingOptions.isEmpty ? string : string.folded(foldingOptions)
        switch engine {
        case .plain(let expression): return expression.matches(text)
        case .full(let expression):
            let whole = NSRange(location: 0, length: text.utf16.count)
            return expression.firstMatch(in: text, options: [.anchored], range: whole) != nil
        }
    }

    private static let cache = PatternCache<MatchesPattern>()

    /// The pattern, compiled once while it is used again and again.
    package static func cached(_ pattern: String, options: StringOptions) -> MatchesPattern? {
        cache.pattern(pattern, options) { MatchesPattern($0, options: $1) }
    }
}
