import PredicateFormat
import Testing

@Suite("The format string of a predicate")
struct PrintingTests {
    @Test(
        "is in Core Data's spelling",
        arguments: [
            ("name = 'Bob'", "name == \"Bob\""), ("age => 18 && age =< 65", "age >= 18 AND age <= 65"),
            ("name <> nil", "name != nil"), ("flag == YES", "flag == 1"),
            ("name contains[dc] 'a'", "name CONTAINS[cd] \"a\""),
            ("a == 1 OR (b == 2 AND c == 3)", "a == 1 OR (b == 2 AND c == 3)"),
            ("(a == 1 AND b == 2)", "a == 1 AND b == 2"), ("!(a == 1 || b == 2)", "NOT (a == 1 OR b == 2)"),
            ("not a == 1", "NOT a == 1"), ("some b.year > 1990", "ANY b.year > 1990"),
            ("none b.year > 1990", "NOT ANY b.year > 1990"),
            ("all b.year > 1990", "ALL b.year > 1990"), ("x between {1,10}", "x BETWEEN {1, 10}"),
            ("x in {'a',\"b\"}", "x IN {\"a\", \"b\"}"),
            ("SELF.name like 'a*'", "name LIKE \"a*\""), ("self == 1", "SELF == 1"), ("truepredicate", "TRUEPREDICATE"),
            ("#select == 1", "select == 1"), ("#in.#all == 1", "#in.#all == 1"), ("price == 7.50", "price == 7.5"),
            ("price == 7.0", "price == 7"),
            ("d == CAST(631152000, 'NSDate')", "d == CAST(631152000.000000, \"NSDate\")"),
            ("subquery(b, $x, $x.year > 1).@count > 0", "SUBQUERY(b, $x, $x.year > 1).@count > 0"),
            ("(a + b) * c - -d > 2 ** 3", "(a + b) * c - -d > 2 ** 3"), ("a - (b - c) == 0", "a - (b - c) == 0"),
            ("a / 2.0 > 1", "a / 2.0 > 1"),
            ("sum(b.price) > 1", "sum:(b.price) > 1"), ("d < now()", "d < now()"),
            ("b[first].x == b[0]", "b[FIRST].x == b[0]"),
            ("ternary(a > 1, b, c) == 1", "TERNARY(a > 1, b, c) == 1"), ("a union {1} == b", "a UNION {1} == b"),
            (#"name == 'say "hi"\\ \n'"#, #"name == "say \"hi\"\\ \n""#),
        ])
    func spelling(format: String, expected: String) throws {
        #expect(try printed(format) == expected)
    }

    @Test(
        "parses back to an equal predicate",
        arguments: [
            "name == \"Bob\" AND (age > 18 OR NOT ANY b.year IN {1, 2.5, \"x\", nil})",
            "a == -5 AND b == -(-5) AND -c < 2 ** -3",
            "a ** (b ** c) == (a ** b) ** c", "~a & 3 | 4 ^ 5 == 1 << 2", "NOT (NOT a == 1)",
            "FUNCTION(a, \"foo:\", b) == 1",
            "CAST(a, \"NSDate\") > CAST(1.25, \"NSDate\")", "a == 1e300 AND b == 2.5e-10 AND c == 1e15",
            "a[b + 1][LAST].c == {1, b}",
            "$x.y == $z", "a == 18446744073709551616", "modulus:by:(a, 2) == 0", "#first == 1 AND #size[SIZE] == 1",
            "a MINUS (b UNION c) == d", "TERNARY(a == 1 OR b == 2, SUBQUERY(c, $d, $d == 1), nil) == {}", "ANYKEY == 1",
            "random() > random:(6)",
            "(a == 1 AND b == 2) AND c == 3",
        ])
    func roundTrip(format: String) throws {
        let first = try tree(format)
        #expect(try tree(first.format) == first)
    }

    @Test("parses back, whatever the arguments")
    func arguments() throws {
        let values: [Any?] = [
            "it's \"q\" \\ \n\t\u{1F34F}\0", -42, Int64.min, 0.1, -1e-300, Double.infinity, Decimal(string: "0.1"),
            Date(), UUID(),
            Data([0, 255]), URL(string: "https://swift.org/?a=1&b='2'"), nil, [1, nil, "x"] as [Any?],
            Date(timeIntervalSinceReferenceDate: -0.1),
        ]
        for value in values {
            let first = try tree("a.b == %@", value)
            #expect(try tree(first.format) == first)
            #expect(try tree("\(makePredicate(first))") == first)
        }
        let odd = try tree("%K == 1 AND %K == 2", "first name.in.@odd.1a", "or\"x\"")
        #expect(try tree(odd.format) == odd)
        #expect(odd.format == ##"#"first name".#in.#"@odd".#"1a" == 1 AND #"or\"x\"" == 2"##)
    }

    @Test("is what the predicate objects print")
    func objects() throws {
        let comparison = try #require(NSPredicate(format: "a = %@", "x") as? NSComparisonPredicate)
        #expect(comparison.predicateFormat == "a == \"x\"")
        #expect(comparison.description == "a == \"x\"")
        #expect("\(NSPredicate(format: "a = 1 or b = 2"))" == "a == 1 OR b == 2")
        #expect("\(NSExpression(format: "a+1"))" == "a + 1")
    }
}
