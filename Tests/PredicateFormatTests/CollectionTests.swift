import PredicateFormat
import Testing

@Suite("Collections in a predicate")
struct CollectionTests {
    let ann = Person(
        "Ann", age: 40,
        friends: [Person("Bob", age: 30, friends: [Person("Zoe", age: 5)]), Person("Cleo", age: 50), Person("Dan")])

    @Test(
        "are asked by ANY, ALL and NONE",
        arguments: [
            ("ANY friends.age > 40", true), ("ANY friends.age > 60", false), ("SOME friends.name == 'Bob'", true),
            ("ALL friends.age > 20", false), ("ALL friends.name != nil", true), ("NONE friends.age > 60", true),
            ("NOT ANY friends.age > 60", true), ("ANY friends.age == nil", true),
            ("ANY friends.friends.age < 10", true),
            ("ANY friends.friends.friends.age < 10", false), ("ALL friends.friends.friends.age < 10", true),
            ("ANY friends.name IN {'Bob', 'X'}", true), ("ANY friends.name BEGINSWITH[c] 'c'", true),
            ("ANY boss.friends.name == 'x'", false), ("ANY friends.age BETWEEN {29, 31}", true),
        ])
    func quantifiers(format: String, expected: Bool) throws {
        #expect(try evaluate(ann, format) == expected)
    }

    @Test(
        "have operators in key paths",
        arguments: [
            ("friends.@count == 3", true), ("friends.@sum.age == 80", true), ("friends.@avg.age == 40", true),
            ("friends.@min.age == 30", true), ("friends.@max.age == 50", true),
            ("friends.@distinctUnionOfObjects.age CONTAINS 30", true), ("friends.friends.@count == 1", true),
        ])
    func operators(format: String, expected: Bool) throws {
        #expect(try evaluate(ann, format) == expected)
    }

    @Test("have elements by index, and a size")
    func indices() throws {
        #expect(try value("friends[0].name", of: ann) == .string("Bob"))
        #expect(try value("friends[FIRST].name", of: ann) == .string("Bob"))
        #expect(try value("friends[LAST].name", of: ann) == .string("Dan"))
        #expect(try value("friends[SIZE]", of: ann) == .integer(3))
        #expect(try value("friends[1 + 1].name", of: ann) == .string("Dan"))
        #expect(try value("friends[9]", of: ann) == .null)
    }

    @Test("contain objects by identity")
    func membership() throws {
        let bob = ann.friends[0]
        #expect(try evaluate(ann, "%@ IN friends", bob))
        #expect(try evaluate(ann, "friends CONTAINS %@", bob))
        #expect(try evaluate(ann, "ANY friends == %@", bob))
        #expect(try evaluate(ann, "SELF IN %@", [bob]) == false)
        #expect(try evaluate(ann, "SELF == %@", ann))
    }

    @Test("are filtered by SUBQUERY, whose key paths still start outside")
    func subquery() throws {
        #expect(try evaluate(ann, "SUBQUERY(friends, $f, $f.age > 20).@count == 2"))
        #expect(try evaluate(ann, "SUBQUERY(friends, $f, $f.age > age).@count == 1"))
        #expect(
            try evaluate(ann, "SUBQUERY(friends, $f, SUBQUERY($f.friends, $g, $g.age < $f.age).@count > 0).@count == 1")
        )
        #expect(try evaluate(ann, "SUBQUERY(friends, $f, $f.age > 20).name CONTAINS 'Bob'"))
    }

    @Test("keep the variable of a SUBQUERY to themselves when others are substituted")
    func shadowing() throws {
        let predicate = NSPredicate(format: "SUBQUERY(friends, $f, $f.age > $limit).@count == 1")
        let substituted = predicate.withSubstitutionVariables(["f": 1, "limit": 40])
        #expect(try predicateTree(of: substituted) == tree("SUBQUERY(friends, $f, $f.age > 40).@count == 1"))
        #expect(substituted.evaluate(with: ann))
    }

    @Test("are united, intersected and subtracted")
    func sets() throws {
        #expect(try evaluate(ann, "{1, 2} UNION {2, 3} == {1, 2, 3}"))
        #expect(try evaluate(ann, "{1, 2} INTERSECT {2, 3} == {2}"))
        #expect(try evaluate(ann, "{1, 2} MINUS {2, 3} == {1}"))
    }
}

