import CoreData
import Foundation
import Testing

/// Texts, numbers, UUIDs and objects are neither equal nor less than one another. SQLite orders them by their kinds.
@MainActor @Suite("Values of two kinds")
struct ValuesOfTwoKindsTests {
    @Test("have no order in a comparison")
    func order() throws {
        let stores = try ComparedStores()
        for format in [
            "name > 5", "5 < name", "lowercase(nick) > 5", "lowercase(nick) > length(name)", "name > age",
            "born < name", "token > born", "token > name", "age + 1 > '0'", "length(name) > '0'", "(born - 5) < 'abc'",
            "nick BETWEEN {4, 'z'}", "lowercase(nick) BETWEEN {'0', age}", "age BETWEEN {score, name}",
            "author.books.@max.nick > 5", "TERNARY(age > 20, 'x', 'y') > 5", "noindex(TERNARY(age > 20, 'x', 'y')) > 5",
            "TERNARY(age > 20, nil, 'y') > 5", "1 + 1 < name", "2 < '3'",
        ] {
            try stores.check("Book", format, finds: [])
        }
    }

    @Test("have no order if one is an object, and the other one nil or an object of another hierarchy")
    func orderOfObjects() throws {
        let stores = try ComparedStores()
        for format in ["SELF > 5", "SELF > '5'", "author < name", "SELF > author", "entity > 5"] {
            try stores.check("Book", format, finds: [])
        }
    }

    @Test("are not equal, though the text of one has the other's digits")
    func equality() throws {
        let stores = try ComparedStores()
        let all = ["b1", "b2", "b3", "b4", "b5"]
        for format in [
            "nick == 5", "nick IN {5, 7}", "lowercase(nick) == 5", "nick == TERNARY(age == 15, 5, 6)",
            "length(name) == '2'", "age + 0 == '15'", "SELF == 5", "SELF == name", "entity == author",
            "nick IN {age, 5}", "2 == '2'", "SELF == TERNARY(age == 15, 1, 'x')", "SELF > TERNARY(age > 20, 'x', 0)",
            "TERNARY(age == 15, 1, 'x') == SELF", "SELF IN {TERNARY(age == 15, 1, 'x')}",
        ] {
            try stores.check("Book", format, finds: format.contains("age, 5") ? ["b4", "b5"] : [])
        }
        for format in ["nick != 5", "lowercase(nick) != 5", "length(name) != '2'", "SELF != 5", "name != age"] {
            try stores.check("Book", format, finds: all)
        }
        try stores.check("Book", "nick != age", finds: ["b1", "b2", "b3"])
        try stores.check("Book", "nick == age", finds: ["b4", "b5"])
        try stores.check("Book", "nick == %@", [5], finds: [])
        try stores.check("Book", "nick IN %@", [[5, 7]], finds: [])
    }

    @Test("may both be what a condition gives")
    func conditions() throws {
        let stores = try ComparedStores()
        for (format, expected) in [
            ("TERNARY(age == 15, 5, 'x') > 3", ["b1"]), ("TERNARY(age == 15, 5, 'x') BETWEEN {1, 9}", ["b1"]),
            ("TERNARY(age == 15, 5, 'x') < 'y'", ["b2", "b3", "b4", "b5"]), ("TERNARY(age == 15, 5, 'x') == nick", []),
            ("TERNARY(age == 15, 5, 'x') == 5", ["b1"]), ("TERNARY(age == 15, 5, 'x') IN {nick}", []),
            ("nick IN {TERNARY(age == 15, 5, 'x')}", []),
            ("noindex(TERNARY(age == 15, 5, 'x')) < 'y'", ["b2", "b3", "b4", "b5"]),
        ] {
            try stores.check("Book", format, finds: expected)
        }
    }

    @Test("are not computed with in SQL, which takes a text for the number that it begins with")
    func computations() throws {
        let stores = try ComparedStores { context in
            context.make("Book", ["name": "12 monkeys", "age": 1])
            context.make("Book", ["name": "5", "age": 2])
        }
        for (format, problem) in [
            ("TERNARY(age == 1, name, 5) + 1 == 13", "add:to: of “TERNARY("),
            ("1 + TERNARY(age == 1, name, 5) == 13", "add:to: of “TERNARY("),
            ("abs(TERNARY(age == 1, name, 5)) == 12", "abs: of “TERNARY("),
            ("uppercase(TERNARY(age == 1, name, 5)) == '5'", "uppercase: of “TERNARY("),
            ("length(noindex(TERNARY(age == 1, name, 5))) == 1", "length: of"),
            ("uppercase(TERNARY(age == 1, 5, 6)) == '5'", "” holds numbers"),
            ("lowercase(1 + 1) == '2'", "lowercase: computes with texts, not with"),
        ] {
            #expect(try stores.error("Book", format).contains(problem), "\(format)")
            #expect(try stores.contexts[1].context.all("Book", NSPredicate(format: format)) == [], "\(format)")
        }
        try stores.check("Book", "TERNARY(age == 1, age, 5) + 1 == 2", finds: ["12 monkeys"])
        try stores.check("Book", "uppercase(TERNARY(age == 1, name, 'x')) == 'X'", finds: ["5"])
    }

