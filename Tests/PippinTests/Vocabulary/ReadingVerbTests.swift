import Pippin
import TestSupport
import Testing

@Suite("What can be asked")
struct ReadingVerbTests {
    private let bookcase: Bookcase
    private var manager: PersistenceManager { bookcase.manager }

    init() throws { bookcase = try Bookcase() }

    @Test("is the same in a block and outside")
    func same() async throws {
        let outside = (
            try await manager.fetch(Edition.self, sortedBy: .ascending(\.title)),
            try await manager.find(Edition.self, id: "whale"),
            try await manager.find(Edition.self, ids: ["whale", "none", "emma"]),
            try await manager.exists(Edition.self, id: "emma"),
            try await manager.exists(Edition.self, where: \.pages > 600),
            try await manager.sum(Edition.self, \.pages, by: \.author?.name)
        )
        let inside = try await manager.read { store in
            (
                try store.fetch(Edition.self, sortedBy: .ascending(\.title)), try store.find(Edition.self, id: "whale"),
                try store.find(Edition.self, ids: ["whale", "none", "emma"]),
                try store.exists(Edition.self, id: "emma"),
                try store.exists(Edition.self, where: \.pages > 600),
                try store.sum(Edition.self, \.pages, by: \.author?.name)
            )
        }
        #expect(outside == inside)
        #expect(outside.0 == [Bookcase.emma, Bookcase.whale, Bookcase.persuasion])
        #expect(outside.2 == [Bookcase.whale, Bookcase.emma] && outside.3 && !outside.4)
        #expect(outside.5 == ["Jane Austen": 550, "Herman Melville": 600])
    }

    @Test("is of one state for a whole block, whatever is saved meanwhile")
    func oneState() async throws {
        let other = PersistenceManager(models: Edition.self, store: .file(bookcase.file))
        let counts = try await manager.read { store in
            let before = try store.count(Edition.self)
            try other.writeAndWait { try $0.save(Edition(id: "late", title: "Late")) }
            return [before, try store.count(Edition.self), try store.fetch(Edition.self).count]
        }
        #expect(counts == [3, 3, 3])
        #expect(try await manager.count(Edition.self) == 4)
    }

    @Test("is of one state in memory as well: the block runs again")
    func oneStateInMemory() async throws {
        let manager = PersistenceManager(models: Novelist.self, store: .memory)
        try await manager.save(Bookcase.austen)
        let runs = Locked(0)
        let counts = try await manager.read { store in
            let before = try store.count(Novelist.self)
            let run = runs.withLock { runs -> Int in
                runs += 1
                return runs
            }
            if run == 1 { try elsewhere { try manager.writeAndWait { try $0.save(Bookcase.melville) } } }
            return [before, try store.fetch(Novelist.self).count]
        }
        #expect(counts == [2, 2])
        #expect(runs.withLock { $0 } == 2)
    }

    @Test("comes page by page, after the last model of the page before")
    func pages() async throws {
        let first = try await manager.fetch(Edition.self, sortedBy: .descending(\.binding), limit: 2)
        #expect(first.map(\.id) == ["emma", "whale"])
        let second = try await manager.fetch(
            Edition.self, sortedBy: .descending(\.binding), after: first.last, limit: 2)
        #expect(second.map(\.id) == ["persuasion"])
    }

    @Test("can be observed, too, whatever it is")
    func observed() async throws {
        let shelves = manager.observe { store in
            [try store.count(Edition.self), try store.sum(Edition.self, \.pages) ?? 0]
        }
        var states = shelves.makeAsyncIterator()
        #expect(try await states.next() == [3, 1150])
        try await manager.delete(Bookcase.whale)
        #expect(try await states.next() == [2, 550])
    }
}

/// A value that one thread at a time gets at.
private final class Locked<Value>: @unchecked Sendable {
    // @unchecked Sendable: the value is touched with the lock held only.
    private var value: Value
    private let lock = NSLock()
    init(_ value: Value) { self.value = value }

    func withLock<Result>(_ work: (inout Value) -> Result) -> Result {
        lock.lock()
        defer { lock.unlock() }
        return work(&value)
    }
}

