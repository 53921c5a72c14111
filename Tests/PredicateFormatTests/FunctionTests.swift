import Foundation
import PredicateFormat
import Testing

@Suite("A function called by name")
struct MethodFunctionTests {
    @Test(
        "is a method of Foundation's values",
        arguments: [
            ("FUNCTION('Emma', 'length') == 4", true),
            ("FUNCTION(name, 'uppercaseString') == 'EMMA'", true),
            ("FUNCTION(name, 'stringByAppendingString:', '!') == 'emma!'", true),
            ("FUNCTION(name, 'hasPrefix:', 'em') == YES", true),
            ("FUNCTION(name, 'containsString:', 'x') == YES", false),
            ("FUNCTION('a,b', 'componentsSeparatedByString:', ',')[1] == 'b'", true),
            ("FUNCTION('12', 'intValue') == 12", true),
            ("FUNCTION(7.9, 'intValue') == 7", true),
            ("FUNCTION(7, 'stringValue') == '7'", true),
            ("FUNCTION(CAST(10, 'NSDate'), 'timeIntervalSinceDate:', CAST(4, 'NSDate')) == 6", true),
            ("FUNCTION(CAST(10, 'NSDate'), 'dateByAddingTimeInterval:', 5) == CAST(15, 'NSDate')", true),
            ("FUNCTION({1, 2}, 'containsObject:', 2) == YES", true),
            ("FUNCTION({1, 2}, 'lastObject') == 2", true),
            ("FUNCTION(SELF, 'valueForKey:', 'name') == 'emma'", true),
            ("FUNCTION(missing, 'uppercaseString') == nil", true),
            ("FUNCTION(name, 'timeIntervalSince1970') == nil", true),
        ])
    func standard(format: String, expected: Bool) throws {
        #expect(try evaluate(["name": "emma"], format) == expected)
    }

    @Test(
        "is a key of a URL or a UUID, too",
        arguments: [
            "page.absoluteString == 'https://example.org/a/b.txt?q=1#end'", "page.scheme == 'https'",
            "page.host == 'example.org'", "page.path == '/a/b.txt'", "page.lastPathComponent == 'b.txt'",
            "page.pathExtension == 'txt'", "page.query == 'q=1'", "page.fragment == 'end'", "page.length == nil",
            "FUNCTION(page, 'absoluteString') BEGINSWITH 'https:'",
            "id.UUIDString == 'E621E1F8-C36C-495A-93FC-0C247A3E6E5F'",
        ])
    func addresses(format: String) throws {
        let values: [String: Any] = [
            "page": try #require(URL(string: "https://example.org/a/b.txt?q=1#end")),
            "id": try #require(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")),
        ]
        #expect(try evaluate(values, format))
    }

    @Test("is found if the program registers it")
    func registered() throws {
        #expect(throws: PredicateFormatError.self) {
            try NSPredicate(parsing: "FUNCTION(n, 'isDivisibleBy:', 3) == YES")
        }
        NSExpression.registerFunction("isDivisibleBy:") { operand, arguments in
            guard let number = operand as? Int, let divisor = arguments.first as? Int else { return nil }
            return number % divisor == 0
        }
        defer { NSExpression.registerFunction("isDivisibleBy:", nil) }
        let predicate = try NSPredicate(parsing: "FUNCTION(n, 'isDivisibleBy:', 3) == YES")
        #expect(predicate.evaluate(with: ["n": 9]))
        #expect(!predicate.evaluate(with: ["n": 10]))
        let comparison = NSComparisonPredicate(
            leftExpression: NSExpression(forKeyPath: "n"), rightExpression: NSExpression(forConstantValue: 5),
            customSelector: "isDivisibleBy:")
        #expect(comparison.evaluate(with: ["n": 10]))
        #expect(comparison.predicateOperatorType == .customSelector)
        #expect(comparison.customSelector == "isDivisibleBy:")
        #expect(comparison.leftExpression == NSExpression(forKeyPath: "n"))
        #expect(comparison.rightExpression.constantValue as? Int == 5)
    }
}

