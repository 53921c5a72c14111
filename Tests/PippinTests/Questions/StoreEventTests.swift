import Pippin
import Synchronization
import TestSupport
import Testing

private struct Monitored: CoreModel, Equatable {
    let id: Int
    var title: String
}

@Suite("A program that listens to its stores", .hearsEvents)
struct StoreEventTests {
    private let place: StorePlace

    init() throws { place = try StorePlace() }

    /// The events of the statements about this suite's models: others may run at the same time.
    private func events(_ work: () async throws -> Void) async rethrows -> [StoreEvent] {
        let events = Mutex<[StoreEvent]>([])
        StoreEvent.receive { event in
            if event.statement.lowercased().contains("monitored") { events.withLock { $0.append(event) } }
        }
        defer { StoreEvent.receive(nil) }
        try await work()
        return events.withLock { $0 }
    }

    @Test("hears of statements: the text without values, the time, the rows")
    func statements() async throws {
        let events = try await events {
            let manager = try place.loaded([Monitored.self])
            try await manager.save((0..<5).map { Monitored(id: $0, title: "secret \($0)") })
            #expect(try await manager.fetch(Monitored.self, where: \.id < 3).count == 3)
        }
        let read = try #require(events.last { $0.statement.hasPrefix("SELECT") })
        #expect(read.kind == .statement && read.rows == 3 && read.error == nil && read.duration >= .zero)
        #expect(events.contains { $0.statement.hasPrefix("INSERT") || $0.statement.hasPrefix("COPY") })
        #expect(!events.contains { $0.statement.contains("secret") || $0.statement.hasPrefix("PRAGMA") })
    }

    @Test("hears of errors: what the database said")
    func errors() async throws {
        let events = try await events {
            let manager = try place.loaded([Monitored.self])
            await #expect(throws: PersistenceError.self) {
                try await manager.rows(Int.self, "SELECT nothing FROM \(Monitored.self)")
            }
        }
        let failed = try #require(events.last { $0.error != nil })
        #expect(failed.statement.contains("nothing") && failed.error?.contains("nothing") == true && failed.rows == 0)
    }

    @Test("hears nothing once it has stopped listening")
    func unset() async throws {
        let heard = Mutex(0)
        StoreEvent.receive { event in
            if event.statement.lowercased().contains("monitored") { heard.withLock { $0 += 1 } }
        }
        let manager = try place.loaded([Monitored.self])
        StoreEvent.receive(nil)
        let before = heard.withLock { $0 }
        try await manager.save(Monitored(id: 1, title: "Emma"))
        #expect(heard.withLock { $0 } == before && before > 0)
    }
}
