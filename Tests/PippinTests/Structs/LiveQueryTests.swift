import CoreData
import Foundation
import TestSupport
import Testing

@testable import Pippin

private struct Ticket: CoreModel, Equatable {
    let id: Int
    var price: Double?
    var seat: String?
    var soldAt: Date?
    var isUsed = false
}

@Suite("What touches a live query")
struct LiveQueryTests {
    private let manager = PersistenceManager(models: Ticket.self, store: .memory)

    private func interest(_ filter: Filter<Ticket>, listed: [Ticket]) throws -> Interest {
        let plan = try manager.registry.plan(of: Ticket.self)
        let registry = manager.registry
        let interest = Interest(try Interest.Selection(plan, registry) { try filter.predicate(plan, registry) })
        interest.ask(for: ["Ticket"])
        interest.didRead(listed)
        return interest
    }

    /// Whether a save of models, all new or all known, touches an interest.
    private func touches(
        _ interest: Interest, _ models: [Ticket], isNew: Bool = true, changed: [String] = ["price"]
    ) throws -> Bool {
        let layout = try #require(try manager.programModel.compiledLayout().entityByName["Ticket"])
        let plan = try manager.registry.plan(of: Ticket.self)
        let encoder = RecordEncoder(plan.record)
        var changes = ChangeSet()
        for (key, model) in models.enumerated() {
            var values = layout.defaultValues
            for (field, value) in zip(plan.fields, try encoder.encode(model).values) {
                if let slot = layout.slotIndex(forName: field.name) { values[slot] = value }
            }
            let identifier = NSManagedObjectID(
                layout: layout, store: StoreIdentity(uuid: "store"), key: Int64(key + 1))
            let slots = isNew ? [] : changed.compactMap { layout.slotIndex(forName: $0) }
            let change = RowChange(
                objectID: identifier, version: 1, values: values, changedSlots: slots, toManyChanges: [])
            if isNew { changes.inserted.append(change) } else { changes.updated.append(change) }
        }
        return interest.isTouched(by: WrittenRows(["Ticket"], changes))
    }

    @Test("is a new model of which the filter holds, and no other")
    func inserted() throws {
        let interest = try interest(\.price < 20 && \.isUsed == false, listed: [])
        #expect(try touches(interest, [Ticket(id: 1, price: 19)]))
        #expect(try !touches(interest, [Ticket(id: 1, price: 21)]))
        #expect(try !touches(interest, [Ticket(id: 1, price: 19, isUsed: true)]))
        #expect(try touches(interest, [Ticket(id: 1, price: 21), Ticket(id: 2, price: 1)]))
    }

    @Test("is a changed model that the filter holds of now, or that is in the list")
    func updated() throws {
        let interest = try interest(\.price < 20, listed: [Ticket(id: 7, price: 1)])
        #expect(try touches(interest, [Ticket(id: 8, price: 2)], isNew: false))
        #expect(try touches(interest, [Ticket(id: 7, price: 50)], isNew: false))
        #expect(try !touches(interest, [Ticket(id: 8, price: 50)], isNew: false))
    }

    @Test("is not a model of which only the other side of a relationship changed, unless the filter may ask for it")
    func otherSide() throws {
        let listed = Ticket(id: 7, price: 1)
        for filter: Filter<Ticket> in [\.price < 20, .all, \.price < 20 || \.seat == "a"] {
            let interest = try interest(filter, listed: [listed])
            #expect(try !touches(interest, [listed], isNew: false, changed: []))
            #expect(try touches(interest, [listed], isNew: false))
            #expect(try touches(interest, [listed]))
        }
        let interest = try interest(.format("price < 20 AND '20' BEGINSWITH seat"), listed: [])
        #expect(try touches(interest, [listed], isNew: false, changed: []))
    }

    @Test("is everything while a state is being read")
    func reading() throws {
        let interest = try interest(\.price < 20, listed: [])
        interest.willRead()
        #expect(try touches(interest, [Ticket(id: 1, price: 50)]))
        interest.didRead([Ticket]())
        #expect(try !touches(interest, [Ticket(id: 1, price: 50)]))
    }

