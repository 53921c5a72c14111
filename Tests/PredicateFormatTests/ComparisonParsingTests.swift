import PredicateFormat
import Testing

@Suite("A comparison in a format string")
struct ComparisonParsingTests {
    @Test(
        "is spelled in several ways",
        arguments: [
            ("=", ComparisonOperator.equalTo), ("==", .equalTo), ("!=", .notEqualTo), ("<>", .notEqualTo),
            ("<", .lessThan), ("<=", .lessThanOrEqualTo), ("=<", .lessThanOrEqualTo), (">", .greaterThan),
            (">=", .greaterThanOrEqualTo), ("=>", .greaterThanOrEqualTo), ("LIKE", .like), ("like", .like),
            ("MATCHES", .matches), ("BEGINSWITH", .beginsWith), ("beginsWith", .beginsWith),
            ("ENDSWITH", .endsWith), ("CONTAINS", .contains), ("contains", .contains), ("IN", .in), ("in", .in),
        ])
    func operators(spelling: String, comparison: ComparisonOperator) throws {
        let expected = PredicateTree.comparison(
            ComparisonTree(.key("name"), comparison, .constant(.string("a"))))
        #expect(try tree("name \(spelling) 'a'") == expected)
    }

    @Test("BETWEEN takes two bounds")
    func between() throws {
        let bounds = Value.collection([.integer(1), .integer(10)])
        let expected = PredicateTree.comparison(ComparisonTree(.key("age"), .between, .constant(bounds)))
        #expect(try tree("age BETWEEN {1, 10}") == expected)
        #expect(try tree("age BETWEEN %@", [1, 10]) == expected)
    }

    @Test(
        "takes options in brackets",
        arguments: [
            ("[c]", StringOptions.caseInsensitive), ("[d]", .diacriticInsensitive),
            ("[cd]", [.caseInsensitive, .diacriticInsensitive]), ("[dc]", [.caseInsensitive, .diacriticInsensitive]),
            ("[n]", .normalized), ("[l]", .localeSensitive), ("[CD]", [.caseInsensitive, .diacriticInsensitive]),
        ] as [(String, StringOptions)])
    func options(spelling: String, options: StringOptions) throws {
        let expected = PredicateTree.comparison(
            ComparisonTree(.key("name"), .contains, .constant(.string("a")), options: options))
        #expect(try tree("name CONTAINS\(spelling) 'a'") == expected)
    }

    @Test("is quantified by ANY, SOME and ALL; NONE is NOT ANY")
    func modifiers() throws {
        func comparison(_ modifier: ComparisonModifier) -> PredicateTree {
            .comparison(ComparisonTree(.key("books.year"), .greaterThan, .constant(.integer(1990)), modifier: modifier))
        }
        #expect(try tree("ANY books.year > 1990") == comparison(.any))
        #expect(try tree("some books.year > 1990") == comparison(.any))
        #expect(try tree("ALL books.year > 1990") == comparison(.all))
        #expect(try tree("NONE books.year > 1990") == .not(comparison(.any)))
    }
}

@Suite("Compound predicates in a format string")
struct CompoundParsingTests {
    private func equal(_ key: String, _ value: Int64) -> PredicateTree {
        .comparison(ComparisonTree(.key(key), .equalTo, .constant(.integer(value))))
    }

    @Test("AND binds tighter than OR, NOT tighter than both")
    func precedence() throws {
        let expected = PredicateTree.or([equal("a", 1), .and([.not(equal("b", 2)), equal("c", 3)])])
        #expect(try tree("a = 1 OR NOT b = 2 AND c = 3") == expected)
        #expect(try tree("a = 1 || !b = 2 && c = 3") == expected)
        #expect(try tree("a = 1 or not b = 2 and c = 3") == expected)
    }

    @Test("A row of the same word becomes one compound")
    func flat() throws {
        #expect(try tree("a = 1 AND b = 2 AND c = 3") == .and([equal("a", 1), equal("b", 2), equal("c", 3)]))
    }

    @Test("parentheses group predicates, and values too")
    func parentheses() throws {
        #expect(
            try tree("(a = 1 OR b = 2) AND c = 3") == .and([.or([equal("a", 1), equal("b", 2)]), equal("c", 3)]))
        #expect(try tree("((a)) = (1)") == equal("a", 1))
        #expect(try tree("((a = 1))") == equal("a", 1))
    }

    @Test("TRUEPREDICATE and FALSEPREDICATE are constants")
    func constants() throws {
        #expect(try tree("TRUEPREDICATE") == .constant(true))
        #expect(try tree("a = 1 OR FALSEPREDICATE") == .or([equal("a", 1), .constant(false)]))
    }

    @Test("become Foundation's compound predicates")
    func foundation() throws {
        let predicate = NSPredicate(format: "a = 1 AND b = %d", 2)
        let compound = try #require(predicate as? NSCompoundPredicate)
        #expect(compound.compoundPredicateType == .and)
        let parts = try compound.subpredicates.map { try predicateTree(of: $0) }
        #expect(parts == [equal("a", 1), equal("b", 2)])
    }

    @Test("made of Foundation's classes, they have the same tree")
    func treeOfFoundation() throws {
        let compound = NSCompoundPredicate(andPredicateWithSubpredicates: [
            NSPredicate(format: "a == 1"), NSPredicate(value: true),
            NSCompoundPredicate(notPredicateWithSubpredicate: NSPredicate(format: "b == 2")),
        ])
        #expect(try predicateTree(of: compound) == .and([equal("a", 1), .constant(true), .not(equal("b", 2))]))
    }

    @Test("have no tree with a block in them, and say so")
    func block() {
        let compound = NSCompoundPredicate(orPredicateWithSubpredicates: [
            NSPredicate(format: "a == 1"), NSPredicate { _, _ in true },
        ])
        #expect(throws: PredicateWithoutTreeError.self) { try predicateTree(of: compound) }
        #expect(compound.evaluate(with: ["a": 2]))
    }
}
