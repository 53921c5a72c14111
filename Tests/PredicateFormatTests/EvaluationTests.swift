import PredicateFormat
import Testing

@Suite("Evaluating a comparison")
struct EvaluationTests {
    let book: [String: Any] = [
        "title": "Excession", "year": 1996, "price": 7.5, "available": true, "isbn": NSNull(),
        "author": ["name": "Iain M. Banks"],
    ]

    @Test(
        "compares numbers by value, whatever their types",
        arguments: [
            ("year == 1996", true), ("year == 1996.0", true), ("year != 1995", true), ("year > 1995.5", true),
            ("year < 1996", false), ("year <= 1996", true), ("price == 7.5", true), ("price > 7", true),
            ("available == YES", true), ("available == 1", true), ("available != FALSE", true),
            ("year BETWEEN {1990, 1996}", true), ("price BETWEEN {8, 9}", false), ("year IN {1995, 1996}", true),
            ("year IN {1995.0, 1996.0}", true), ("9007199254740993 == 9007199254740992.0", false),
            ("9007199254740993 > 9007199254740992.0", true),
        ])
    func numbers(format: String, expected: Bool) throws {
        #expect(try evaluate(book, format) == expected)
    }

    @Test(
        "compares strings by its options",
        arguments: [
            ("title == 'Excession'", true), ("title == 'excession'", false), ("title ==[c] 'EXCESSION'", true),
            ("title !=[c] 'EXCESSION'", false), ("title BEGINSWITH 'Ex'", true), ("title BEGINSWITH 'ex'", false),
            ("title BEGINSWITH[c] 'ex'", true), ("title ENDSWITH 'sion'", true), ("title CONTAINS 'cess'", true),
            ("title CONTAINS[c] 'CESS'", true), ("title CONTAINS 'xyz'", false), ("title LIKE 'Ex*'", true),
            ("title LIKE 'E?c*n'", true), ("title LIKE 'E'", false), ("title LIKE[c] 'EX*'", true),
            ("title MATCHES 'E[a-z]+'", true), ("title MATCHES 'E'", false), ("title MATCHES[c] 'e.*N'", true),
            ("title IN {'Matter', 'Excession'}", true), ("'cess' IN title", true), ("title IN[c] {'EXCESSION'}", true),
            ("title < 'F'", true), ("title > 'e'", false), ("title >[c] 'e'", true), ("title BETWEEN {'A', 'F'}", true),
        ])
    func strings(format: String, expected: Bool) throws {
        #expect(try evaluate(book, format) == expected)
    }

    @Test("follows key paths; what is missing on the way is nil")
    func keyPaths() throws {
        #expect(try evaluate(book, "author.name BEGINSWITH 'Iain'"))
        #expect(try evaluate(book, "publisher.name == nil"))
        #expect(try evaluate(book, "%K == %@", "author.name", "Iain M. Banks"))
    }

    @Test("joins comparisons by AND, OR and NOT")
    func compounds() throws {
        #expect(try evaluate(book, "year > 1990 AND price < 10"))
        #expect(try evaluate(book, "year < 1990 OR price < 10"))
        #expect(try evaluate(book, "NOT (year < 1990 OR price > 10)"))
        #expect(try evaluate(book, "TRUEPREDICATE AND NOT FALSEPREDICATE"))
    }

    @Test("compares values that are not objects, as SELF")
    func selfValues() throws {
        #expect(try evaluate("text", "SELF BEGINSWITH 't'"))
        #expect(try evaluate(5, "SELF > 4 AND SELF IN {5, 6}"))
        #expect(try evaluate("text", "SELF.length == 4"))
    }