    @Test("have the options of texts where a condition gives one")
    func options() throws {
        let stores = try ComparedStores()
        try stores.check(
            "Book", "TERNARY(age > 100, nil, 'Y') ==[c] TERNARY(age > 100, nil, 'y') AND age == 15", finds: ["b1"])
        try stores.check("Book", "TERNARY(age != 15, age, name) ==[c] 'B1'", finds: ["b1"])
        try stores.check("Book", "TERNARY(age != 15, age, name) IN[c] {'B1', 'x'}", finds: ["b1"])
    }

    @Test("delete nothing in a batch")
    func deletion() throws {
        let stores = try ComparedStores()
        let context = stores.contexts[0].context
        for format in ["name > 5", "SELF > 5", "author < name", "uppercase(name) > age"] {
            let request = NSFetchRequest<any NSFetchRequestResult>(entityName: "Book")
            request.predicate = NSPredicate(format: format)
            try context.execute(NSBatchDeleteRequest(fetchRequest: request))
            #expect(try context.all("Book").count == 5, "\(format)")
        }
    }

    @Test("are searched for one another only if one is a text, and the other one a text or a number")
    func searches() throws {
        let stores = try ComparedStores()
        for side in ["born", "token", "SELF", "author"] {
            #expect(try stores.error("Book", "\(side) IN nick").contains("CONTAINS compares texts"), "\(side)")
        }
        try stores.check("Book", "'15' IN age", finds: ["b1"])
        try stores.check("Book", "'1' IN[c] age", finds: try found("age CONTAINS '1'"))
        for format in ["5 IN age", "age CONTAINS 5", "age IN score", "age CONTAINS score", "nil IN age"] {
            try stores.check("Book", format, finds: [])
        }
    }

    private func found(_ format: String) throws -> [String] {
        let context = try ComparedStores().contexts[0].context
        return try context.all("Book", NSPredicate(format: format), by: "name").compactMap { $0.string("name") }
    }

    @Test("are searched by the same digits in SQL and in memory")
    func digits() throws {
        let stores = try ComparedStores { context in
            for (name, score) in [("whole", 3.0), ("sum", 0.1 + 0.2), ("large", 1e15), ("half", 2.5)] {
                context.make("Book", ["name": name, "score": score])
            }
        }
        try stores.check("Book", "score LIKE '3'", finds: ["whole"])
        try stores.check("Book", "score MATCHES '[0-9]+' AND score < 5", finds: ["whole"])
        try stores.check("Book", "score ENDSWITH '3'", finds: ["whole"])
        try stores.check("Book", "score CONTAINS '.0'", finds: [])
        try stores.check("Book", "score CONTAINS '0000004'", finds: ["sum"])
        try stores.check("Book", "score * 2.0 LIKE '6'", finds: ["whole"])
        try stores.check("Book", "score CONTAINS '.5'", finds: ["half"])
    }

    @Test(
        "are read as one if the text is a constant that spells the number of an attribute, whether it is saved or not")
    func spelledNumbers() throws {
        for (type, context) in try ComparedStores().contexts {
            for isChanged in [false, true] {
                for (format, argument) in [
                    ("age == '15'", nil), ("age == %@", "15"), ("age IN {'15', '7'}", nil), ("'15' == age", nil),
                    ("age BETWEEN {'14', '16'}", nil), ("age IN {%@, '7'}", "15"), ("age IN {'15', length(name)}", nil),
                    ("price == '19.99'", nil), ("score < '2.6'", nil),
                    ("author.books.@count > 0 AND age < %@", "16"),
                ] as [(String, String?)] {
                    let predicate = NSPredicate(format: format, argumentArray: argument.map { [$0] })
                    let found = try context.all("Book", predicate)
                    #expect(found.map { $0.string("name") } == ["b1"], "\(type), \(isChanged): \(format)")
                }
                let list = NSPredicate(format: "age IN %@", ["15", "16"])
                #expect(try context.all("Book", list).count == 1, "\(type), \(isChanged)")
                for format in ["ANY books.age == '15'", "'15' IN books.age", "books.age CONTAINS '15'"] {
                    let found = try context.all("Author", NSPredicate(format: format))
                    #expect(found.map { $0.string("name") } == ["ada"], "\(type), \(isChanged): \(format)")
                }
                #expect(try context.all("Book", NSPredicate(format: "nick == '5'")).count == 1)
                for object in try context.all("Book") + context.all("Author") {
                    object.setValue("changed", forKey: "note")
                }
            }
        }
    }
}
