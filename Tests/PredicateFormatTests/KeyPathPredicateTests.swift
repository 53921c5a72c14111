import PredicateFormat
import PredicateOperators
import Testing

private struct Publisher {
    var name = "Orbit"
    var city: String?
}

private struct Chapter: Hashable {
    var title = "One"
    var pages = 10
}

private final class Novel {
    enum Genre: String { case crime, space }

    var title = "Matter"
    var subtitle: String?
    var year = 2008
    var reprinted: Int?
    var price = 8.5
    var isLent = true
    var genre = Genre.space
    var published = Date(timeIntervalSinceReferenceDate: 0)
    var publisher = Publisher()
    var agent: Publisher?
    var tags: [String] = ["sf"]
    var chapters: Set<Chapter> = [Chapter()]
    var awards: NSSet? = NSSet()
    var upper: String { title.uppercased() }
}

private func isPredicate(_ predicate: NSPredicate, _ format: String, _ arguments: Any?...) throws {
    #expect(formatString(of: predicate) == format)
    // The same tree as the format string's, and so equal to its predicate.
    #expect(predicate == (try NSPredicate(parsing: format, arguments: arguments)))
}

@Suite("Predicates of key paths")
struct KeyPathPredicateTests {
    @Test("compare properties with values by operators")
    func operators() throws {
        try isPredicate(\Novel.title == "Matter", #"title == "Matter""#)
        try isPredicate(\Novel.title != "Matter", #"title != "Matter""#)
        try isPredicate(\Novel.year < 2000, "year < 2000")
        try isPredicate(\Novel.year <= 2000, "year <= 2000")
        try isPredicate(\Novel.year > 2000, "year > 2000")
        try isPredicate(\Novel.year >= 2000, "year >= 2000")
        try isPredicate(\Novel.isLent == true, "isLent == 1")
        try isPredicate(\Novel.price == 8.5, "price == 8.5")
        try isPredicate(
            \Novel.published < Date(timeIntervalSinceReferenceDate: 1), #"published < CAST(1.000000, "NSDate")"#)
    }

    @Test("compare properties that may be nil with nil and with values")
    func optionals() throws {
        try isPredicate(\Novel.subtitle == nil, "subtitle == nil")
        try isPredicate(\Novel.subtitle != nil, "subtitle != nil")
        try isPredicate((\Novel.subtitle).isNil, "subtitle == nil")
        try isPredicate((\Novel.agent).isNotNil, "agent != nil")
        try isPredicate(\Novel.subtitle == "x", #"subtitle == "x""#)
        try isPredicate(\Novel.reprinted > 2000, "reprinted > 2000")
        try isPredicate((\Novel.reprinted).between(2000, 2010), "reprinted BETWEEN {2000, 2010}")
        let limit: Int? = nil
        try isPredicate(\Novel.reprinted == limit, "reprinted == nil")
    }

    @Test("lead through relationships to properties")
    func relationships() throws {
        try isPredicate(\Novel.publisher.name == "Orbit", #"publisher.name == "Orbit""#)
        try isPredicate(\Novel.agent?.name == "Orbit", #"agent.name == "Orbit""#)
        try isPredicate(\Novel.agent?.city == nil, "agent.city == nil")
    }

    @Test("take an enumeration by its raw value")
    func rawValues() throws {
        try isPredicate(\Novel.genre == .space, #"genre == "space""#)
        try isPredicate((\Novel.genre).in([.crime, .space]), #"genre IN {"crime", "space"}"#)
    }

    @Test("ask for ranges and lists")
    func ranges() throws {
        try isPredicate((\Novel.year).between(2000, 2010), "year BETWEEN {2000, 2010}")
        try isPredicate((\Novel.year).in(2000...2010), "year BETWEEN {2000, 2010}")
        try isPredicate((\Novel.year).in(2000..<2010), "year >= 2000 AND year < 2010")
        try isPredicate((\Novel.year).in([2000, 2001]), "year IN {2000, 2001}")
        try isPredicate((\Novel.subtitle).in(["a", "b"]), #"subtitle IN {"a", "b"}"#)
    }

    @Test("search texts, with options")
    func texts() throws {
        try isPredicate((\Novel.title).beginsWith("M"), #"title BEGINSWITH "M""#)
        try isPredicate((\Novel.subtitle).endsWith("r", options: .caseInsensitive), #"subtitle ENDSWITH[c] "r""#)
        try isPredicate(
            (\Novel.title).contains("att", options: [.caseInsensitive, .diacriticInsensitive]),
            #"title CONTAINS[cd] "att""#)
        try isPredicate((\Novel.title).like("M*r", options: .diacriticInsensitive), #"title LIKE[d] "M*r""#)
        try isPredicate((\Novel.title).matches("[A-Z].*", options: .normalized), #"title MATCHES[n] "[A-Z].*""#)
        try isPredicate((\Novel.title).equals("matter", options: .localeSensitive), #"title ==[l] "matter""#)
        try isPredicate((\Novel.title).in(["a", "b"], options: .caseInsensitive), #"title IN[c] {"a", "b"}"#)
        try isPredicate((\Novel.publisher.name).beginsWith("O"), #"publisher.name BEGINSWITH "O""#)
    }

    @Test("ask for any, all or none of a to-many property")
    func quantifiers() throws {
        try isPredicate((\Novel.chapters).any(\.title) == "One", #"ANY chapters.title == "One""#)
        try isPredicate((\Novel.chapters).all(\.pages) > 5, "ALL chapters.pages > 5")
        try isPredicate((\Novel.chapters).none(\.title).beginsWith("X"), #"NOT ANY chapters.title BEGINSWITH "X""#)
        try isPredicate((\Novel.tags).any(\.self) == "sf", #"ANY tags == "sf""#)
        try isPredicate((\Novel.awards).any(\Publisher.name) == "Hugo", #"ANY awards.name == "Hugo""#)
    }

    @Test("compute one value of a to-many property")
    func computations() throws {
        try isPredicate((\Novel.chapters).count > 3, "chapters.@count > 3")
        try isPredicate((\Novel.chapters).sum(\.pages) > 100, "chapters.@sum.pages > 100")
        try isPredicate((\Novel.chapters).average(\.pages) > 10.5, "chapters.@avg.pages > 10.5")
        try isPredicate((\Novel.chapters).max(\.pages) <= 20, "chapters.@max.pages <= 20")
        try isPredicate((\Novel.awards).count == 0, "awards.@count == 0")
        try isPredicate(
            (\Novel.chapters).filter(\Chapter.pages > 5 && \Chapter.title != "x").count == 1,
            #"SUBQUERY(chapters, $member, $member.pages > 5 AND $member.title != "x").@count == 1"#)
    }

    @Test("compare two properties of an object")
    func twoProperties() throws {
        try isPredicate(\Novel.title == KeyPathExpression(\Novel.publisher.name), "title == publisher.name")
        try isPredicate(\Novel.reprinted > KeyPathExpression(\Novel.reprinted), "reprinted > reprinted")
    }

    @Test("are joined by &&, || and !, a chain of one operator as one list")
    func compounds() throws {
        let old = \Novel.year < 1950
        try isPredicate(old && \Novel.price > 5 && \Novel.isLent == false, "year < 1950 AND price > 5 AND isLent == 0")
        try isPredicate(old || \Novel.price > 5 || \Novel.isLent == false, "year < 1950 OR price > 5 OR isLent == 0")
        try isPredicate(!(old && \Novel.price > 5), "NOT (year < 1950 AND price > 5)")
        try isPredicate(
            \Novel.year > 1 && (\Novel.title).beginsWith("dev-"), #"year > 1 AND title BEGINSWITH "dev-""#)
        try isPredicate(old && NSPredicate(format: "tags[SIZE] == 1"), "year < 1950 AND tags[SIZE] == 1")
    }

    @Test("evaluate as what they say")
    func evaluation() {
        let novel = Novel()
        #expect((\Novel.year > 2000 && (\Novel.title).beginsWith("m", options: .caseInsensitive)).evaluate(with: novel))
        #expect(((\Novel.chapters).any(\.pages) == 10 && (\Novel.tags).count == 1).evaluate(with: novel))
        #expect(!(\Novel.year > 2000 && \Novel.subtitle == "x").evaluate(with: novel))
    }

    @Test("leave Swift's own operators alone")
    func ordinarySwift() {
        let same = \Novel.year == \Novel.year
        #expect(same)
        let different: Bool = \Novel.year != \Novel.year
        #expect(!different)
        let keyPaths: [PartialKeyPath<Novel>] = [\.year, \.title]
        #expect(keyPaths.contains(\Novel.title) && keyPaths.count > 1 || keyPaths.isEmpty)
        let numbers = [1, 2, 3].filter { $0 > 1 && $0 != 3 || !($0 < 3) }.map { $0 * 2 + 1 }
        #expect(numbers == [5, 7])
        #expect([Novel()].map(\.year).max() == 2008)
    }
}

@Suite("Predicates by name")
struct NamedPredicateTests {
    @Test("compare by the argument's label")
    func filters() throws {
        try isPredicate(.filter(keyPath: \Novel.year, equalTo: 42), "year == 42")
        try isPredicate(.filter(keyPath: \Novel.subtitle, equalTo: "John"), #"subtitle == "John""#)
        try isPredicate(.filter(keyPath: \Novel.subtitle, notEqualTo: nil), "subtitle != nil")
        try isPredicate(.filter(keyPath: \Novel.year, moreThan: 30), "year > 30")
        try isPredicate(.filter(keyPath: \Novel.reprinted, moreThanOrEqual: 30), "reprinted >= 30")
        try isPredicate(.filter(keyPath: \Novel.year, lessThan: 30), "year < 30")
        try isPredicate(.filter(keyPath: \Novel.year, lessThanOrEqual: 30), "year <= 30")
        try isPredicate(.filter(keyPath: \Novel.subtitle, in: ["tag1", "tag2"]), #"subtitle IN {"tag1", "tag2"}"#)
        try isPredicate(
            .filter(keyPath: \Novel.title, value: "dev-", operator: .beginsWith), #"title BEGINSWITH "dev-""#)
        try isPredicate(
            .filter(keyPath: \Novel.title, value: "d*", operator: .like, options: .caseInsensitive),
            #"title LIKE[c] "d*""#)
    }

    @Test("are joined and negated")
    func compounds() throws {
        try isPredicate(
            .compound(
                .filter(keyPath: \Novel.year, moreThan: 30),
                .filter(keyPath: \Novel.title, value: "dev-", operator: .beginsWith)),
            #"year > 30 AND title BEGINSWITH "dev-""#)
        try isPredicate(.compound([\Novel.year > 1, \Novel.year < 9], by: .or), "year > 1 OR year < 9")
        try isPredicate(.not(.filter(keyPath: \Novel.title, in: ["a"])), #"NOT title IN {"a"}"#)
    }

    @Test("take an expression of a key path")
    func expressions() {
        #expect(NSExpression(forKeyPath: \Novel.agent?.name) == NSExpression(forKeyPath: "agent.name"))
    }
}
