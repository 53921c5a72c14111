import Pippin
import PippinSync

/// Two tills of one book store, each with a file of its own, and a server: what is saved at one reaches the other, also
/// what was saved while there was no server.
struct Tills {
    private let managers: [PersistenceManager]
    private let names: [String]
    private let server: Place

    init(_ one: Place, _ two: Place, with server: Place) throws {
        managers = [one, two].map { PersistenceManager(models: Store.self, Review.self, store: $0.synced) }
        (names, self.server) = ([one.name, two.name], server)
    }

    func day() async throws {
        // Before the first sync, each works by itself.
        if try await managers[0].count(Store.self) == 0 {
            try await managers[0].save(Catalogue.stores)
            print("\(names[0]) has the catalogue, and knows of no server yet.")
        }
        let syncs = try managers.map { try $0.sync(with: server.synced) }
        for sync in syncs { try await sync.finish() }
        try await show("Both are in step with \(server.name)")

        // From here on saves travel by themselves. Two edits of one book meet: of different properties both stay.
        let id = Catalogue.stores[0].books[0].id
        try await managers[0].update(Book.self, where: \.id == id) { $0.set(\.price, to: 7.5) }
        try await managers[1].update(Book.self, where: \.id == id) { $0.set(\.publisher, to: "Second till's press") }
        try await managers[1].save(Catalogue.review(atPage: 30))
        for sync in syncs + syncs { try await sync.finish() }
        try await show("One has changed a price, and the other the publisher of the same book, and taken a review")
        for manager in managers {
            guard let book = try await manager.find(Book.self, id: id) else { continue }
            print("  \(book.title): \(book.price) $, \(book.publisher ?? "no publisher")")
        }
        for sync in syncs { await sync.stop() }
        for manager in managers { await manager.close() }
    }

    private func show(_ sentence: String) async throws {
        print("\(sentence):")
        for (name, manager) in zip(names, managers) {
            print(
                "  \(name): \(try await manager.count(Book.self)) books, \(try await manager.count(Review.self)) reviews"
            )
        }
    }
}
