import Foundation
import Pippin
import TestSupport
import Testing

private struct Rating: CoreModel, Equatable {
    let id: Int
    var stars: UInt8
    var extra: Int16?
    var group: String
}

@Suite("Sums of small whole numbers")
struct SmallSumTests {
    @Test("are an Int, which holds more than the numbers' own type", arguments: [false, true])
    func sums(inBlock: Bool) async throws {
        let counter = try Counter(Rating.self)
        try await counter.manager.save(
            (0..<400).map { Rating(id: $0, stars: 100, extra: $0 < 2 ? .max : nil, group: $0 % 4 == 0 ? "a" : "b") })
        try await counter.manager.write { store in
            if inBlock { try store.update(Rating.self, where: \.id == 399) { $0.set(\.stars, to: 99) } }
            let less = inBlock ? 1 : 0
            #expect(try store.sum(Rating.self, \.stars) == 40_000 - less)
            #expect(try store.sum(Rating.self, \.extra) == 65_534)
            #expect(try store.sum(Rating.self, \.extra, where: \.id > 10) == nil)
            #expect(try store.sum(Rating.self, \.stars, by: \.group) == ["a": 10_000, "b": 30_000 - less])
            #expect(try store.sum(Rating.self, \.extra, by: \.group) == ["a": 32_767, "b": 32_767])
            #expect(try store.average(Rating.self, \.stars) == Double(40_000 - less) / 400)
        }
    }

    @Test("are the manager's, too")
    func manager() async throws {
        let counter = try Counter(Rating.self)
        try await counter.manager.save((0..<400).map { Rating(id: $0, stars: 100, extra: 1, group: "a") })
        let sum = try await counter.manager.sum(Rating.self, \.stars) ?? 0
        #expect(sum == 40_000)
        #expect(try await counter.manager.sum(Rating.self, \.extra) == 400)
        #expect(try await counter.manager.sum(Rating.self, \.stars, by: \.group) == ["a": 40_000])
        #expect(try await counter.manager.sum(Rating.self, \.extra, by: \.group) == ["a": 400])
    }
}
