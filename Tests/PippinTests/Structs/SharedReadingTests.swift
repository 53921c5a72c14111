import CoreData
import Foundation
import TestSupport
import Testing

@testable import Pippin

private struct Seat: CoreModel, Equatable {
    let id: Int
    var row: String
    var isTaken = false
}

@Suite("Equal live queries share one reading")
struct SharedReadingTests {
    @Test("A save is read once for all of them: their lists are the same in memory")
    func oneReading() async throws {
        let manager = PersistenceManager(models: Seat.self, store: .memory)
        try await manager.save(Seat(id: 1, row: "A"))
        let lists = Locked<[Int: [Seat]]>([:])
        let observers = (0..<1_000).map { observer in
            Task {
                let seats = manager.observe(Seat.self, where: \.isTaken == false, sortedBy: .ascending(\.id))
                for try await list in seats {
                    lists.withLock { $0[observer] = list }
                }
            }
        }
        defer { for observer in observers { observer.cancel() } }
        #expect(try await eventually(within: .seconds(300)) { lists.withLock { $0.count } == 1_000 })
        try await manager.save(Seat(id: 2, row: "A"))
        #expect(
            try await eventually(within: .seconds(300)) { lists.withLock { $0.values.allSatisfy { $0.count == 2 } } })
        let places = lists.withLock { lists in
            Set(lists.values.map { $0.withUnsafeBufferPointer { UInt(bitPattern: $0.baseAddress) } })
        }
        #expect(places.count == 1)
    }

    @Test("Queries that differ in a value, the order, the limit or the bytes of a text are told apart")
    func keys() throws {
        let manager = PersistenceManager(models: Seat.self, store: .memory)
        let plan = try manager.registry.plan(of: Seat.self)
        func key(_ request: ModelRequest<Seat>) throws -> ReadingKey {
            let fetcher = StructFetcher<Seat>(plan: plan, registry: manager.registry)
            return ReadingKey(model: ObjectIdentifier(Seat.self), try fetcher.selection(request))
        }
        let all = ModelRequest(Seat.self)
        let keys = try [
            all, all.filter(\.row == "A"), all.filter(\.row == "B"), all.filter(\.row == "\u{e9}"),
            all.filter(\.row == "e\u{301}"), all.filter(\.id == 1), all.limit(1), all.limit(2),
            all.sorted(by: .ascending(\.row)), all.sorted(by: .descending(\.row)),
        ].map(key)
        #expect(Set(keys).count == keys.count)
        #expect(try key(all.filter(\.row == "A")) == keys[1])
        #expect(try key(all.sorted(by: .descending(\.row))) == keys[9])
    }

    @Test("A reading that began before a signal is not for those who heard the signal")
    func later() async throws {
        let shared = SharedReading<Int>()
        let (signals, readings) = (Locked(0), Locked(0))
        let read: @Sendable (Int?) async throws -> Int = { _ in
            readings.withLock {
                $0 += 1
                return $0
            }
        }
        let count: @Sendable () -> Int = { signals.withLock { $0 } }
        #expect(try await shared.state(after: count, isFirst: true, read) == 1)
        #expect(try await shared.state(after: count, isFirst: false, read) == 1)
        signals.withLock { $0 = 1 }
        #expect(try await shared.state(after: count, isFirst: false, read) == 2)
        #expect(try await shared.state(after: count, isFirst: false, read) == 2)
    }

    @Test("Who begins reads for itself: it may know of a save that was not reported")
    func first() async throws {
        let shared = SharedReading<Int>()
        let readings = Locked(0)
        for expected in 1...2 {
            let state = try await shared.state(after: { 0 }, isFirst: true) { _ in
                readings.withLock {
                    $0 += 1
                    return $0
                }
            }
            #expect(state == expected)
        }
    }
}