    @Test("compares dates, UUIDs, data, decimals and URLs")
    func otherTypes() throws {
        let uuid = UUID()
        let object: [String: Any] = [
            "date": Date(timeIntervalSinceReferenceDate: 100), "id": uuid, "data": Data([1, 2]),
            "price": Decimal(string: "0.1") ?? 0, "url": URL(fileURLWithPath: "/tmp"),
        ]
        #expect(try evaluate(object, "date > %@", Date(timeIntervalSinceReferenceDate: 99)))
        #expect(try evaluate(object, "date == CAST(100.0, 'NSDate')"))
        #expect(try evaluate(object, "id == %@", uuid))
        #expect(try evaluate(object, "id IN %@", [UUID(), uuid]))
        #expect(try evaluate(object, "data == %@", Data([1, 2])))
        #expect(try evaluate(object, "price == %@", Decimal(string: "0.10")))
        #expect(try evaluate(object, "price == 0.1"))
        #expect(try evaluate(object, "url == %@", URL(fileURLWithPath: "/tmp")))
    }

    @Test("finds values of kinds that cannot be compared unequal, and neither less")
    func kinds() throws {
        #expect(try evaluate(book, "title == 5") == false)
        #expect(try evaluate(book, "title != 5"))
        #expect(try evaluate(book, "title > 5") == false)
    }

    @Test("searches numbers by their digits")
    func digits() throws {
        let object = ["year": 1932, "width": 2.5] as [String: Any]
        #expect(try evaluate(object, "year BEGINSWITH '19' AND year CONTAINS '3' AND year LIKE '19?2'"))
        #expect(try evaluate(object, "width ENDSWITH '.5' AND '1932' BEGINSWITH year"))
        #expect(try evaluate(object, "year CONTAINS 9") == false)
    }

    @Test("filters arrays and sets of Foundation")
    func filtering() throws {
        let numbers = [3, 1, 4, 1, 5] as NSArray
        let small = numbers.filtered(using: NSPredicate(format: "SELF < 4"))
        #expect(small as? [Int] == [3, 1, 1])
    }

    @Test("works inside Foundation's compound predicates, next to its block and constant predicates")
    func foundation() {
        let compound = NSCompoundPredicate(andPredicateWithSubpredicates: [
            NSPredicate(format: "year == %d", 1996), NSPredicate(value: true),
            NSPredicate { object, _ in object is [String: Any] },
        ])
        #expect(compound.evaluate(with: book))
    }

    @Test("gives variables their values")
    func variables() throws {
        let predicate = NSPredicate(format: "year > $YEAR AND title == $TITLE")
        #expect(predicate.evaluate(with: book, substitutionVariables: ["YEAR": 1990, "TITLE": "Excession"]))
        #expect(!predicate.evaluate(with: book, substitutionVariables: ["YEAR": 1999, "TITLE": "Excession"]))
        let substituted = predicate.withSubstitutionVariables(["YEAR": 1990, "TITLE": "Excession"])
        #expect(substituted.evaluate(with: book))
        #expect(try predicateTree(of: substituted) == tree("year > 1990 AND title == 'Excession'"))
    }
}

@Suite("nil in a predicate")
struct NilTests {
    let object: [String: Any] = ["name": "a", "empty": [Int]()]

    @Test(
        "equals only itself, and nothing else holds of it; NOT makes the opposite",
        arguments: [
            ("missing == nil", true), ("missing != nil", false), ("name == nil", false), ("name != nil", true),
            ("nil == missing", true), ("nil != name", true), ("missing == absent", true), ("missing != absent", false),
            ("missing == 'a'", false), ("NOT missing == 'a'", true), ("missing != 'a'", true),
            ("NOT missing != 'a'", false), ("missing == name", false), ("missing != name", true),
            ("missing ==[c] 'a'", false), ("missing !=[c] 'a'", true), ("missing ==[c] absent", true),
            ("missing < 5", false), ("missing > 5", false), ("missing <= nil", false), ("NOT missing < 5", true),
            ("missing BEGINSWITH 'a'", false), ("NOT missing BEGINSWITH 'a'", true), ("missing LIKE '*'", false),
            ("name CONTAINS nil", false), ("missing IN {1, 2}", false), ("NOT missing IN {1, 2}", true),
            ("missing IN {1, nil}", true), ("missing IN[c] {1, nil}", true), ("missing IN {}", false),
            ("missing IN nil", false),
            ("missing BETWEEN {1, 2}", false), ("name BETWEEN {nil, 'z'}", false), ("empty == nil", true),
            ("missing + 1 == nil", true), ("length(missing) == nil", true),
        ])
    func comparisons(format: String, expected: Bool) throws {
        #expect(try evaluate(object, format) == expected)
    }

