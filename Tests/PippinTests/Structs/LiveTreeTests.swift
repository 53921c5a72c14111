import CoreData
import Foundation
import TestSupport
import Testing

@testable import Pippin

private struct Tour: CoreModel, Equatable {
    let id: Int
    var price: Int
    var days: [Day]
    var guests: [Guest]
    var guide: Guest?
    var sponsors: [Reference<Guest>]

    static var schema: Schema<Tour> { Schema(.owns(\.days)) }
}

private struct Day: CoreModel, Equatable {
    let id: Int
    var place: String
}

private struct Guest: CoreModel, Equatable {
    let id: Int
    var name: String
    var rooms: [Room]
}

private struct Room: CoreModel, Equatable {
    let id: Int
    var beds: Int
}

/// Leads to the others, which do not show it.
private struct Ticket: CoreModel, Equatable {
    let id: Int
    var tour: Reference<Tour>?
    var guests: [Guest]
}

@Suite("What touches a live query over models that lead to others")
struct LiveTreeTests {
    private let manager = PersistenceManager(models: Tour.self, Guest.self, Ticket.self, store: .memory)

    /// What a save by rows wrote; nil for other saves.
    private func rows(_ save: () throws -> Void) throws -> (entities: Set<String>, changes: ChangeSet?) {
        let heard = Locked<(entities: Set<String>, changes: ChangeSet?)>(([], nil))
        let listeners = manager.session.saves
        let number = listeners.add { saved in heard.withLock { $0 = (saved.names, saved.changes) } }
        defer { listeners.remove(number) }
        try save()
        return heard.withLock { $0 }
    }

    private func interest(_ filter: Filter<Tour>) throws -> Interest {
        let (registry, plan) = (manager.registry, try manager.registry.plan(of: Tour.self))
        let interest = Interest(try Interest.Selection(plan, registry) { try filter.predicate(plan, registry) })
        interest.ask(for: try registry.entities(within: plan))
        interest.didRead(try manager.readAndWait { try $0.fetch(Tour.self, where: filter) })
        return interest
    }

    /// Whether a save touches the tours that cost less than 20.
    private func expect(
        _ isTouching: Bool, sourceLocation: SourceLocation = #_sourceLocation, _ save: (WriteAccess) throws -> Void
    ) throws {
        let interest = try interest(\.price < 20)
        let rows = try rows { try manager.writeAndWait(save) }
        #expect(rows.changes != nil, sourceLocation: sourceLocation)
        let isTouched = interest.isTouched(by: WrittenRows(rows.entities, rows.changes))
        #expect(isTouched == isTouching, sourceLocation: sourceLocation)
    }

    @Test(
        "is what shows in them, and no ticket that leads to them, no new guest, and no tour that the filter leaves out")
    func touching() throws {
        let guest = Guest(id: 1, name: "Guest", rooms: [Room(id: 1, beds: 1)])
        let tour = Tour(
            id: 1, price: 10, days: [Day(id: 1, place: "Bath")], guests: [guest], guide: nil, sponsors: [])
        let other = Tour(id: 2, price: 30, days: [], guests: [guest], guide: guest, sponsors: [])
        try manager.writeAndWait { try $0.save([tour]) }
        try expect(false) { try $0.save(Ticket(id: 1, tour: Reference(id: 1), guests: [guest])) }
        try expect(false) { try $0.save(Guest(id: 2, name: "New", rooms: [])) }
        try expect(false) { try $0.save(other) }
        try expect(true) { try $0.save(Tour(id: 3, price: 5, days: [], guests: [], guide: nil, sponsors: [])) }
        var changed = tour
        changed.days.append(Day(id: 2, place: "Wells"))
        try expect(true) { try $0.save(changed) }
        changed.guests.append(Guest(id: 2, name: "New", rooms: []))
        try expect(true) { try $0.save(changed) }
        changed.sponsors = [Reference(id: 2)]
        try expect(true) { try $0.save(changed) }
        try expect(true) { try $0.save(Room(id: 1, beds: 2)) }
        try expect(true) { try $0.save(Guest(id: 1, name: "Guest", rooms: [])) }
    }

    private static let filters: [Filter<Tour>] = [
        .all, \.price < 20, .format("price < 20 OR guide.name == 'Guest 1'"),
        .format("guide.guestsOfTicket.@count > 0"),
    ]

    @Test("is never missed, whatever is saved", arguments: filters.indices, 1...4 as ClosedRange<UInt64>)
    func neverMissed(number: Int, seed: UInt64) throws {
        let filter = Self.filters[number]
        var random = TourSteps(seed: seed)
        try manager.writeAndWait { try $0.save((0..<5).map { random.guest($0) }) }
        var (passedOver, shown) = (0, 0)
        for step in 1...60 {
            let interest = try interest(filter)
            let former = try fetch(filter)
            let rows = try rows { try manager.writeAndWait { try random.save(in: $0) } }
            if interest.isTouched(by: WrittenRows(rows.entities, rows.changes)) {
                shown += 1
            } else {
                passedOver += 1
                #expect(try fetch(filter) == former, "step \(step)")
            }
        }
        // Filters that ask for what models lead to are not looked into.
        #expect(shown > 10 && (passedOver > 5 || number > 1))
    }

    private func fetch(_ filter: Filter<Tour>) throws -> [Tour] {
        try manager.readAndWait { try $0.fetch(Tour.self, where: filter, sortedBy: .ascending(\.id)) }
    }
}

/// Made-up saves, the same for each seed.
private struct TourSteps {
    private var numbers: SeededNumbers
    /// The guests of the present save, since copies of one must be equal.
    private var guests: [Int: Guest] = [:]

    init(seed: UInt64) { numbers = SeededNumbers(seed: seed) }

    private mutating func number(_ count: Int) -> Int { numbers.next(below: count) }

    private mutating func some(of count: Int, atMost most: Int) -> [Int] {
        var chosen: [Int] = []
        for _ in 0..<number(most + 1) {
            let next = number(count)
            if !chosen.contains(next) { chosen.append(next) }
        }
        return chosen
    }

    mutating func guest(_ id: Int) -> Guest {
        if let known = guests[id] { return known }
        let guest = Guest(
            id: id, name: "Guest \(number(8) / 7)", rooms: number(3) == 0 ? [Room(id: id % 2, beds: 1)] : [])
        guests[id] = guest
        return guest
    }

    private mutating func someGuests() -> [Guest] { some(of: 5, atMost: 2).map { guest($0) } }

    mutating func save(in store: WriteAccess) throws {
        guests = [:]
        switch number(5) {
        case 0, 1: try store.save(Ticket(id: number(6), tour: nil, guests: someGuests()))
        case 2: try store.save(someGuests())
        default:
            let id = number(6)
            let days = some(of: 3, atMost: 2).map { Day(id: id * 3 + $0, place: "Bath") }
            try store.save(
                Tour(
                    id: id, price: number(4) * 10, days: days, guests: someGuests(),
                    guide: number(3) == 0 ? guest(number(5)) : nil,
                    sponsors: some(of: 5, atMost: 1).map { Reference(id: $0) }))
        }
    }
}
