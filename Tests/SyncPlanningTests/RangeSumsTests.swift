import Testing

@testable import SyncPlanning

@Suite("Sums of rows by ranges of identifiers")
struct RangeSumsTests {
    private static let known = SyncSchema([
        "Book": SyncEntity([
            "title": SyncProperty(), "tags": SyncProperty(.set), "members": SyncProperty(.list),
        ])
    ]).properties

    private func rows(_ count: Int) -> [RowID: Row] {
        Dictionary(
            uniqueKeysWithValues: (0..<count).map {
                (RowID("Book", "\($0)"), Row(values: ["title": .integer(Int64($0))]))
            })
    }

    private func sums(_ rows: [RowID: Row]) -> RangeSums {
        var sums = RangeSums(Self.known)
        for (id, row) in rows { sums.add(id, row.values) }
        return sums
    }

    @Test("are the same for the same rows, in any order, and for empty collections and none")
    func same() {
        let one = rows(1_000)
        var other = one
        for id in other.keys { other[id]?.values["tags"] = .set([]) }
        #expect(sums(one)[.all] == sums(other)[.all])
        #expect(sums(one).differing(partsOf: [.all], from: sums(other).sums(ofParts: [.all])).isEmpty)
        let a: SyncValue = .set([.integer(1), .text("b"), .reference(RowID("Tag", "t"))])
        let b: SyncValue = .set([.reference(RowID("Tag", "t")), .integer(1), .text("b")])
        #expect(
            RangeSums.sum(of: RowID("Book", "1"), ["tags": a], Self.known)
                == RangeSums.sum(of: RowID("Book", "1"), ["tags": b], Self.known))
    }

    @Test("lead to the rows that differ in few questions")
    func search() {
        let theirs = rows(20_000)
        var own = theirs
        own[RowID("Book", "17")]?.values["title"] = "damaged"
        own[RowID("Book", "4711")] = nil
        own[RowID("Book", "extra")] = Row(values: ["title": "extra"])
        let (mine, server) = (sums(own), sums(theirs))
        var ranges = [IdentifierRange.all]
        var questions = 0
        while let range = ranges.first, range.depth < IdentifierRange.deepest {
            ranges = mine.differing(partsOf: ranges, from: server.sums(ofParts: ranges))
            questions += 1
        }
        #expect(questions == 4 && ranges.count == 3)
        let isThere = { (id: RowID) in ranges.contains(IdentifierRange(of: id)) }
        let changes = RangeSums.repair(
            own.filter { isThere($0.key) }, theirs.filter { isThere($0.key) }, Self.known)
        #expect(
            changes == [
                .values(RowID("Book", "17"), ["title": .integer(17)], nil),
                .row(RowID("Book", "4711"), ["title": .integer(4711)], nil), .deleted(RowID("Book", "extra")),
            ])
    }

    @Test("differ for texts that only look the same, for bits of numbers, orders of lists, and neighbouring properties")
    func different() {
        let id = RowID("Book", "1")
        func sum(_ property: String, _ value: SyncValue) -> UInt64? {
            RangeSums.sum(of: id, [property: value], Self.known)
        }
        let (a, b) = (RowID("Tag", "a"), RowID("Tag", "b"))
        let values: [(String, SyncValue)] = [
            ("title", "\u{E9}"), ("title", "e\u{301}"), ("title", .double(ExactDouble(0))),
            ("title", .double(ExactDouble(-0.0))), ("title", .integer(0)), ("title", .null), ("title", .bool(false)),
            ("title", ""), ("title", .bytes([])), ("title", .decimal("")), ("title", .date(0)),
            ("members", .list([a, b])), ("members", .list([b, a])), ("members", .list([a])),
            ("tags", .set([.reference(a)])), ("tags", .set([.reference(b)])),
        ]
        #expect(Set(values.map { sum($0.0, $0.1) }).count == values.count)
        #expect(sum("unknown", "x") == sum("title", .null))
        #expect(RangeSums.sum(of: RowID("Shelf", "1"), [:], Self.known) == nil)
        // A row that is taken out leaves nothing behind.
        var sums = RangeSums(Self.known)
        sums.add(id, ["title": "a"])
        sums.remove(id, ["title": "a"])
        #expect(sums[.all] == 0)
    }
}
