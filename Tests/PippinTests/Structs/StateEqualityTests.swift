import Foundation
import TestSupport
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

/// A part of an outline, with its parts.
private struct Part: Codable {
    let name: String
    var parts: [Part] = []
}

private struct Outline: CoreModel {
    let id: String
    var text: Text

    /// Is stored as one value.
    struct Text: Codable { var root: Part }
}

/// Encodes by containers within containers.
private struct Nested: Encodable {
    let lists: [[Int?]]

    func encode(to encoder: any Encoder) throws {
        var outer = encoder.unkeyedContainer()
        for list in lists {
            var inner = outer.nestedUnkeyedContainer()
            for number in list {
                if let number { try inner.encode(number) } else { try inner.encodeNil() }
            }
        }
    }
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

    @Test("differ in what contains their parts")
    func trees() {
        let deep = Part(name: "root", parts: [Part(name: "A", parts: [Part(name: "B")])])
        let flat = Part(name: "root", parts: [Part(name: "A"), Part(name: "B")])
        #expect(areEqual(deep, deep) && areEqual(flat, flat))
        #expect(!areEqual(deep, flat) && !areEqual(flat, deep))
        #expect(!areEqual([[deep], [flat]], [[deep, flat]]))
        #expect(!areEqual(Nested(lists: [[1], [2]]), Nested(lists: [[1, 2], []])))
        #expect(!areEqual(Nested(lists: [[1], [2]]), Nested(lists: [[], [1, 2]])))
        #expect(!areEqual(Nested(lists: [[nil]]), Nested(lists: [[]])))
        #expect(areEqual(Nested(lists: [[1, nil], []]), Nested(lists: [[1, nil], []])))
    }

    @Test("differ where one has no value, and the other the text “nil”")
    func nothing() {
        struct Words: Encodable {
            let words: [String?]
            func encode(to encoder: any Encoder) throws {
                var list = encoder.unkeyedContainer()
                for word in words { if let word { try list.encode(word) } else { try list.encodeNil() } }
            }
        }
        #expect(!areEqual(Words(words: [nil]), Words(words: ["nil"])))
        #expect(areEqual(Words(words: [nil]), Words(words: [nil])))
    }

    @Test("are followed by one in which a part has moved into another", .timeLimit(.minutes(1)))
    func moved() async throws {
        let manager = PersistenceManager(models: Outline.self, store: .memory)
        let flat = Part(name: "root", parts: [Part(name: "A"), Part(name: "B")])
        try await manager.save(Outline(id: "1", text: Outline.Text(root: flat)))
        var states = manager.observe(Outline.self, id: "1").makeAsyncIterator()
        #expect(try await states.next()??.text.root.parts.map(\.name) == ["A", "B"])
        let deep = Part(name: "root", parts: [Part(name: "A", parts: [Part(name: "B")])])
        try await manager.save(Outline(id: "1", text: Outline.Text(root: deep)))
        #expect(try await states.next()??.text.root.parts.map(\.name) == ["A"])
    }

    @Test("are followed by no equal one: a save of another model brings none to who observes one")
    func observed() async throws {
        let manager = PersistenceManager(models: Novel.self, Chapter.self, store: .memory)
        var novel = novel
        novel.first = novel.chapters.first
        try await manager.save(novel)
        let states = manager.observe(Novel.self, id: "1")
        let seen = Locked<[Decimal?]>([])
        let reader = Task { for try await state in states { seen.withLock { $0.append(state?.price) } } }
        defer { reader.cancel() }
        #expect(try await eventually { seen.withLock { $0.count } == 1 })
        for id in 2..<5 {
            try await manager.save(Novel(id: "\(id)", chapters: []))
            try await Task.sleep(for: .milliseconds(50))
        }
        var changed = novel
        changed.price = 5
        try await manager.save(changed)
        _ = try await eventually { seen.withLock { $0.count } >= 2 }
        #expect(seen.withLock { $0 } == [9, 5])
    }
}
