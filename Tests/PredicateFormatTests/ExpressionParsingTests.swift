import PredicateFormat
import Testing

@Suite("An expression in a format string")
struct ExpressionParsingTests {
    private func expression(_ format: String, _ arguments: Any?...) throws -> ExpressionTree {
        expressionTree(of: try NSExpression(parsing: format, arguments: arguments))
    }

    @Test(
        "may be a constant of any type",
        arguments: [
            ("42", Value.integer(42)), ("-42", .integer(-42)), ("4.25", .double(4.25)), (".5", .double(0.5)),
            ("1e3", .double(1000)), ("2.5E-1", .double(0.25)), ("0x1F", .integer(31)), ("0b101", .integer(5)),
            ("0o17", .integer(15)), ("-9223372036854775808", .integer(.min)),
            ("TRUE", .integer(1)), ("yes", .integer(1)), ("false", .integer(0)), ("NO", .integer(0)),
            ("nil", .null), ("NULL", .null), ("'text'", .string("text")), ("\"text\"", .string("text")),
            ("{}", .collection([])), ("{1, 'a'}", .collection([.integer(1), .string("a")])),
        ])
    func constants(format: String, value: Value) throws {
        #expect(try expression(format) == .constant(value))
    }

    @Test("may be a UUID by its digits; a difference of the same digits has spaces")
    func identifiers() throws {
        let numbers = "12345678-1234-1234-1234-123456789012"
        for digits in ["E621E1F8-C36C-495A-93FC-0C247A3E6E5F", "e621e1f8-c36c-495a-93fc-0c247a3e6e5f", numbers] {
            let uuid = Value.uuid(try #require(UUID(uuidString: digits)))
            #expect(try expression(digits) == .constant(uuid))
            #expect(try expression("{\(digits),\(digits)}") == .constant(.collection([uuid, uuid])))
        }
        for other in [numbers + "3", String(numbers.dropLast()), "a" + numbers, numbers.replacing("-", with: " - ")] {
            if case .function = try expression(other) { continue }
            Issue.record("\(other) is no difference")
        }
    }

    @Test("may be an integer of more than 64 bits, which becomes a decimal")
    func largeInteger() throws {
        #expect(
            try expression("18446744073709551616")
                == .constant(.decimal(NSDecimalNumber(string: "18446744073709551616"))))
    }

