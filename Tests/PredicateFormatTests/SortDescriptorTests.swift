import PredicateFormat
import Testing

@Suite("A sort descriptor by key")
struct SortDescriptorTests {
    private func sorted(_ values: [Any], _ descriptors: NSSortDescriptor...) -> [String] {
        let sorted = (values as NSArray).sortedArray(using: descriptors)
        return sorted.map { ($0 as? [String: Any])?["name"] as? String ?? "nil" }
    }

    private func named(_ names: String?...) -> [Any] {
        names.map { name in name.map { ["name": $0] } ?? [:] as [String: Any] }
    }

    @Test("sorts by values, the missing first, strings by code points")
    func plain() {
        let names = named("b", "B", nil, "é", "a")
        #expect(sorted(names, NSSortDescriptor(key: "name", ascending: true)) == ["nil", "B", "a", "b", "é"])
        #expect(sorted(names, NSSortDescriptor(key: "name", ascending: false)) == ["é", "b", "a", "B", "nil"])
    }

    @Test("sorts strings by a method")
    func selectors() {
        let names = named("b10", "B9", "a", "é", "f")
        func order(_ selector: String) -> [String] {
            sorted(names, NSSortDescriptor(key: "name", ascending: true, selector: NSSelectorFromString(selector)))
        }
        #expect(order("caseInsensitiveCompare:") == ["a", "b10", "B9", "f", "é"])
        #expect(order("localizedStandardCompare:") == ["a", "B9", "b10", "é", "f"])
        #expect(order("compare:") == ["B9", "a", "b10", "f", "é"])
    }

    @Test("sorts by several keys in turn, and along key paths")
    func several() {
        let people = [
            Person("x", age: 2, boss: Person("b")), Person("y", age: 1, boss: Person("a")), Person("z", age: 1),
        ]
        let order = (people as NSArray).sortedArray(using: [
            NSSortDescriptor(key: "age", ascending: true), NSSortDescriptor(key: "boss.name", ascending: false),
        ])
        #expect(order.map { ($0 as? Person)?.name } == ["y", "z", "x"])
    }

    @Test("knows its key and direction, its reverse and its equals")
    func properties() {
        let descriptor = NSSortDescriptor(key: "author.name", ascending: false)
        #expect(descriptor.key == "author.name")
        #expect(!descriptor.ascending)
        #expect(descriptor.selector == "compare:")
        #expect((descriptor.reversedSortDescriptor as? NSSortDescriptor)?.ascending == true)
        #expect(descriptor == NSSortDescriptor(key: "author.name", ascending: false))
        #expect(descriptor != NSSortDescriptor(key: "author.name", ascending: true))
    }

    @Test("finds the first few of many in the order of all, equal ones as they came", arguments: [0, 1, 2, 5, 40])
    func firstFew(count: Int) {
        final class Item: NSObject, KeyedOperand {
            let (number, rank): (Int, Int)
            init(_ number: Int) { (self.number, rank) = (number, number * 7 % 5) }
            func operand(forKey key: String) -> Value { key == "rank" ? .integer(Int64(rank)) : .null }
        }
        for ascending in [true, false] {
            let terms = [
                SortTerm(keyPath: ["missing"], ascending: true), SortTerm(keyPath: ["rank"], ascending: ascending),
            ]
            let ordered = (0..<41).sorted {
                let (left, right) = ($0 * 7 % 5, $1 * 7 % 5)
                return left == right ? $0 < $1 : (left < right) == ascending
            }
            let first = (0..<41).map(Item.init).sorted(by: terms, first: count)
            #expect(first.map(\.number) == Array(ordered.prefix(count)))
        }
    }

