import Pippin
import Testing

@CoreModel private struct Book: Equatable {
    let id: Int
    var title: String
    var price: Double?
    var isRead = false
}

@Suite("What one writes first compiles, and means what it says")
struct FirstSpellingTests {
    private let manager = PersistenceManager(models: Book.self, store: .memory)

    init() async throws {
        try await manager.save([
            Book(id: 1, title: "Persuasion", price: 9), Book(id: 2, title: "Emma", price: 12),
            Book(id: 3, title: "Mansfield Park", isRead: true),
        ])
    }

    @Test("a key path is an ascending order, of the manager and in blocks")
    func keyPaths() async throws {
        #expect(try await manager.fetch(Book.self, sortedBy: \.title).map(\.id) == [2, 3, 1])
        #expect(try await manager.fetch(Book.self, where: \.price > 1, sortedBy: \.title, limit: 1).map(\.id) == [2])
        #expect(try await manager.first(Book.self, sortedBy: \.price)?.id == 3)
        #expect(try await manager.first(Book.self, where: \.price != nil, sortedBy: \.price)?.id == 1)
        for try await books in manager.observe(Book.self, sortedBy: \.title, limit: 2) {
            #expect(books.map(\.id) == [2, 3])
            break
        }
        let inBlock = try await manager.read { store in
            (try store.fetch(Book.self, sortedBy: \.title).map(\.id), try store.first(Book.self, sortedBy: \.price)?.id)
        }
        #expect(inBlock == ([2, 3, 1], 3))
    }

    @Test("a Swift predicate is a filter, of the manager and in blocks, with an order of either form")
    func predicates() async throws {
        #expect(try await manager.fetch(Book.self, where: #Predicate { $0.title.contains("ma") }).map(\.id) == [2])
        #expect(
            try await manager.fetch(Book.self, where: #Predicate { !$0.isRead }, sortedBy: .descending(\.title)).map(
                \.id)
                == [1, 2])
        #expect(
            try await manager.fetch(Book.self, where: #Predicate { !$0.isRead }, sortedBy: \.title).map(\.id) == [2, 1])
        #expect(try await manager.first(Book.self, where: #Predicate { $0.isRead })?.id == 3)
        #expect(try await manager.first(Book.self, where: #Predicate { !$0.isRead }, sortedBy: \.title)?.id == 2)
        #expect(try await manager.count(Book.self, where: #Predicate { $0.price == nil }) == 1)
        #expect(try await manager.exists(Book.self, where: #Predicate { $0.title == "Ulysses" }) == false)
        for try await books in manager.observe(Book.self, where: #Predicate { !$0.isRead }, sortedBy: \.title) {
            #expect(books.map(\.id) == [2, 1])
            break
        }
        let inBlock = try await manager.read { store in
            (
                try store.fetch(Book.self, where: #Predicate { $0.isRead }).map(\.id),
                try store.fetch(Book.self, where: #Predicate { !$0.isRead }, sortedBy: \.title).map(\.id),
                try store.count(Book.self, where: #Predicate { $0.isRead })
            )
        }
        #expect(inBlock == ([3], [2, 1], 1))
    }

    @Test("a Swift predicate says what is changed and deleted")
    func changes() async throws {
        #expect(
            try await manager.update(Book.self, where: #Predicate { $0.title == "Emma" }) { $0.set(\.isRead, to: true) }
                == 1)
        #expect(try await manager.delete(Book.self, where: #Predicate { $0.isRead }) == 2)
        try await manager.write { store in
            try store.update(Book.self, where: #Predicate { $0.id == 1 }) { $0.set(\.title, to: "Sanditon") }
            try store.delete(Book.self, where: #Predicate { $0.title == "Persuasion" })
        }
        #expect(try await manager.fetch(Book.self).map(\.title) == ["Sanditon"])
    }

    @Test("The plain forms stay what they were, beside these")
    func plain() async throws {
        #expect(
            try await manager.fetch(
                Book.self, where: .contains(\.title, "ma") || \.price == nil,
                sortedBy: [.descending(\.title), .ascending(\.id)]
            ).map(\.id) == [3, 2])
        let predicate = #Predicate<Book> { $0.isRead }
        #expect(try await manager.fetch(Book.self, where: .matching(predicate)).map(\.id) == [3])
    }
}
