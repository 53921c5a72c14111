import SyncPlanning
import Testing

@Suite("A merge of a property")
struct PropertyMergeTests {
    private func merge(
        _ rule: MergeRule, old: SyncValue?, mine: SyncValue, theirs: SyncValue, theyChanged: Bool = true,
        mineIsLater: Bool = false
    ) -> SyncValue {
        PropertyMerge.merge(
            rule, old: old, mine: mine, theirs: theirs, theyChanged: theyChanged, mineIsLater: mineIsLater)
    }

    @Test("takes the later edit, and the only one if the other side changed nothing")
    func laterEdit() {
        #expect(merge(.laterEdit, old: "a", mine: "b", theirs: "c", mineIsLater: true) == "b")
        #expect(merge(.laterEdit, old: "a", mine: "b", theirs: "c") == "c")
        #expect(merge(.laterEdit, old: "a", mine: "b", theirs: "a", theyChanged: false) == "b")
    }

    @Test("adds both differences of a sum, and leaves a sum that does not fit to the later edit")
    func sum() {
        #expect(merge(.sum, old: .integer(5), mine: .integer(7), theirs: .integer(10)) == .integer(12))
        #expect(merge(.sum, old: .integer(5), mine: .integer(7), theirs: .integer(7)) == .integer(9))
        #expect(merge(.sum, old: .integer(0), mine: .integer(1), theirs: .integer(.max)) == .integer(.max))
        #expect(merge(.sum, old: .integer(.min), mine: .integer(.max), theirs: .integer(3)) == .integer(3))
    }

    @Test("takes one of two equal seeds of a sum")
    func seeds() {
        #expect(merge(.sum, old: nil, mine: .integer(5), theirs: .integer(5)) == .integer(5))
    }

    @Test("takes the larger value, also beside null")
    func larger() {
        #expect(merge(.larger, old: .integer(1), mine: .integer(3), theirs: .integer(2)) == .integer(3))
        #expect(merge(.larger, old: .integer(1), mine: .integer(2), theirs: .integer(3)) == .integer(3))
        #expect(merge(.larger, old: .null, mine: .null, theirs: .integer(3)) == .integer(3))
    }

    @Test("unites sets without what either side removed")
    func union() {
        let merged = merge(.union, old: .set(["a", "b"]), mine: .set(["b", "c"]), theirs: .set(["a", "d"]))
        #expect(merged == .set(["c", "d"]))
    }

    @Test("tells a composed letter from a decomposed one, and not a number from itself")
    func bytes() {
        #expect(SyncValue.text("\u{E9}") != SyncValue.text("e\u{301}"))
        #expect(RowID("Book", "\u{E9}") != RowID("Book", "e\u{301}"))
        #expect(SyncValue.double(ExactDouble(.nan)) == SyncValue.double(ExactDouble(.nan)))
        #expect(SyncValue.double(ExactDouble(0)) != SyncValue.double(ExactDouble(-0.0)))
    }
}

extension SyncValue: ExpressibleByStringLiteral {
    package init(stringLiteral value: String) { self = .text(ExactText(value)) }
}