    @Test("is no save of other entities, and each one whose rows are not known")
    func entities() throws {
        let interest = try interest(\.price < 20, listed: [])
        #expect(!interest.isTouched(by: WrittenRows(["Other"], nil)))
        #expect(interest.isTouched(by: WrittenRows(["Ticket"], nil)))
    }

    /// Filters of all forms that are looked into, and some that are not.
    private static let filters: [Filter<Ticket>] = [
        .all, \.price < 20, \.price <= 20, \.price > 20, \.price >= 20, \.price == 20, \.price != 20, \.price == nil,
        \.price != nil, \.seat == "a", \.seat != "a", \.seat == nil, \.isUsed == true, \.isUsed == false,
        \.soldAt < Date(timeIntervalSinceReferenceDate: 20), \.id == 3, \.price < 20 && \.seat == "a",
        \.price < 20 || \.seat == "a", !(\.price < 20), !(\.seat == "a" && \.price > 20),
        .format("seat BEGINSWITH 'a'"),
        .format("seat ==[c] 'A'"), .format("price BETWEEN {10, 30}"), .format("20 > price"),
    ]

    @Test("is never missed by it", arguments: filters.indices)
    func neverMissed(number: Int) throws {
        let filter = Self.filters[number]
        let interest = try interest(filter, listed: [])
        for (id, price) in [nil, 0, 10, 20, 20.5, 30].enumerated() {
            for seat in [nil, "a", "A", "ab", "b"] {
                for date in [nil, Date(timeIntervalSinceReferenceDate: 10), Date(timeIntervalSinceReferenceDate: 30)] {
                    for isUsed in [true, false] {
                        let ticket = Ticket(id: id, price: price, seat: seat, soldAt: date, isUsed: isUsed)
                        guard try filter.matches(ticket) else { continue }
                        #expect(try touches(interest, [ticket]), "\(ticket)")
                    }
                }
            }
        }
    }

    @Test("shows in what is observed, whatever is saved and deleted in between")
    func observed() async throws {
        let manager = manager
        let lists = Locked<[Ticket]>([])
        let observing = Task {
            for try await list in manager.observe(Ticket.self, where: \.price < 20, sortedBy: .ascending(\.id)) {
                lists.withLock { $0 = list }
            }
        }
        defer { observing.cancel() }
        var random = RandomNumbers(seed: 7)
        for _ in 0..<60 {
            let ticket = Ticket(id: random.below(8), price: Double(random.below(40)), isUsed: random.chance(50))
            if random.chance(20) {
                try await manager.delete(Ticket.self, id: ticket.id)
            } else {
                try await manager.save(ticket)
            }
            if random.chance(30) { await Task.yield() }
        }
        let expected = try await manager.fetch(Ticket.self, where: \.price < 20, sortedBy: .ascending(\.id))
        _ = try await eventually { lists.withLock { $0 } == expected }
        #expect(lists.withLock { $0 } == expected)
    }

    @Test("Saves of more than a thousand objects by a context show, too")
    func largeObjectSave() async throws {
        let manager = manager
        let count = Locked(0)
        let observing = Task {
            for try await list in manager.observe(Ticket.self, where: \.isUsed == false) {
                count.withLock { $0 = list.count }
            }
        }
        defer { observing.cancel() }
        try await manager.save(Ticket(id: 0))
        #expect(try await eventually { count.withLock { $0 } == 1 })
        let context = manager.container.newBackgroundContext()
        try await context.perform {
            for id in 1...1_500 {
                let ticket = NSEntityDescription.insertNewObject(forEntityName: "Ticket", into: context)
                ticket.setValue(id, forKey: "id")
                ticket.setValue(false, forKey: "isUsed")
            }
            try context.save()
        }
        #expect(try await eventually { count.withLock { $0 } == 1_501 })
    }
}