@Suite("Identity")
struct IdentityTests {
    private struct Number: Codable, Hashable, Sendable {
        let text: String
        init(_ text: String) { self.text = text }
        init(from decoder: any Decoder) throws { text = try decoder.singleValueContainer().decode(String.self) }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(text)
        }
    }
    private struct Invoice: CoreModel, Equatable {
        let id: Number
        var total: Int
    }
    private struct Ticket: CoreModel, Equatable {
        let uid: UUID
        var seat: Int
    }
    private struct Day: CoreModel, Equatable {
        let id: Date
        var note: String
    }
    private struct Place: Codable, Hashable, Sendable {
        var row: Int
        var column: Int
    }
    private struct Cell: CoreModel {
        let id: Place
        var text: String
    }

    @Test("is any value that is coded as one, by the name id or uid")
    func kinds() async throws {
        let folder = try TestFolder()
        let manager = PersistenceManager(
            models: Invoice.self, Ticket.self, Day.self, store: .file(folder.file("a.sqlite")))
        let (invoice, ticket) = (Invoice(id: Number("A-1"), total: 3), Ticket(uid: UUID(), seat: 4))
        let day = Day(id: Date(timeIntervalSinceReferenceDate: 86_400), note: "x")
        try await manager.write { store in
            for _ in 0..<2 {
                try store.save(invoice)
                try store.save(ticket)
                try store.save(day)
            }
        }
        #expect(try await manager.find(Invoice.self, id: Number("A-1")) == invoice)
        #expect(try await manager.find(Ticket.self, id: ticket.uid) == ticket)
        #expect(try await manager.find(Day.self, id: day.id) == day)
        #expect(try await manager.fetch(Ticket.self, where: \.uid == ticket.uid) == [ticket])
        let counts = try await manager.read {
            [try $0.count(Invoice.self), try $0.count(Ticket.self), try $0.count(Day.self)]
        }
        #expect(counts == [1, 1, 1])
    }

    @Test("is refused if it has several values, when the store is opened")
    func composite() async throws {
        let manager = PersistenceManager(models: Cell.self, store: .memory)
        await #expect { try await manager.load() } throws: { error in
            (error as? PersistenceError)?.code == .notDerivable
                && error.localizedDescription.contains("an identifier must be a single value")
        }
    }

    @Test("a negative offset skips nothing, also where what is sorted by is unsaved")
    func negativeOffset() async throws {
        let bookcase = try Bookcase()
        #expect(
            try await bookcase.manager.fetch(Edition.self, sortedBy: .ascending(\.id), offset: -2).map(\.id)
                == ["emma", "persuasion", "whale"])
        let ids = try await bookcase.manager.write { store in
            var author = Bookcase.melville
            author.name = "A. Melville"
            try store.save(author)
            return try store.fetch(
                Edition.self, sortedBy: [.ascending(\.author?.name), .ascending(\.id)], limit: 2, offset: -2
            ).map(\.id)
        }
        #expect(ids == ["whale", "emma"])
    }

    @Test("models are sorted by references as by their identifiers, and by no lists, models and nested values")
    func sortedByModels() async throws {
        let folder = try TestFolder()
        let manager = PersistenceManager(models: Lending.self, store: .file(folder.file("lendings.sqlite")))
        // The order of the rows is another than that of the identifiers.
        let novelists = [Novelist(id: "c", name: "C"), Novelist(id: "a", name: "A"), Novelist(id: "b", name: "B")]
        try await manager.save(novelists)
        try await manager.save([
            Lending(id: 1, reader: Reference(id: "b")), Lending(id: 2, reader: Reference(id: "c")),
            Lending(id: 3, reader: Reference(id: "a")),
        ])
        #expect(try await manager.fetch(Lending.self, sortedBy: .ascending(\.reader)).map(\.id) == [3, 1, 2])
        #expect(try await manager.fetch(Lending.self, sortedBy: .descending(\.reader.id)).map(\.id) == [2, 1, 3])
        let unsaved = try await manager.write { store in
            try store.save(Lending(id: 4, reader: Reference(id: "a")))
            return try store.fetch(Lending.self, sortedBy: [.ascending(\.reader), .ascending(\.id)]).map(\.id)
        }
        #expect(unsaved == [3, 4, 1, 2])
        for order: Order<Lending> in [
            .ascending(\.giver), .ascending(\.others), .ascending(\.period), .ascending(\.marks),
        ] {
            let error = await #expect(throws: PersistenceError.self) {
                try await manager.fetch(Lending.self, sortedBy: order)
            }
            #expect(error?.code == .unknownProperty)
        }
    }
}

/// With a reference, and with what nothing can be sorted by.
private struct Lending: CoreModel {
    struct Period: Codable, Sendable { var from, to: Date }

    let id: Int
    var reader: Reference<Novelist>
    var giver: Novelist?
    var others: [Novelist] = []
    var period = Period(from: Date(timeIntervalSince1970: 0), to: Date(timeIntervalSince1970: 1))
    var marks: [Int] = []
}
