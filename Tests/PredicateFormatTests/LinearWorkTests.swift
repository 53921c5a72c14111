import Foundation
import PredicateFormat
import TestSupport
import Testing

/// What comes from users may be large. Four times the size may take four times the work, with room for noise, and not
/// sixteen times.
@Suite("A large format string", .serialized)
struct LinearWorkTests {
    @Test(
        "takes work in proportion to its size",
        arguments: [
            Repeated("a == 1", "", " AND a == 1"),
            Repeated("a == 1", "", " OR b BETWEEN {1, 2}"),
            Repeated("a IN {1", "}", ", 'x'"),
            Repeated("a == '", "'", "é\\n"),
            Repeated("a", " == 1", ".b"),
            Repeated("a == 1", "", "          "),
            Repeated("a == 1.", "", "1234567890"),
            Repeated("a == CAST('", "', 'NSDate')", "1"),
            Repeated("", "a == 1", "NOT "),
            Repeated("a == SUBQUERY(b, $x, a == 1", ")", " AND $x.c > 2"),
            Repeated("a == 1 OR ", "", "b.c.d == 'e' OR "),
            Repeated("a IN {1", "}", ", E621E1F8-C36C-495A-93FC-0C247A3E6E5F"),
            Repeated("a == ", "1", "12345678-"),
            Repeated("a == '", "", "no end "),
        ])
    func parsing(_ repeated: Repeated) {
        let growth = growth { size in
            let format = repeated.text(size)
            return { _ = try? predicateTree(parsing: format) }
        }
        #expect(growth < 10, "\(repeated)")
    }

    @Test("prints in proportion to its size", arguments: [("a == 1", " AND a == 1"), ("a IN {1, 2", ", 'x\"'")])
    func printing(start: String, part: String) throws {
        let growth = try growth { size in
            let end = start.contains("{") ? "}" : ""
            let tree = try predicateTree(parsing: Repeated(start, end, part).text(size))
            return { _ = tree.format }
        }
        #expect(growth < 10)
    }

    @Test("is parsed or refused at 1 MB, whatever is in it")
    func oneMegabyte() throws {
        let size = 1 << 20
        let tree = try predicateTree(parsing: Repeated("a == 1", "", " AND a == 1").text(size))
        guard case .and(let parts) = tree else {
            Issue.record("no conjunction")
            return
        }
        #expect(parts.count == size / " AND a == 1".utf8.count + 1)
        for opening in [
            "(", "{", "NOT (", "-", "!", "~", "a[", "a.b[", "SUBQUERY(", "TERNARY(", "CAST(", "length(", "1+(",
        ] {
            #expect(throws: PredicateFormatError.self) {
                _ = try predicateTree(parsing: Repeated("", "a == 1", opening).text(size))
            }
        }
    }

    @Test("is refused with the reason if it nests deeper than 200 levels")
    func nesting() {
        for (opening, closing) in [("(", ")"), ("a[", "]"), ("length(", ")"), ("NOT (", ")"), ("-(", ")")] {
            let format = String(repeating: opening, count: 500) + "a == 1" + String(repeating: closing, count: 500)
            #expect(formatError(format)?.reason.contains("200") == true, "\(opening)")
        }
    }

    @Test(
        "makes a pattern that compares in proportion to the string",
        arguments: [("LIKE", "*a*a*b"), ("MATCHES", ".*a.*a.*b"), ("MATCHES", "[a]*[a]*[a]*c?b"), ("LIKE", "?*?*?")])
    func patterns(operation: String, pattern: String) throws {
        let predicate = try NSPredicate(parsing: "SELF \(operation) %@", arguments: [pattern])
        let growth = growth { size in
            let text = String(repeating: "a", count: size)
            return { _ = predicate.evaluate(with: text) }
        }
        #expect(growth < 10)
    }

    struct Repeated: CustomTestStringConvertible {
        let start: String
        let end: String
        let part: String

        init(_ start: String, _ end: String, _ part: String) {
            (self.start, self.end, self.part) = (start, end, part)
        }

        func text(_ size: Int) -> String {
            start + String(repeating: part, count: size / part.utf8.count) + end
        }

        var testDescription: String { "\(start)\(part)…\(end)" }
    }

    /// How many times as much processor time four times the size takes: the least of a few tries, so that what others
    /// do on the machine does not count.
    private func growth(_ make: (Int) throws -> () -> Void) rethrows -> Double {
        func time(_ size: Int) throws -> Double {
            let work = try make(size)
            return (0..<4).map { _ in processorTime(work) }.min() ?? 0
        }
        return try time(160_000) / max(time(40_000), 1e-5)
    }
}
