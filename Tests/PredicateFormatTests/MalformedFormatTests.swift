import PredicateFormat
import Testing

@Suite("A format string that does not parse")
struct MalformedFormatTests {
    @Test("is marked at the place, with what was expected and found")
    func message() throws {
        let error = try #require(formatError("name = = 1"))
        #expect(
            error.description == """
                Cannot parse the predicate format at character 8: expected a value, found "=".
                    name = = 1
                           ^
                """)
        #expect(error.localizedDescription == error.description)
        let cocoa = error as NSError
        #expect(cocoa.domain == NSCocoaErrorDomain)
        #expect(cocoa.code == 2048)
    }

    @Test(
        "names what was expected",
        arguments: [
            ("", "expected a predicate, the format string is empty, found the end"),
            ("name", "expected a comparison operator such as ==, > or CONTAINS, found the end"),
            ("name ==", "expected a value, found the end"),
            ("name == 1 2", "expected \"AND\", \"OR\" or the end, found \"2\""),
            ("name == 1 AND", "expected a value, found the end"),
            ("(name == 1", "expected \")\", found the end"),
            ("name == 1)", "expected \"AND\", \"OR\" or the end, found \")\""),
            ("name == 'a", "the string that begins here has no closing quotation mark"),
            ("name == {1, 2", "expected \",\" or \"}\", found the end"),
            ("name CONTAINS[x] 'a'", "\"x\" is not an option of a comparison; expected c, d, n or l, found \"x\""),
            ("name CONTAINS[c 'a'", "expected the options c, d, n or l, and \"]\", found \"'a'\""),
            ("a == 1 == 2", "expected \"AND\", \"OR\" or the end, found \"==\""),
            ("(a == 1) == 2", "expected a value here, found a predicate"),
            ("1 + (a == 1) > 2", "expected a value here, found a predicate"),
            ("and == 1", "expected a value; a key that is a reserved word is written #and, found \"and\""),
            ("a. == 1", "expected a key after \".\", found \"==\""),
            ("a.@foo == 1", "expected one of the collection operators"),
            ("$ == 1", "expected the name of a variable after \"$\""),
            ("a == 12ab", "expected a number, or a key that does not begin with a digit"),
            ("a == %y", "expected a placeholder such as %@, %K or %d"),
            ("a == ?", "unexpected character \"?\""),
            ("foo(a) == 1", "\"foo\" is not a function; expected one of sum:"),
            ("abs(a, b) == 1", "abs: takes 1 arguments, found 2"),
            ("SUBQUERY(a, b, c == 1).@count > 1", "expected a variable such as $item, found \"b\""),
            ("CAST(1, 'Foo') == 1", "\"Foo\" is not a type to cast to; expected one of"),
            ("ANY name", "expected a comparison operator, found the end"),
            ("name MATCHES '('", "\"(\" is not a regular expression for MATCHES"),
            ("a[ == 1", "expected a value, found \"==\""),
            ("name BETWEEN 5", "BETWEEN takes two bounds on its right, such as {1, 10}, not the integer 5"),
            ("name BETWEEN {1, a, 3}", "BETWEEN takes two bounds on its right, such as {1, 10}, not a collection of 3"),
            ("name IN 5", "IN takes a collection or a text on its right, not the integer 5"),
            ("5 CONTAINS 'a'", "CONTAINS takes a collection or a text on its left, not the integer 5"),
            ("NOT ANY a.b BEGINSWITH 5", "BEGINSWITH compares texts, not the integer 5"),
            ("name MATCHES {'a'}", "MATCHES compares texts, not a collection of 1"),
            ("a == 'b\\u12'", "expected four hexadecimal digits of a character after \"\\u\""),
        ])
    func expectation(format: String, reason: String) throws {
        let found = try #require(formatError(format)).reason
        #expect(found.hasPrefix(reason))
    }

    @Test("is refused where users write it if it parses but cannot be evaluated")
    func obstacles() throws {
        let reason = "FUNCTION(…, \"foo\") names a method that is not known here"
        #expect(formatError("a == 1 OR length(FUNCTION(a, 'foo')) == 1")?.reason.hasPrefix(reason) == true)
        #expect(formatError("SUBQUERY(a, $x, ANYKEY == 1).@count == 1")?.reason.hasPrefix("ANYKEY") == true)
    }

    @Test("is counted in characters, not in bytes")
    func position() throws {
        #expect(formatError("größe == 🍏 ==")?.position == 11)
        #expect(formatError("größe == '🍏' ?")?.position == 13)
    }

    @Test("is refused when it nests too deep, whatever nests")
    func depth() {
        let many = 100_000
        let formats = [
            String(repeating: "(", count: many) + "a == 1" + String(repeating: ")", count: many),
            String(repeating: "NOT ", count: many) + "a == 1",
            String(repeating: "-", count: many) + "a == 1",
            "a == " + String(repeating: "{", count: many),
            "a == 1" + String(repeating: " + 1", count: many),
            "a == " + String(repeating: "abs(", count: many),
            "a" + String(repeating: "[0]", count: many) + " == 1",
            "a == " + String(repeating: "TERNARY(a == ", count: many),
        ]
        for format in formats {
            #expect(
                formatError(format)?.reason.contains("levels of nesting") == true
                    || formatError(format)?.reason == "expected a value, found \"-\"")
        }
    }

    @Test("is read in linear time, whether it parses or not")
    func length() throws {
        let format = "a == 1" + String(repeating: " OR a == 'some text'", count: 50_000)
        let clock = ContinuousClock()
        let time = try clock.measure { _ = try tree(format) }
        #expect(time < .seconds(10))
        #expect(formatError(String(repeating: "a", count: 1_000_000) + " ==")?.position == 1_000_003)
    }
}
