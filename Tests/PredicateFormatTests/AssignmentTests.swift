import PredicateFormat
import Testing

/// `$name := expression`, from Cocoa's grammar of predicates.
@Suite("An assignment")
struct AssignmentTests {
    @Test("is the value that it assigns, which the variable has from then on")
    func value() throws {
        #expect(try evaluate(nil, "($a := 5) == 5 AND $a + 1 == 6"))
        #expect(try evaluate(["price": 3], "($twice := price * 2) > 5 AND $twice < 7"))
        #expect(try evaluate(["prices": [1, 2]], "SUBQUERY(prices, $p, ($d := $p * 2) == 4 AND $d == 4).@count == 1"))
        #expect(try !evaluate(["a": 1], "TERNARY(($x := a) == 1, $x + 1, 0) == 1"))
    }

    @Test("does not outlive the evaluation")
    func scope() throws {
        let predicate = try NSPredicate(parsing: "($a := SELF) == SELF AND $a == 1")
        #expect(predicate.evaluate(with: 1))
        #expect(!predicate.evaluate(with: 2))
        #expect(predicate.evaluate(with: 1, substitutionVariables: ["a": 7]))
    }

    @Test(
        "prints as it is written, in parentheses within an expression",
        arguments: [
            ("$a:=5 == 5", "$a := 5 == 5"), ("($a := b).c == 1", "($a := b).c == 1"),
            ("1 + ($a := 2) == 3", "1 + ($a := 2) == 3"), ("{$a := 1, 2} == b", "{$a := 1, 2} == b"),
            ("$a := $b := 1 == 1", "$a := $b := 1 == 1"),
        ])
    func printing(format: String, expected: String) throws {
        #expect(try printed(format) == expected)
        #expect(try tree(expected) == tree(format))
    }

    @Test("needs a value after its name")
    func malformed() throws {
        #expect(formatError("$a := == 1")?.reason == "expected a value, found \"==\"")
        #expect(formatError("a := 1 == 1") != nil)
        let deep = String(repeating: "$a := ", count: 100_000) + "1 == 1"
        #expect(formatError(deep)?.reason.contains("levels of nesting") == true)
    }

    @Test("is an expression of the type of its variable")
    func parts() throws {
        let expression = try NSExpression(parsing: "$a := b + 1")
        #expect(expression.expressionType == .variable)
        #expect(expression.variable == "a")
    }
}
