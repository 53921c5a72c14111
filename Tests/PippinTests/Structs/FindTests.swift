import Foundation
import TestSupport
import Testing

@testable import Pippin

private struct Journey: CoreModel, Equatable {
    let id: Int
    var name: String
    var stops: [Stop]
    var guests: [Guest]
    var guide: Guest?
    var hosts: [Reference<Guest>]?

    static var schema: Schema<Journey> { Schema(.owns(\.stops)) }
}

private struct Stop: CoreModel, Equatable {
    let id: Int
    var place: String

    /// Runs, once, while a stop is read.
    static let interruption = Locked<(@Sendable () -> Void)?>(nil)

    init(id: Int, place: String) { (self.id, self.place) = (id, place) }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(Int.self, forKey: .id)
        place = try container.decode(String.self, forKey: .place)
        let interruption = Self.interruption.withLock { known in
            defer { known = nil }
            return known
        }
        interruption?()
    }

    private enum CodingKeys: String, CodingKey { case id, place }
}

private struct Guest: CoreModel, Equatable {
    let id: String
    var name: String
}

@Suite("Finding models that lead to others, by identifiers", .serialized)
struct FindTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func manager() -> PersistenceManager {
        PersistenceManager(models: Journey.self, Guest.self, store: .file(folder.file("journeys.sqlite")))
    }

    private func journey(_ id: Int, guests: [String], name: String = "Journey") -> Journey {
        Journey(
            id: id, name: name, stops: (0..<id % 3).map { Stop(id: id * 10 + $0, place: "Stop") },
            guests: guests.map { Guest(id: $0, name: "Guest") },
            guide: guests.first.map { Guest(id: $0, name: "Guest") },
            hosts: id % 2 == 0 ? nil : guests.map { Reference(id: $0) })
    }

    @Test(
        "gives the models that fetching gives: alone, in the order of the identifiers, and nothing for what is not there"
    )
    func found() async throws {
        let manager = manager()
        let journeys = (0..<300).map { id in journey(id, guests: (0..<id % 4).map { "g\((id + $0) % 20)" }) }
        try await manager.save(journeys)
        for id in [0, 1, 2, 3, 4, 5, 6, 7, 299] {
            #expect(try await manager.find(Journey.self, id: id) == journeys[id])
        }
        #expect(try await manager.find(Journey.self, id: 300) == nil)
        let ids = [7, 500, 3] + Array((0..<300).reversed()) + [3]
        let expected = ids.filter { $0 < 300 }.map { journeys[$0] }
        #expect(try await manager.find(Journey.self, ids: ids) == expected)
        try await manager.read { store in
            let found = try ids.compactMap { try store.find(Journey.self, id: $0) }
            #expect(found == expected)
            #expect(try store.find(Journey.self, ids: ids) == expected)
        }
        try await manager.write { store in
            var changed = journeys[5]
            changed.guests = [Guest(id: "new", name: "New")]
            try store.save(changed)
            #expect(try store.find(Journey.self, id: 5) == changed)
            try store.delete(Journey.self, id: 6)
            #expect(try store.find(Journey.self, ids: [4, 6, 5]) == [journeys[4], changed])
        }
    }

    @Test("is of one state, whoever saves between the model and what is in it")
    func oneState() async throws {
        let (manager, other) = (manager(), manager())
        let former = journey(2, guests: ["a", "b"], name: "former")
        let later = journey(2, guests: ["c"], name: "later")
        try await manager.save(former)
        _ = try await other.find(Journey.self, id: 2)
        Stop.interruption.withLock { $0 = { try? other.writeAndWait { try $0.save(later) } } }
        let found = try await manager.find(Journey.self, id: 2)
        #expect(Stop.interruption.withLock { $0 == nil })
        #expect(found == former || found == later)
        #expect(try await manager.find(Journey.self, id: 2) == later)
    }
}
