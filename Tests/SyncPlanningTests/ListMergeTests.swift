import SyncPlanning
import TestSupport
import Testing

@Suite("A merge of lists")
struct ListMergeTests {
    @Test("keeps the list if neither side changed it")
    func unchanged() {
        #expect(ListMerge.merge(old: [1, 2, 3], mine: [1, 2, 3], theirs: [1, 2, 3]) == [1, 2, 3])
    }

    @Test("puts both sides' members where each side put them")
    func separatePlaces() {
        #expect(ListMerge.merge(old: [1, 2, 3], mine: [1, 10, 2, 3], theirs: [1, 2, 20, 3]) == [1, 10, 2, 20, 3])
    }

    @Test("keeps runs at one place together, theirs first")
    func onePlace() {
        let merged = ListMerge.merge(old: [1, 2], mine: [1, 10, 11, 12, 2], theirs: [1, 20, 21, 22, 2])
        #expect(merged == [1, 20, 21, 22, 10, 11, 12, 2])
    }

    @Test("takes out what either side removed, also if the other one moved it")
    func removals() {
        #expect(ListMerge.merge(old: [1, 2, 3, 4], mine: [1, 3, 4], theirs: [1, 2, 4]) == [1, 4])
        #expect(ListMerge.merge(old: [1, 2, 3], mine: [3, 1, 2], theirs: [1, 2]) == [1, 2])
        #expect(ListMerge.merge(old: [1, 2, 3], mine: [1, 2], theirs: [3, 1, 2]) == [1, 2])
    }

    @Test("puts a member that both moved where this side put it, once")
    func movedByBoth() {
        #expect(ListMerge.merge(old: [1, 2, 3], mine: [3, 1, 2], theirs: [2, 3, 1]).sorted() == [1, 2, 3])
        #expect(ListMerge.merge(old: [1, 2, 3, 4], mine: [4, 1, 2, 3], theirs: [1, 4, 2, 3]) == [4, 1, 2, 3])
    }

    @Test("has a member once that both inserted")
    func insertedByBoth() {
        #expect(ListMerge.merge(old: [1, 2], mine: [1, 2, 9], theirs: [9, 1, 2]) == [1, 2, 9])
    }

    @Test("lets a run follow the last member before it that is still there")
    func goneAnchor() {
        #expect(ListMerge.merge(old: [1, 2, 3], mine: [1, 2, 10, 3], theirs: [1, 3]) == [1, 10, 3])
        #expect(ListMerge.merge(old: [1], mine: [1, 10], theirs: []) == [10])
    }

    @Test("joins two lists that both sides made")
    func withoutOld() {
        #expect(ListMerge.merge(old: [], mine: [1, 2], theirs: [2, 3]) == [3, 1, 2])
    }

    @Test("gives two people who insert 100 lines at one place and move 50 one list, without interleaved runs")
    func twoPeople() {
        let old = Array(0..<1000)
        var mine = old
        mine.insert(contentsOf: 2000..<2100, at: 500)
        var theirs = old
        theirs.insert(contentsOf: 3000..<3100, at: 500)
        theirs = Array(theirs[900..<950]) + theirs[..<900] + theirs[950...]
        let merged = ListMerge.merge(old: old, mine: mine, theirs: theirs)
        #expect(merged.count == 1200)
        #expect(Set(merged).count == 1200)
        let myRun = merged.firstIndex(of: 2000) ?? 0
        let theirRun = merged.firstIndex(of: 3000) ?? 0
        #expect(Array(merged[myRun..<min(myRun + 100, merged.count)]) == Array(2000..<2100))
        #expect(Array(merged[theirRun..<min(theirRun + 100, merged.count)]) == Array(3000..<3100))
    }

    @Test("has each member once and nothing that was removed, for 5,000 random edits")
    func random() {
        var random = SplitMix(state: 7)
        for _ in 0..<5000 {
            let old = Array(0..<Int.random(in: 0..<8, using: &random))
            func edited(_ first: Int) -> [Int] {
                var list = old
                for step in 0..<Int.random(in: 0..<5, using: &random) {
                    switch Int.random(in: 0..<3, using: &random) {
                    case 0: list.insert(first + step, at: Int.random(in: 0...list.count, using: &random))
                    case 1: if !list.isEmpty { list.remove(at: Int.random(in: 0..<list.count, using: &random)) }
                    default:
                        if !list.isEmpty {
                            let member = list.remove(at: Int.random(in: 0..<list.count, using: &random))
                            list.insert(member, at: Int.random(in: 0...list.count, using: &random))
                        }
                    }
                }
                return list
            }
            let mine = edited(100)
            let theirs = edited(200)
            let merged = ListMerge.merge(old: old, mine: mine, theirs: theirs)
            let kept = Set(old).intersection(mine).intersection(theirs)
            let added = Set(mine).union(theirs).subtracting(old)
            #expect(merged.count == Set(merged).count)
            #expect(Set(merged) == kept.union(added), "\(old), \(mine), \(theirs)")
            // A side that changed nothing changes nothing.
            #expect(ListMerge.merge(old: old, mine: old, theirs: theirs) == theirs)
            #expect(ListMerge.merge(old: old, mine: mine, theirs: old) == mine)
        }
    }
}
