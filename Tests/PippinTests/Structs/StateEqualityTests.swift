import Foundation
import Testing

@testable import Pippin

private struct Chapter: CoreModel {
    let id: Int
    var title: String?
    var tags: [String] = []
}

private struct Novel: CoreModel {
    let id: String
    var price: Decimal?
    var chapters: [Chapter]
    var first: Chapter?
}

@Suite("States of models that are not Equatable")
struct StateEqualityTests {
    private let novel = Novel(
        id: "1", price: 9, chapters: [Chapter(id: 1, title: "I", tags: ["a"])], first: Chapter(id: 1))

    @Test("are equal if they encode the same")
    func equal() {
        #expect(areEqual(novel, novel))
        #expect(areEqual([novel], [novel]))
        #expect(areEqual(Optional(novel), Optional(novel)))
        #expect(areEqual(Novel?.none, Novel?.none))
    }

    @Test("differ in any part")
    func different() {
        func differs(_ change: (inout Novel) -> Void) -> Bool {
            var other = novel
            change(&other)
            return !areEqual(novel, other) && !areEqual(other, novel) && !areEqual([novel], [other])
        }
        #expect(differs { $0.price = nil })
        #expect(differs { $0.price = 9.5 })
        #expect(differs { $0.first = nil })
        #expect(differs { $0.first?.title = "nil" })
        #expect(differs { $0.chapters = [] })
        #expect(differs { $0.chapters[0].title = nil })
        #expect(differs { $0.chapters[0].tags.append("b") })
        #expect(differs { $0.chapters.append(Chapter(id: 2)) })
        #expect(!areEqual([novel], [novel, novel]))
        #expect(!areEqual(Optional(novel), nil))
    }

    @Test("are followed by no equal one: a save of another model brings none to who observes one")
    func observed() async throws {
        let manager = PersistenceManager(models: Novel.self, Chapter.self, store: .memory)
        try await manager.save(novel)
        let states = manager.observe(Novel.self, id: "1")
        let seen = Locked<[Decimal?]>([])
        let reader = Task { for try await state in states { seen.withLock { $0.append(state?.price) } } }
        defer { reader.cancel() }
        func wait(for count: Int) async throws {
            for _ in 0..<500 where seen.withLock({ $0.count }) < count { try await Task.sleep(for: .milliseconds(10)) }
        }
        try await wait(for: 1)
        for id in 2..<5 {
            try await manager.save(Novel(id: "\(id)", chapters: []))
            try await Task.sleep(for: .milliseconds(50))
        }
        var changed = novel
        changed.price = 5
        try await manager.save(changed)
        try await wait(for: 2)
        #expect(seen.withLock { $0 } == [9, 5])
    }
}
