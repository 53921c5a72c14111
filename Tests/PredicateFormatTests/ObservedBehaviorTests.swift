import Foundation
import PredicateFormat
import Testing

/// What public projects have observed of Apple's framework and hold fast in their own tests.
@Suite("As observed on Apple's platforms")
struct ObservedBehaviorTests {
    @Test(
        "A predicate is printed as there",
        arguments: [
            ("isMale == yes", "isMale == 1"), ("isMale == FALSE", "isMale == 0"), ("a = 42", "a == 42"),
            ("self like[c] 'prefix*suffix'", #"SELF LIKE[c] "prefix*suffix""#),
            ("'%K' like '%@'", #""%K" LIKE "%@""#), ("a <> 1 && b => 2", "a != 1 AND b >= 2"),
            (#"FUNCTION(a, "pow:", 3) == 8"#, #"FUNCTION(a, "pow:" , 3) == 8"#),
            ("FUNCTION('a', 'uppercase') == 'A'", #"FUNCTION("a", "uppercase") == "A""#),
            ("a.firstName.length == 3", "a.firstName.length == 3"), ("a[SIZE] == 3", "a[SIZE] == 3"),
            ("$a == 1", "$a == 1"), ("NOT text contains[cd] 'test'", #"NOT text CONTAINS[cd] "test""#),
            ("!(x BETWEEN {1, 3})", "NOT x BETWEEN {1, 3}"),
            // CosmicMind's Graph
            ("NOT a == 1 AND NOT b == 2", "(NOT a == 1) AND (NOT b == 2)"),
            ("SUBQUERY(r, $a, ANY $a.t.k IN {'f'}).@count > 0", #"SUBQUERY(r, $a, ANY $a.t.k IN {"f"}).@count > 0"#),
        ])
    func printing(format: String, expected: String) throws {
        #expect(try printed(format) == expected)
    }

    @Test("a UUID prints as its digits; a text that reads like a cast stays (janodevorg's CoreDataStack)")
    func identifiers() {
        let (first, second) = (UUID(), UUID())
        let one = NSPredicate(format: "id == %@", first as NSUUID)
        #expect(one.description == "id == \(first)")
        #expect(NSPredicate(format: "id IN %@", [first, second]).description == "id IN {\(first), \(second)}")
        let text = NSPredicate(format: "name == %@", #"CAST("\#(first)", "NSUUID")"#)
        #expect(text.description == #"name == "CAST(\"\#(first)\", \"NSUUID\")""#)
        let both = NSCompoundPredicate(andPredicateWithSubpredicates: [one, text])
        #expect(both.description == "\(one) AND \(text)")
        #expect(NSExpression(forConstantValue: first).description == first.uuidString)
    }

    @Test(
        "a compound predicate of one part prints as that part; in another one it is in parentheses (CosmicMind's Graph)"
    )
    func singleParts() {
        let one = NSPredicate(format: "a == 1")
        let either = NSPredicate(format: "a == 1 OR b == 2")
        #expect(NSCompoundPredicate(andPredicateWithSubpredicates: [either]).description == "a == 1 OR b == 2")
        let wrapped = NSCompoundPredicate(andPredicateWithSubpredicates: [one])
        #expect(wrapped.description == "a == 1")
        #expect(NSCompoundPredicate(notPredicateWithSubpredicate: wrapped).description == "NOT (a == 1)")
        #expect(
            NSCompoundPredicate(andPredicateWithSubpredicates: [wrapped, wrapped]).description
                == "(a == 1) AND (a == 1)")
    }

    @Test("a key path may begin with a variable (CosmicMind's Graph)")
    func variableInKeyPath() {
        let owner = NSExpression(forKeyPath: "$property.object")
        #expect(owner.description == "$property.object")
        let inner = NSComparisonPredicate(
            leftExpression: owner, rightExpression: NSExpression(forConstantValue: 3), modifier: .direct, type: .equalTo
        )
        let subquery = NSExpression(
            forSubquery: NSExpression(forKeyPath: "items"), usingIteratorVariable: "property", predicate: inner)
        #expect(subquery.description == "SUBQUERY(items, $property, $property.object == 3)")
    }

    @Test("%@ is a value and %K a key, and %k is neither")
    func placeholders() throws {
        #expect(try printed("%@ like %@", "firstName", "Adam") == #""firstName" LIKE "Adam""#)
        #expect(try printed("%K like %@", "firstName", "Adam") == #"firstName LIKE "Adam""#)
        #expect(try printed("SELF like[c] %@*%@", "prefix", "suffix") == #"SELF LIKE[c] "prefix" * "suffix""#)
        #expect(formatError("%k like %@", "firstName", "Adam") != nil)
    }

    @Test(
        "a predicate without an object is computed",
        arguments: [
            ("1 << 3 == 8", true), ("8 >> 2 == 2", true), ("2 & 1 == 0", true), ("2 | 1 == 3", true),
            ("2 ^ 1 == 3", true), ("1 =< 2", true), ("(1 < 0) || (1 > 0)", true), ("NOT(1 < 0)", true),
            ("(1 < 0) || FALSEPREDICATE", false), ("'HELLO' BEGINSWITH[cd] 'he'", true),
            ("'HELLO' ENDSWITH 'llo'", false), ("'hello' MATCHES 'hel{2}o'", true), ("'helo' LIKE 'hel?o'", false),
            ("'hello' == 'hel?o'", false), ("%@ IN 'AABBBAA'", true),
        ])
    func constants(format: String, expected: Bool) throws {
        let arguments: [Any?] = format.contains("%@") ? ["BBB"] : []
        #expect(try NSPredicate(parsing: format, arguments: arguments).evaluate(with: nil) == expected)
    }

    @Test("variables may be collections, dictionaries and their indices")
    func variables() throws {
        func holds(_ format: String, _ variables: [String: Any]) throws -> Bool {
            try NSPredicate(parsing: format).evaluate(with: nil, substitutionVariables: variables)
        }
        #expect(try holds("$a[0] > 1", ["a": [2]]))
        #expect(try !holds("$a[0] > 1", ["a": [1]]))
        #expect(try holds("$a[$b] > 1", ["a": [2], "b": 0]))
        #expect(try holds("$a.$b == 'ABC'", ["a": ["a": "ABC"], "b": "a"]))
        #expect(try holds("$a[$b] == 'ABC'", ["a": ["a": "ABC"], "b": "a"]))
        #expect(try holds("$a / 2.5 == 2", ["a": 5]))
        #expect(try holds("($a + 1) ** 3 == 8.0", ["a": 1]))
        #expect(try holds("$a[$b].name == 'Lily'", ["a": ["a": Person("Lily")], "b": "a"]))
    }

    @Test(
        "MATCHES compares the whole text, with ^ and $ at line breaks and a dot for them",
        arguments: [
            ("a\nb", ".*^b$", true), ("a\nb", "^a$.*", true), ("a\nb", "a$\\nb", true), ("a\nb", "a\\n^b", true),
            ("ab", "^ab$", true), ("a\nb", "^b$", false), ("a\nb", "^a$", false), ("a\nb", "a.b", true),
        ])
    func matches(text: String, pattern: String, expected: Bool) throws {
        #expect(try evaluate(text, "SELF MATCHES %@", pattern) == expected)
    }

    @Test(
        "LIKE knows *, ? and the backslash, and nothing else",
        arguments: [
            ("a", "a*", true), ("a\nb", "a*", true), ("ab", "a?b", false), ("axxb", "a?b", false),
            ("axb", "a.b", false), ("a", "[ab]", false), ("x", "a|x", false), ("a$^b", "a$^b", true),
            ("a*b", "a\\*b", true), ("axb", "a\\*b", false), ("a\\b", "a\\\\b", true),
        ])
    func like(text: String, pattern: String, expected: Bool) throws {
        #expect(try evaluate(text, "SELF LIKE %@", pattern) == expected)
    }

    @Test("texts and numbers have keys, NSNull and missing keys are nil")
    func keys() throws {
        let pitches = ["Do", "Re", "Mi"]
        #expect(try pitches.filter { try evaluate($0, "description == 'Do'") } == ["Do"])
        #expect(try evaluate(["name": "Emma"], "name.length == 4 AND name.uppercaseString == 'EMMA'"))
        #expect(try evaluate(7, "SELF.stringValue == '7'"))
        let rows: [Any] = [["key": "value1"], ["key": "value2"], NSNull()]
        let predicate = NSPredicate(format: "key == %@", "value2")
        #expect((rows as NSArray).filtered(using: predicate).count == 1)
        #expect((rows as NSArray).filtered(using: NSPredicate(format: "other == 'value1'")).isEmpty)
    }
}
