import Foundation
import Pippin
import Testing

private enum Status: String, Codable, CaseIterable {
    case open, done, late
}

/// An enumeration with a coding of its own.
private enum Level: String, Codable {
    case low, high

    init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        self = Level(rawValue: text.lowercased()) ?? .low
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(rawValue.uppercased())
    }
}

/// An identifier that is coded as a single value, and has no raw value.
private struct TicketID: Codable, Hashable, Sendable {
    let value: UUID

    init(_ value: UUID) { self.value = value }
    init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().decode(UUID.self) }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

private struct Ticket: CoreModel {
    let id: TicketID
    var number: Int
    var status: Status
    var former: Status?
    var level = Level.low
}

@Suite("Values in filters that their types code")
struct FilterConstantTests {
    private let manager: PersistenceManager
    private let tickets = [
        Ticket(id: TicketID(UUID()), number: 1, status: .open, level: .high),
        Ticket(id: TicketID(UUID()), number: 2, status: .done, former: .open),
        Ticket(id: TicketID(UUID()), number: 3, status: .late, former: .done),
    ]

    init() async throws {
        manager = PersistenceManager(models: Ticket.self, store: .memory)
        try await manager.save(tickets)
    }

    private func numbers(_ filter: Filter<Ticket>) async throws -> [Int] {
        let found = try await manager.fetch(Ticket.self, where: filter, sortedBy: .ascending(\.number)).map(\.number)
        #expect(try tickets.filter(filter.matches).map(\.number) == found, "\(filter)")
        return found
    }

    @Test("may be lists of enumerations")
    func lists() async throws {
        let wanted: [Status] = [.open, .done]
        let set: Set<Status> = [.late]
        let none: [Status] = []
        #expect(try await numbers(.matching(#Predicate { wanted.contains($0.status) })) == [1, 2])
        #expect(try await numbers(.matching(#Predicate { set.contains($0.status) })) == [3])
        #expect(try await numbers(.matching(#Predicate { none.contains($0.status) })) == [])
        #expect(try await numbers(.format("status IN %@", wanted)) == [1, 2])
        #expect(try await numbers(.format("status IN %@", set)) == [3])
        #expect(try await numbers(.format("former IN {%@, %@}", Status.open, Status.late)) == [2])
    }

    @Test("may be identifiers, and other values, of a type that is coded as a single value")
    func identifiers() async throws {
        let id = tickets[1].id
        let ids = tickets.dropFirst().map(\.id)
        #expect(try await numbers(\.id == id) == [2])
        #expect(try await numbers(.matching(#Predicate { $0.id == id })) == [2])
        #expect(try await numbers(.matching(#Predicate { ids.contains($0.id) })) == [2, 3])
        #expect(try await numbers(.format("id == %@", id)) == [2])
        #expect(try await numbers(.format("id IN %@", ids)) == [2, 3])
    }

    @Test("are coded as the property is, also where a raw value is another one")
    func ownCoding() async throws {
        let high = Level.high
        let former: Status? = .open
        #expect(try await numbers(\.level == .high) == [1])
        #expect(try await numbers(.matching(#Predicate { $0.level == high })) == [1])
        #expect(try await numbers(.format("level == %@", high)) == [1])
        #expect(try await numbers(.matching(#Predicate { $0.former == former })) == [2])
        #expect(try await numbers(.format("former == %@", former as Any)) == [2])
        #expect(try await numbers(.format("former == %@", Status?.none as Any)) == [1])
    }
}