    @Test(
        "is a string with escapes",
        arguments: [
            (#"'it\'s'"#, "it's"), (#""say \"hi\"""#, "say \"hi\""), (#"'a\\b'"#, #"a\b"#), (#"'a\nb'"#, "a\nb"),
            (#"'\u00e9'"#, "é"), (#"'50%'"#, "50%"), (#"'%@'"#, "%@"), (#"'a\.b'"#, "a.b"), ("'🍏'", "🍏"),
        ])
    func strings(format: String, text: String) throws {
        #expect(try expression(format) == .constant(.string(text)))
    }

    @Test("is a key path")
    func keyPaths() throws {
        #expect(try expression("name") == .keyPath(["name"]))
        #expect(try expression("author.name") == .keyPath(["author", "name"]))
        #expect(try expression("SELF") == .evaluatedObject)
        #expect(try expression("self.author.name") == .keyPath(["author", "name"]))
        #expect(try expression("größe_2") == .keyPath(["größe_2"]))
        #expect(try expression("author.select.in") == .keyPath(["author", "select", "in"]))
    }

    @Test("has reserved words as keys after a number sign")
    func reserved() throws {
        #expect(try expression("#in") == .keyPath(["in"]))
        #expect(try expression("#all.#any") == .keyPath(["all", "any"]))
        #expect(try expression("first") == .keyPath(["first"]))
        #expect(try expression("size.last") == .keyPath(["size", "last"]))
    }

    @Test("has collection operators in key paths")
    func collectionOperators() throws {
        #expect(try expression("books.@count") == .keyPath(["books", "@count"]))
        #expect(try expression("books.@avg.year") == .keyPath(["books", "@avg", "year"]))
        #expect(try expression("@max.age") == .keyPath(["@max", "age"]))
    }

    @Test("is a variable, with keys or without")
    func variables() throws {
        #expect(try expression("$x") == .variable("x"))
        #expect(try expression("$x.author.name") == .path(from: .variable("x"), ["author", "name"]))
    }

    @Test("has an index in brackets")
    func indices() throws {
        #expect(try expression("books[0]") == .element(of: .key("books"), at: .at(.constant(.integer(0)))))
        #expect(try expression("books[FIRST]") == .element(of: .key("books"), at: .first))
        #expect(try expression("books[last]") == .element(of: .key("books"), at: .last))
        #expect(try expression("a.books[SIZE]") == .element(of: .key("a.books"), at: .size))
        let title = ExpressionTree.path(from: .element(of: .key("books"), at: .first), ["title"])
        #expect(try expression("books[FIRST].title") == title)
    }

    @Test("computes with the usual precedence")
    func arithmetic() throws {
        let (a, b, c) = (ExpressionTree.key("a"), ExpressionTree.key("b"), ExpressionTree.key("c"))
        #expect(try expression("a + b * c") == .function(.add, [a, .function(.multiply, [b, c])]))
        #expect(try expression("(a + b) * c") == .function(.multiply, [.function(.add, [a, b]), c]))
        #expect(try expression("a - b - c") == .function(.subtract, [.function(.subtract, [a, b]), c]))
        #expect(try expression("a * b ** c") == .function(.multiply, [a, .function(.power, [b, c])]))
        #expect(try expression("-a / b") == .function(.divide, [.function(.negate, [a]), b]))
        #expect(try expression("a %% b") == .function(.modulus, [a, b]))
        #expect(try expression("a & b | c") == .function(.bitwiseOr, [.function(.bitwiseAnd, [a, b]), c]))
    }

    @Test("calls functions, with colons or without")
    func functions() throws {
        #expect(try expression("now()") == .function(.now, []))
        #expect(try expression("lowercase(name)") == .function(.lowercase, [.key("name")]))
        #expect(try expression("sum:(prices)") == .function(.sum, [.key("prices")]))
        #expect(try expression("length:(name)") == .function(.length, [.key("name")]))
        let two = [ExpressionTree.constant(.integer(7)), .constant(.integer(2))]
        #expect(try expression("modulus:by:(7, 2)") == .function(.modulus, two))
        #expect(try expression("from:subtract:(7, 2)") == .function(.subtract, two))
        #expect(try expression("random()") == .function(.random, []))
        #expect(try expression("random(6)") == .function(.randomBelow, [.constant(.integer(6))]))
    }

    @Test("FUNCTION names the method as a string")
    func functionKeyword() throws {
        let call = ExpressionTree.call(on: .key("name"), name: "stringByAppendingString:", arguments: [.key("suffix")])
        #expect(try expression("FUNCTION(name, 'stringByAppendingString:', suffix)") == call)
        #expect(try expression("function") == .keyPath(["function"]))
    }

    @Test("SUBQUERY binds a variable in its predicate")
    func subquery() throws {
        let condition = PredicateTree.comparison(
            ComparisonTree(.path(from: .variable("b"), ["year"]), .greaterThan, .constant(.integer(1990))))
        let subquery = ExpressionTree.subquery(of: .key("books"), variable: "b", condition)
        #expect(try expression("SUBQUERY(books, $b, $b.year > 1990)") == subquery)
        #expect(try expression("subquery(books, $b, $b.year > 1990).@count") == .path(from: subquery, ["@count"]))
    }

    @Test("TERNARY, CAST and set operations")
    func others() throws {
        let condition = PredicateTree.comparison(ComparisonTree(.key("a"), .greaterThan, .constant(.integer(1))))
        #expect(
            try expression("TERNARY(a > 1, b, 'none')")
                == .conditional(condition, then: .key("b"), otherwise: .constant(.string("none"))))
        #expect(try expression("CAST(a, 'NSDate')") == .cast(.key("a"), to: .constant(.string("NSDate"))))
        let date = Date(timeIntervalSinceReferenceDate: 60)
        #expect(try expression("CAST(60, 'NSDate')") == .constant(.date(date)))
        #expect(try expression("a UNION b") == .set(.union, .key("a"), .key("b")))
        #expect(try expression("a minus b") == .set(.minus, .key("a"), .key("b")))
        #expect(try expression("{a, 1}") == .aggregate([.key("a"), .constant(.integer(1))]))
    }
}