@Suite("Functions in a predicate")
struct FunctionTests {
    @Test(
        "compute with numbers as arguments",
        arguments: [
            ("1 + 2 * 3", Value.integer(7)), ("7 / 2", .integer(3)), ("7.0 / 2", .double(3.5)), ("7 %% 4", .integer(3)),
            ("2 ** 10", .integer(1024)), ("2 ** 0.5", .double(2.0.squareRoot())), ("-(3)", .integer(-3)),
            ("1 / 0", .null), ("9223372036854775807 + 1", .double(0x1p63)), ("5 & 3", .integer(1)),
            ("5 | 3", .integer(7)),
            ("5 ^ 3", .integer(6)), ("1 << 4", .integer(16)), ("~0", .integer(-1)), ("abs(-4)", .integer(4)),
            ("ceiling(1.2)", .double(2)), ("floor(1.8)", .double(1)), ("trunc(-1.8)", .double(-1)),
            ("sqrt(16)", .double(4)),
            ("log(1000)", .double(3)), ("ln(1)", .double(0)), ("exp(0)", .double(1)), ("1 + nil", .null),
            ("'a' + 1", .null),
            ("sum({1, 2, 3})", .integer(6)), ("sum({})", .integer(0)), ("average({1, 2})", .double(1.5)),
            ("min({3, 1, 2})", .integer(1)), ("max({3, nil, 2})", .integer(3)), ("count({1, nil})", .integer(2)),
            ("median({3, 1, 2})", .double(2)), ("median({4, 1, 2, 3})", .double(2.5)),
            ("stddev({2, 4, 4, 4, 5, 5, 7, 9})", .double(2)),
            ("max({})", .null), ("average({})", .null),
        ])
    func numbers(format: String, expected: Value) throws {
        #expect(try value(format) == expected)
    }

    @Test("work on strings as arguments")
    func strings() throws {
        #expect(try value("uppercase('straße')") == .string("STRASSE"))
        #expect(try value("lowercase('ÀB')") == .string("àb"))
        #expect(try value("length('añ🍏')") == .integer(3))
        #expect(try value("canonical('ÀB')") == .string("ab"))
    }

    @Test("cast values to other types")
    func casts() throws {
        #expect(try value("CAST('12', 'NSNumber') + 1") == .integer(13))
        #expect(try value("CAST(x, 'NSString')", of: ["x": 12]) == .string("12"))
        #expect(
            try value("CAST(CAST(x, 'NSNumber') + 60, 'NSDate')", of: ["x": Date(timeIntervalSinceReferenceDate: 0)])
                == .date(Date(timeIntervalSinceReferenceDate: 60)))
        #expect(try value("CAST('x', 'NSNumber')") == .null)
    }

    @Test("choose one of two values")
    func conditional() throws {
        #expect(try value("TERNARY(x > 1, 'many', 'few')", of: ["x": 2]) == .string("many"))
        #expect(try value("TERNARY(x > 1, 'many', 'few')", of: ["x": 1]) == .string("few"))
    }

    @Test("may be Swift code")
    func block() {
        let expression = NSExpression(
            block: { object, arguments, _ in (arguments.first as? String ?? "") + "!" },
            arguments: [NSExpression(forKeyPath: "name")])
        #expect(expression.expressionValue(with: ["name": "Ann"], context: nil) as? String == "Ann!")
    }

    @Test("now() is the time of the evaluation")
    func now() throws {
        #expect(try evaluate(["date": Date(timeIntervalSinceNow: -60)], "date < now()"))
    }
}
