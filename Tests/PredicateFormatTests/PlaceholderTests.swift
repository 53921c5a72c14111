import PredicateFormat
import Testing

@Suite("A placeholder")
struct PlaceholderTests {
    private func constant(_ format: String, _ argument: Any?) throws -> Value? {
        guard case .comparison(let comparison) = try tree("a == \(format)", argument),
            case .constant(let value) = comparison.right
        else { return nil }
        return value
    }

    @Test("%@ takes any value")
    func values() throws {
        let uuid = UUID()
        #expect(try constant("%@", "text") == .string("text"))
        #expect(try constant("%@", 42) == .integer(42))
        #expect(try constant("%@", Int16(42)) == .integer(42))
        #expect(try constant("%@", true) == .integer(1))
        #expect(try constant("%@", 4.5) == .double(4.5))
        #expect(try constant("%@", Float(4.5)) == .double(4.5))
        #expect(try constant("%@", NSNumber(value: 4.5)) == .double(4.5))
        #expect(try constant("%@", NSNumber(value: true)) == .integer(1))
        #expect(try constant("%@", Decimal(4.5)) == .decimal(NSDecimalNumber(string: "4.5")))
        #expect(try constant("%@", UInt64.max) == .decimal(NSDecimalNumber(value: UInt64.max)))
        #expect(
            try constant("%@", Date(timeIntervalSinceReferenceDate: 1))
                == .date(Date(timeIntervalSinceReferenceDate: 1)))
        #expect(try constant("%@", uuid) == .uuid(uuid))
        #expect(try constant("%@", Data([1, 2])) == .data(Data([1, 2])))
        #expect(try constant("%@", nil) == .null)
        #expect(try constant("%@", NSNull()) == .null)
        #expect(try constant("%@", String?.none as Any) == .null)
        #expect(try constant("%@", NSString("text")) == .string("text"))
        #expect(try constant("%@", "text".prefix(2)) == .string("te"))
    }

    @Test("%@ takes collections of values")
    func collections() throws {
        let numbers = Value.collection([.integer(1), .integer(2)])
        #expect(try constant("%@", [1, 2]) == numbers)
        #expect(try constant("%@", [1, 2] as NSArray) == numbers)
        #expect(try constant("%@", 1...2) == numbers)
        #expect(try constant("%@", Set(["a"])) == .collection([.string("a")]))
        #expect(try constant("%@", NSSet(object: "a")) == .collection([.string("a")]))
        #expect(try constant("%@", ["a", nil] as [String?]) == .collection([.string("a"), .null]))
    }

    @Test("%K takes a key path")
    func keyPath() throws {
        let expected = PredicateTree.comparison(ComparisonTree(.key("author.name"), .equalTo, .constant(.integer(1))))
        #expect(try tree("%K == 1", "author.name") == expected)
        #expect(try tree("author.%K == 1", "name") == expected)
        #expect(try tree("%K.name == 1", "author") == expected)
        #expect(try tree("%K.%K == %@", "author", "name", 1) == expected)
    }

    @Test("%K makes a key of a reserved word or of any text, never anything else")
    func keyPathIsOpaque() throws {
        let key = "x == 1 OR 'a"
        let expected = PredicateTree.comparison(ComparisonTree(.keyPath([key]), .equalTo, .constant(.integer(1))))
        #expect(try tree("%K == 1", key) == expected)
        #expect(try tree("%K == 1", "select") == tree("select == 1"))
        #expect(try tree("%K == 1", "in") == tree("#in == 1"))
    }

    @Test(
        "knows all of C's spellings for numbers",
        arguments: ["%d", "%i", "%u", "%ld", "%lu", "%lld", "%llu", "%x", "%hd", "%zd", "%qi", "%lud"])
    func integers(placeholder: String) throws {
        #expect(try constant(placeholder, 42) == .integer(42))
    }

    @Test("takes every number if it is for floating-point ones", arguments: ["%f", "%g", "%e", "%lf", "%.2f", "%5.1f"])
    func doubles(placeholder: String) throws {
        #expect(try constant(placeholder, 4.5) == .double(4.5))
        #expect(try constant(placeholder, 4) == .double(4))
    }

    @Test("stands anywhere a value can")
    func anywhere() throws {
        let expected = try tree("SUBQUERY(books, $b, $b.year > 1990 + 1).@count IN {2, 3}")
        #expect(try tree("SUBQUERY(books, $b, $b.year > %d + %@).@count IN {%@, 3}", 1990, 1, 2) == expected)
    }

    @Test("The array form takes the same arguments")
    func argumentArray() throws {
        let predicate = NSPredicate(format: "a == %@ AND %K < %d", argumentArray: ["x", "b", 3])
        #expect(try predicateTree(of: predicate) == tree("a == 'x' AND b < 3"))
        #expect(try predicateTree(of: NSPredicate(format: "a == 1", argumentArray: nil)) == tree("a == 1"))
    }

    @Test("Arguments without a placeholder are ignored where Core Data cannot count them")
    func surplus() throws {
        #expect(formatString(of: NSPredicate(format: "a == 1", [])) == "a == 1")
        #expect(formatString(of: NSPredicate(format: "a == %d", 1, "b")) == "a == 1")
        #expect(formatString(of: NSPredicate(format: "a == %@", argumentArray: ["x", "y"])) == "a == \"x\"")
        #expect(formatString(of: NSPredicate(format: "%K == %d", "a", 1, 2)) == "a == 1")
        let none: [Any] = []
        #expect(NSExpression(format: "@sum.id", none).description == NSExpression(format: "@sum.id").description)
        #expect(NSExpression(format: "a + %d", argumentArray: [1, 2]).description == "a + 1")
        #expect(throws: PredicateFormatError.self) { try NSPredicate(parsing: "a == 1", arguments: [1]) }
        #expect(throws: PredicateFormatError.self) { try NSExpression(parsing: "a", arguments: [1]) }
    }

    @Test("An argument too few or too many is an error that counts them")
    func count() {
        #expect(formatError("a == %@ AND b == %@", 1)?.reason == "expected 2 arguments, one a placeholder, found 1")
        #expect(formatError("a == %@ AND b == %@", 1)?.position == 17)
        #expect(formatError("a == 1", 1)?.reason == "expected 0 arguments, one a placeholder, found 1")
        #expect(formatError("%K == 1")?.reason == "there is no argument for this placeholder; 0 are given")
    }

    @Test("An argument that does not fit is an error that names both")
    func kind() {
        #expect(
            formatError("a == %d", "x")?.reason
                == "this placeholder takes an integer, not the string \"x\"; %@ takes any value")
        #expect(
            formatError("a == %d", 1.5)?.reason
                == "this placeholder takes an integer, not the number 1.5; %@ takes any value")
        #expect(formatError("a == %f", nil)?.reason == "this placeholder takes a number, not nil; %@ takes any value")
        #expect(formatError("%K == 1", 7)?.reason == "%K takes a key path as a string, not the integer 7")
        #expect(
            formatError("%K == 1", "a..b")?.reason == "\"a..b\" is not a key path: keys are separated by single dots")
    }
}
