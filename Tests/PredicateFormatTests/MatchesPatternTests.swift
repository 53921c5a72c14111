import Foundation
import PredicateFormat
import Testing

/// The usual expressions are matched without `NSRegularExpression`, which says what they mean.
@Suite("MATCHES")
struct MatchesPatternTests {
    private static let patterns = [
        "", ".", ".*", ".+", ".?", "a", "a*", "a+b?", "a*a", "a*b*c*", "[a-c]+", "[^a]", "[^a]*b", "[a-zA-Z0-9_]+",
        #"\."#,
        #"a\*b"#, #"\\"#, "é", "é*", "🍏+", "a.c", "a..c", ".\n", "..", "...", ".*b.*", "[ab][ab]?", "a b", "[a b]*",
        "x?y?z?", #"a\+"#, "-", "a-b",
        "[,.]+",
        // These are left to NSRegularExpression, or are none.
        "(a|b)*", "a|b", "a{2}", #"\d+"#, "^a", "a$", "[[:alpha:]]", "a*?", "a++", #"\w"#, "[a-]", "[]", "[^]", "*",
        "a**", "[b-a]",
        #"[\]]"#, "(", "]", "}", #"\"#, "(?i)a", "[a&&b]",
    ]

    private static let texts = [
        "", "a", "b", "c", "aa", "ab", "abc", "a.c", "a\nc", "a\u{2028}c", "\n", "\r\n", "\r", "a\r\nc", "a\rc",
        "\r\r\n\n", "é", "e\u{301}", "🍏", "🍏🍏",
        "a*b", "\\", "A",
        "a b", "a+", "-", "a-b", "x", "xz", "zyx", ",.", "_9", "aab", "\u{85}", "\u{b}", "]", "}", "a\u{0}", "\u{0}",
    ]

    @Test("means what NSRegularExpression says of the whole string", arguments: patterns)
    func agrees(pattern: String) {
        let matches = MatchesPattern(pattern, options: [])
        let expression = try? NSRegularExpression(
            pattern: "^(?:\(pattern))\\z", options: [.anchorsMatchLines, .dotMatchesLineSeparators])
        guard let matches, let expression else {
            #expect(matches == nil && (try? NSRegularExpression(pattern: pattern)) == nil)
            return
        }
        for text in Self.texts {
            let whole = NSRange(location: 0, length: text.utf16.count)
            let expected = expression.firstMatch(in: text, options: [.anchored], range: whole) != nil
            #expect(matches.matches(text) == expected, "\(text.debugDescription)")
        }
    }

    @Test("follows the options [c] and [d]")
    func options() {
        #expect(MatchesPattern("[a-c]+", options: .caseInsensitive)?.matches("aBC") == true)
        #expect(MatchesPattern("e+", options: .diacriticInsensitive)?.matches("éè") == true)
        #expect(MatchesPattern("e+", options: [])?.matches("é") == false)
        #expect(MatchesPattern("e", options: [.normalized, .caseInsensitive])?.matches("E") == false)
    }
}

@Suite("LIKE")
struct LikePatternTests {
    @Test(
        "takes ? for one character and * for any number, of whatever length in bytes",
        arguments: [
            ("?", "é", true), ("?", "🍏", true), ("?", "e\u{301}", false), ("??", "e\u{301}", true), ("*é", "eé", true),
            ("*?é*", "éé", true), ("*?é*", "é", false), ("🍏*", "🍏", true), ("*🍏?", "🍏🍎", true), ("a*a*a", "aa", false),
            ("*aab", "aaab", true), ("*a?b*", "xaab", true), (#"\*"#, "*", true), (#"\*"#, "a", false),
            (#"a\"#, #"a\"#, true),
            ("", "", true), ("", "a", false), ("*", "", true), ("**", "a", true), ("?*?", "a", false),
            ("ab", "abc", false),
        ])
    func characters(pattern: String, text: String, fits: Bool) {
        #expect(LikePattern(pattern, options: []).matches(text) == fits)
    }
}
