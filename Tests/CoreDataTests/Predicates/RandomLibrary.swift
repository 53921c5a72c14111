import CoreData

/// Fills a library at random, and makes predicates about it; the same for the same seed.
struct RandomLibrary {
    private var state: UInt64

    init(seed: UInt64) {
        state = (seed &+ 1) &* 0x9E37_79B9_7F4A_7C15 | 1
    }

    private mutating func number(below limit: Int) -> Int {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return Int(state % UInt64(limit))
    }

    private mutating func pick<Element>(_ elements: [Element]) -> Element {
        elements[number(below: elements.count)]
    }

    // MARK: Objects

    private let texts: [String?] = [
        nil, "", "a", "A", "ab", "é", "e\u{301}", "É", "straße", "STRASSE", "a*b", "a?b", "50%_", "it's \"q\"; --", "Я",
        "🍏", "a\nb",
    ]
    private let numbers: [Int?] = [nil, 0, 1, -1, 2, 32767, -32768]
    private let prices: [Double?] = [nil, 0, 0.5, 1, -1, 2, 1024.25, -0.125]
    private let dates: [Date?] = [
        nil, Date(timeIntervalSinceReferenceDate: 0), Date(timeIntervalSinceReferenceDate: -1.5),
    ]

    mutating func fill(_ context: NSManagedObjectContext) {
        func make(_ entity: String, _ values: [String: Any?]) -> NSManagedObject {
            let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
            for (key, value) in values { object.setValue(value, forKey: key) }
            return object
        }
        let tags = (0..<4).map { _ in make("Tag", ["name": pick(texts)]) }
        let authors = (0..<8).map { _ in
            make(
                "Author",
                ["name": pick(texts) ?? "x", "age": pick(numbers), "rating": pick(prices), "born": pick(dates)])
        }
        for _ in 0..<30 {
            let book = make(
                number(below: 4) == 0 ? "Comic" : "Book",
                ["title": pick(texts), "isbn": pick(texts), "price": pick(prices)])
            if number(below: 4) > 0 { book.setValue(pick(authors), forKey: "author") }
            let some = tags.filter { _ in number(below: 3) == 0 }
            book.setValue(NSSet(array: some), forKey: "tags")
        }
    }

    // MARK: Predicates about books

    mutating func predicate(depth: Int) -> PredicateTree {
        switch depth > 0 ? number(below: 8) : 7 {
        case 0: .not(predicate(depth: depth - 1))
        case 1, 2: .and([predicate(depth: depth - 1), predicate(depth: depth - 1)])
        case 3: .or([predicate(depth: depth - 1), predicate(depth: depth - 1)])
        default: .comparison(comparison())
        }
    }

    private mutating func comparison() -> ComparisonTree {
        switch number(below: 7) {
        case 0, 1: return texts([["title"], ["isbn"], ["author", "name"]])
        case 2: return numbers([["price"], ["author", "rating"], ["author", "age"], ["tags", "@count"]])
        case 3:
            return ComparisonTree(.keyPath(["title"]), pick(orders), .keyPath(pick([["isbn"], ["author", "name"]])))
        case 4: return quantified(texts([["tags", "name"]]))
        case 5:
            let product = ExpressionTree.function(.multiply, [.keyPath(["price"]), .constant(.integer(2))])
            return ComparisonTree(product, pick(orders), .keyPath(["author", "rating"]))
        default:
            return ComparisonTree(
                .keyPath(pick([["author"], ["title"], ["tags"]])), pick([.equalTo, .notEqualTo]), .constant(.null))
        }
    }

    mutating func authorPredicate(depth: Int) -> PredicateTree {
        switch depth > 0 ? number(below: 6) : 5 {
        case 0: return .not(authorPredicate(depth: depth - 1))
        case 1: return .and([authorPredicate(depth: depth - 1), authorPredicate(depth: depth - 1)])
        case 2: return .or([authorPredicate(depth: depth - 1), authorPredicate(depth: depth - 1)])
        case 3:
            return .comparison(
                quantified(
                    number(below: 2) == 0
                        ? texts([["books", "title"], ["books", "tags", "name"]]) : numbers([["books", "price"]])))
        case 4:
            let inner = PredicateTree.comparison(
                ComparisonTree(.path(from: .variable("b"), ["price"]), pick(orders), .keyPath(["rating"])))
            let count = ExpressionTree.path(from: .subquery(of: .keyPath(["books"]), variable: "b", inner), ["@count"])
            return .comparison(ComparisonTree(count, pick(orders), .constant(.integer(Int64(number(below: 4))))))
        default:
            return .comparison(
                number(below: 2) == 0
                    ? numbers([
                        ["age"], ["rating"], ["books", "@count"], ["books", "@sum", "price"],
                        ["books", "@max", "price"],
                    ]) : dateComparison())
        }
    }

    private let orders: [ComparisonOperator] = [
        .equalTo, .notEqualTo, .lessThan, .lessThanOrEqualTo, .greaterThan, .greaterThanOrEqualTo,
    ]

    private mutating func quantified(_ comparison: ComparisonTree) -> ComparisonTree {
        var comparison = comparison
        comparison.modifier = pick([.any, .all])
        return comparison
    }

    private mutating func texts(_ paths: [[String]]) -> ComparisonTree {
        let comparison = pick(orders + [.like, .matches, .beginsWith, .endsWith, .contains, .in, .between])
        let constant: Value
        switch comparison {
        case .in: constant = .collection((0..<number(below: 4)).map { _ in Value(pick(texts)) })
        case .between: constant = .collection([Value(pick(texts) ?? ""), Value(pick(texts) ?? "b")])
        case .like: constant = .string(pick(["*", "a*", "*b", "?", "a?b", "*é*", "", #"a\*b"#]))
        case .matches: constant = .string(pick([".*", "a.b", "[aA]b?", "é", ".", ""]))
        default: constant = Value(pick(texts))
        }
        let options: StringOptions = pick([
            [], [], .caseInsensitive, .diacriticInsensitive, [.caseInsensitive, .diacriticInsensitive], .normalized,
        ])
        return ComparisonTree(.keyPath(pick(paths)), comparison, .constant(constant), options: options)
    }

    private mutating func numbers(_ paths: [[String]]) -> ComparisonTree {
        let comparison = pick(orders + [.in, .between])
        func constant(_ index: Int) -> Value {
            index % 2 == 0 ? Value(numbers[index % numbers.count]) : Value(prices[index % prices.count])
        }
        let value: Value
        switch comparison {
        case .in: value = .collection((0..<number(below: 4)).map { _ in constant(number(below: 60)) })
        case .between: value = .collection([Value(numbers[1 + number(below: 6)]), Value(prices[1 + number(below: 7)])])
        default: value = constant(number(below: 60))
        }
        return ComparisonTree(.keyPath(pick(paths)), comparison, .constant(value))
    }

    private mutating func dateComparison() -> ComparisonTree {
        ComparisonTree(.keyPath(["born"]), pick(orders), .constant(Value(pick(dates))))
    }
}