    @Test("becomes a term of a sort order")
    func terms() throws {
        let terms = try sortTerms(of: [
            NSSortDescriptor(key: "author.name", ascending: true, selector: "caseInsensitiveCompare:"),
            NSSortDescriptor(key: nil, ascending: false),
        ])
        #expect(
            terms == [
                SortTerm(keyPath: ["author", "name"], ascending: true, comparison: .caseInsensitive),
                SortTerm(keyPath: [], ascending: false),
            ])
    }

    @Test("sorts many objects by its term as one by one")
    func sortedByTerms() {
        final class Item: NSObject, KeyedOperand {
            let number: Int64
            init(_ number: Int64) { self.number = number }
            func operand(forKey key: String) -> Value { key == "rest" ? .integer(number % 3) : .integer(number) }
        }
        let items = (0..<10).map { Item(($0 * 7) % 10) }
        let terms = [SortTerm(keyPath: ["rest"], ascending: false), SortTerm(keyPath: ["number"], ascending: true)]
        #expect(items.sorted(by: terms).map(\.number) == [2, 5, 8, 1, 4, 7, 0, 3, 6, 9])
    }

    @Test("sorts in memory if it is code, and has no term")
    func comparator() {
        let descriptor = NSSortDescriptor(key: "name", ascending: true) { first, second in
            let (a, b) = ((first as? String ?? "").count, (second as? String ?? "").count)
            return a < b ? .orderedAscending : a > b ? .orderedDescending : .orderedSame
        }
        #expect(sorted(named("ccc", "a", "bb"), descriptor) == ["a", "bb", "ccc"])
        #expect(throws: PredicateWithoutTreeError.self) { try sortTerms(of: [descriptor]) }
        #expect(throws: PredicateWithoutTreeError.self) {
            try sortTerms(of: [NSSortDescriptor(keyPath: \String.count, ascending: true)])
        }
    }

    @Test("becomes a term for a Swift key path, by the names that the caller knows")
    func keyPaths() throws {
        let descriptor = NSSortDescriptor(keyPath: \String.count, ascending: false)
        #expect(try sortTerms(of: [descriptor]) { _ in ["count"] } == [SortTerm(keyPath: ["count"], ascending: false)])
    }

    private struct Track: Hashable {
        var title: String?
        var isLong = false
        var length = 1
        var shout: String { (title ?? "").uppercased() }
    }

    @Test("takes optional values and Booleans by a Swift key path")
    func optionalKeyPaths() throws {
        let title = NSSortDescriptor(keyPath: \Track.title, ascending: true)
        #expect(title.key == "title")
        #expect(try sortTerms(of: [title]) == [SortTerm(keyPath: ["title"], ascending: true)])
        let tracks = [Track(title: "b", isLong: true), Track(title: nil), Track(title: "a", isLong: true)]
        let byTitle = (tracks as NSArray).sortedArray(using: [title]).compactMap { $0 as? Track }
        #expect(byTitle.map(\.title) == [nil, "a", "b"])
        let long = NSSortDescriptor(keyPath: \Track.isLong, ascending: false)
        let byLength = (tracks as NSArray).sortedArray(using: [long, title]).compactMap { $0 as? Track }
        #expect(byLength.map(\.title) == ["a", "b", nil])
    }

    @Test("is made of Swift's SortDescriptor")
    func swiftDescriptors() throws {
        let terms = try sortTerms(of: [
            NSSortDescriptor(SortDescriptor(\Track.title, order: .reverse)),
            NSSortDescriptor(SortDescriptor(\Track.length)),
            NSSortDescriptor(SortDescriptor(\Track.title, comparator: .lexical)),
        ])
        #expect(
            terms == [
                SortTerm(keyPath: ["title"], ascending: false), SortTerm(keyPath: ["length"], ascending: true),
                SortTerm(keyPath: ["title"], ascending: true),
            ])
    }

    @Test("sorts sets and ordered sets, and in place")
    func collections() {
        let descriptor = NSSortDescriptor(key: "self", ascending: false)
        #expect(NSSet(array: [1, 3, 2]).sortedArray(using: [descriptor]) as? [Int] == [3, 2, 1])
        #expect(NSOrderedSet(array: [1, 3, 2]).sortedArray(using: [descriptor]) as? [Int] == [3, 2, 1])
        let array = NSMutableArray(array: [1, 3, 2])
        array.sort(using: [descriptor])
        #expect(array as? [Int] == [3, 2, 1])
        let set = NSMutableOrderedSet(array: [1, 3, 2])
        set.sort(using: [descriptor])
        #expect(set.array as? [Int] == [3, 2, 1])
    }

    @Test("sorts in memory if it has no name")
    func computed() {
        let descriptor = NSSortDescriptor(keyPath: \Track.shout.first, ascending: true)
        #expect(descriptor.key == nil)
        let sorted = ([Track(title: "b"), Track(title: "a")] as NSArray).sortedArray(using: [descriptor])
        #expect(sorted.compactMap { ($0 as? Track)?.title } == ["a", "b"])
    }
}
