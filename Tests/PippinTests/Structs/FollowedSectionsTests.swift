import Foundation
import TestSupport
import Testing

@testable import Pippin

private struct Tune: CoreModel, Equatable {
    let id: Int
    var album: String
    var title: String
}

@Suite("A list in sections that follows")
struct FollowedSectionsTests {
    /// What changes one list into another.
    private func edit(_ former: [Tune], _ tunes: [Tune]) -> ListEdit {
        let difference = ListDifference(from: former, to: tunes)
        return ListEdit(
            removals: difference.removals, insertions: difference.insertions.map(\.index),
            updates: difference.updates.map(\.index), moves: difference.moves.map { .init(from: $0.from, to: $0.to) })
    }

    @Test("is the list that is made anew, and changes as the two lists differ, whatever comes, goes, moves and changes")
    func random() {
        for seed in 1...300 as ClosedRange<UInt64> {
            var numbers = SeededNumbers(seed: seed)
            func tune(_ id: Int) -> Tune {
                Tune(id: id, album: "\(numbers.next(below: 5))", title: "\(numbers.next(below: 3))")
            }
            var tunes: [Tune] = []
            var sections = FollowedSections<Tune>()
            for step in 0..<12 {
                let former = tunes
                tunes.removeAll { _ in numbers.next(below: 6) == 0 }
                for place in tunes.indices where numbers.next(below: 6) == 0 { tunes[place] = tune(tunes[place].id) }
                for _ in 0..<numbers.next(below: 3) where !tunes.isEmpty {
                    let moving = tunes.remove(at: numbers.next(below: tunes.count))
                    tunes.insert(moving, at: numbers.next(below: tunes.count + 1))
                }
                for index in 0..<numbers.next(below: 6) {
                    tunes.insert(tune(100 * step + index), at: numbers.next(below: tunes.count + 1))
                }
                let changes = sections.follow(edit(former, tunes), to: tunes) { $0.album }
                let whole = SectionedList(tunes) { $0.album }
                #expect(sections.list.sections.map(\.name) == whole.sections.map(\.name), "\(seed), \(step)")
                #expect(sections.list.models == whole.models, "\(seed), \(step)")
                #expect(changes == whole.changes(from: SectionedList(former) { $0.album }), "\(seed), \(step)")
            }
        }
    }

    @Test("asks for the headings of models that came, moved or changed, and of no others")
    func headings() {
        var tunes = (0..<100).map { Tune(id: $0, album: "\($0 / 10)", title: "") }
        var sections = FollowedSections<Tune>()
        sections.replace(with: tunes) { $0.album }
        let former = tunes
        tunes[31].title = "other"
        tunes.remove(at: 77)
        var asked: [Int] = []
        let changes = sections.follow(edit(former, tunes), to: tunes) { tune in
            asked.append(tune.id)
            return tune.album
        }
        #expect(asked == [31])
        #expect(changes.updates == [[3, 1]])
        #expect(changes.removals == [[7, 7]])
    }

    @Test("forgets headings that no model has any more")
    func oldHeadings() {
        var tunes = (0..<10).map { Tune(id: $0, album: "\($0)", title: "") }
        var sections = FollowedSections<Tune>()
        sections.replace(with: tunes) { $0.album }
        for step in 1...300 {
            let former = tunes
            tunes[step % 10].album = "\(step % 10) at \(step)"
            let changes = sections.follow(edit(former, tunes), to: tunes) { $0.album }
            let whole = SectionedList(tunes) { $0.album }
            #expect(sections.list.sections.map(\.name) == whole.sections.map(\.name))
            #expect(changes == whole.changes(from: SectionedList(former) { $0.album }), "\(step)")
            #expect(sections.names.count < 100)
        }
    }

    @Test("gives an observation's sections, save by save")
    func observed() async throws {
        let manager = PersistenceManager(models: Tune.self, store: .memory)
        try await manager.save((0..<60).map { Tune(id: $0, album: "\($0 / 20)", title: "t") })
        var updates = manager.observe(Tune.self, sortedBy: .ascending(\.id)).sections(by: { $0.album })
            .makeAsyncIterator()
        let first = try #require(try await updates.next())
        #expect(first.list.sections.map(\.models.count) == [20, 20, 20])
        #expect(first.changes.insertedSections == IndexSet(0...2))
        try await manager.save(Tune(id: 25, album: "0", title: "moved"))
        let second = try #require(try await updates.next())
        #expect(second.changes.moves == [.init(from: [1, 5], to: [0, 20])])
        #expect(second.changes.updates == [[0, 20]])
        #expect(second.list.sections[0].models.last?.title == "moved")
    }
}