@Suite("A built-in function")
struct BuiltInFunctionTests {
    @Test(
        "computes what NSExpression documents",
        arguments: [
            ("average({1, 2, 6})", "3.0"), ("sum({1, 2})", "3"), ("count({1, nil})", "2"), ("min({3, 1})", "1"),
            ("max(1, 5, 10)", "10"), ("median({1, 9, 2})", "2.0"), ("mode({1, 2, 2})", "{2}"),
            ("stddev({2, 4})", "1.0"), ("add:to:(1, 2)", "3"), ("from:subtract:(5, 2)", "3"),
            ("multiply:by:(2, 3)", "6"), ("divide:by:(6, 3)", "2"), ("modulus:by:(7, 4)", "3"), ("sqrt(9)", "3.0"),
            ("log(100)", "2.0"), ("ln(1)", "0.0"), ("raise:toPower:(2, 5)", "32"), ("exp(0)", "1.0"),
            ("ceiling(1.2)", "2.0"), ("floor(1.8)", "1.0"), ("abs(-3)", "3"), ("trunc(-1.7)", "-1.0"),
            ("uppercase('a')", "\"A\""), ("lowercase('A')", "\"a\""), ("bitwiseAnd:with:(6, 3)", "2"),
            ("bitwiseOr:with:(6, 3)", "7"), ("bitwiseXor:with:(6, 3)", "5"), ("leftshift:by:(1, 3)", "8"),
            ("rightshift:by:(8, 3)", "1"), ("onesComplement(0)", "-1"), ("noindex(4)", "4"), ("length('abc')", "3"),
        ])
    func values(format: String, expected: String) throws {
        #expect(try value(format).format == expected)
    }

    @Test("is made by its name, as the function of an expression says it")
    func names() {
        let cast = NSExpression(
            forFunction: "castObject:toType:",
            arguments: [NSExpression(forKeyPath: "added"), NSExpression(forConstantValue: "NSNumber")])
        #expect(cast == NSExpression(format: "CAST(added, 'NSNumber')"))
        let element = NSExpression(
            forFunction: "objectFrom:withIndex:",
            arguments: [NSExpression(forKeyPath: "tags"), NSExpression(forConstantValue: "FIRST")])
        #expect(element == NSExpression(format: "tags[FIRST]"))
        for format in ["CAST(a, 'NSDate')", "tags[0]", "tags[SIZE]", "sum(a)", "now()", "a ** 2"] {
            let expression = NSExpression(format: format)
            let again = NSExpression(forFunction: expression.function, arguments: expression.arguments ?? [])
            #expect(again == expression)
        }
    }
}

@Suite("A search in a predicate")
struct SearchFunctionTests {
    @Test(
        "is true where texts have what a person typed, and prints as it is written",
        arguments: [
            ("SEARCH(title, 'whal*')", true), ("SEARCH(title, text, 'élève whale')", true),
            ("SEARCH(title, '\"white whale\"')", true), ("SEARCH(title, '\"whale white\"')", false),
            ("SEARCH(title, text, '-whale élève')", false), ("SEARCH(names, 'ada')", true),
            ("SEARCH(names, '\"ada bob\"')", false), ("SEARCH(missing, 'x')", false), ("SEARCH(title, nil)", false),
            ("NOT SEARCH(title, 'boat') AND SEARCH(title, 'WHITE')", true), ("search(title, 'whale') == NO", false),
        ])
    func texts(format: String, expected: Bool) throws {
        let object: [String: Any] = ["title": "The White Whale", "text": "Élèves, eleve", "names": ["Ada", "Bob"]]
        #expect(try evaluate(object, format) == expected)
        #expect(try evaluate(object, printed(format)) == expected)
    }

    @Test("takes texts and a query")
    func arguments() throws {
        #expect(formatError("SEARCH('x')")?.reason.contains("arguments") == true)
        #expect(formatError("SEARCH() AND a == 1") != nil)
        #expect(try printed("SEARCH(title, text, $query)") == "SEARCH(title, text, $query) == 1")
    }
}