    @Test("is the same as an argument and in the format")
    func argument() throws {
        #expect(try evaluate(object, "missing == %@", nil))
        #expect(try evaluate(object, "name != %@", nil))
        #expect(try evaluate(object, "name IN %@", ["b", nil] as [String?]) == false)
        #expect(try evaluate(object, "missing IN %@", ["b", nil] as [String?]))
    }
}

@Suite("Strings in a predicate")
struct StringComparisonTests {
    @Test(
        "are compared without regard to case and diacritics, where asked",
        arguments: [
            ("'é' ==[d] 'e'", true), ("'é' ==[c] 'É'", true), ("'é' ==[c] 'E'", false), ("'É' ==[cd] 'e'", true),
            ("'Ünïcödé' CONTAINS[cd] 'code'", true), ("'Ünïcödé' BEGINSWITH[d] 'Uni'", true),
            ("'Ünïcödé' LIKE[cd] 'un?code'", true), ("'Ünïcödé' MATCHES[cd] 'UNI.*'", true),
            ("'STRASSE' ==[c] 'strasse'", true), ("'é' ==[n] 'É'", false), ("'a' ==[cn] 'A'", false),
            ("'Я' ==[c] 'я'", true),
        ])
    func options(format: String, expected: Bool) throws {
        #expect(try evaluate(nil, format) == expected)
    }

    @Test("are compared by their bytes without options, so that canonical equivalents differ")
    func literal() throws {
        #expect(try evaluate(nil, "%@ == %@", "\u{e9}", "e\u{301}") == false)
        #expect(try evaluate(nil, "%@ ==[d] %@", "\u{e9}", "e\u{301}"))
        #expect(try evaluate(nil, "%@ < %@", "\u{ff5e}", "🍏"))
        #expect(try evaluate("\u{e9}", "SELF == '\u{e9}'"))
        #expect(try evaluate("e\u{301}", "SELF == 'e\u{301}'"))
        #expect(try evaluate("\u{e9}", "SELF LIKE %@", "\u{e9}"))
        #expect(try evaluate("\u{e9}", "SELF LIKE %@", "e\u{301}") == false)
    }

    @Test(
        "match LIKE as a whole, ? being one character and * any number",
        arguments: [
            ("", "", true), ("", "*", true), ("", "?", false), ("abc", "abc", true), ("abc", "a?c", true),
            ("abc", "a*", true), ("abc", "*c", true), ("abc", "*b*", true), ("abc", "ab", false),
            ("abc", "a**c", true), ("aXbXc", "a*X*c", true), ("ab", "a?b", false), ("🍏a", "?a", true),
            ("a*c", #"a\*c"#, true), ("abc", #"a\*c"#, false), ("a?c", #"a\?c"#, true), (#"a\"#, #"a\"#, true),
            ("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaab", "*a*a*a*a*a*a*a*a*c", false), ("50%_", "50%_", true),
        ])
    func like(text: String, pattern: String, expected: Bool) throws {
        #expect(try evaluate(text, "SELF LIKE %@", pattern) == expected)
    }

    @Test("match MATCHES as a whole, by a regular expression")
    func matches() throws {
        #expect(try evaluate("abc", "SELF MATCHES %@", "a|abc"))
        #expect(try evaluate("", "SELF MATCHES ''") && !evaluate("a", "SELF MATCHES ''"))
        #expect(try evaluate("abc\n", "SELF MATCHES %@", "abc") == false)
        #expect(try evaluate("2024", #"SELF MATCHES '\\d{4}'"#))
        #expect(try evaluate("ABC", "SELF MATCHES[c] %@", #"a\Sc"#))
        #expect(!NSPredicate(format: "SELF MATCHES %@", "(").evaluate(with: "("))
    }

    @Test("contain the empty string")
    func empty() throws {
        #expect(try evaluate("abc", "SELF CONTAINS '' AND SELF BEGINSWITH '' AND SELF ENDSWITH ''"))
    }
}
