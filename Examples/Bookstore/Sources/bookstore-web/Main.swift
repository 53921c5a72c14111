import Foundation
import LoopbackServer
import Pippin

/// The book store on a web page, for this machine: `bookstore-web [--text] [STORE]`.
@main
struct Main {
    static func main() async throws {
        var arguments = Array(CommandLine.arguments.dropFirst())
        // For scripts: print what the page says, and end.
        let isText = arguments.first == "--text"
        if isText { arguments.removeFirst() }
        let file = URL(fileURLWithPath: arguments.first ?? "bookstore.sqlite")
        let manager = PersistenceManager(models: Store.self, Review.self, store: .file(file))
        if try await manager.count(Store.self) == 0 {
            try await manager.save(Catalogue.stores)
            try await manager.save(Catalogue.firstReviews)
        }
        if isText { return try await printShelves(of: manager) }

        let shop = WebShop(manager: manager, news: NewsDesk())
        let server = try LoopbackServer { request, gate in shop.answer(request, gate) }
        FileHandle.standardOutput.write(
            Data("The book store is at\n  \(server.gate.address)\nCtrl-C closes it.\n".utf8))
        // A live query: after each save, of this program or another one.
        for try await _ in manager.observe({ store in try store.fetch(Review.self).map(\.id) }) { shop.news.announce() }
    }

    private static func printShelves(of manager: PersistenceManager) async throws {
        for store in try await manager.fetch(Store.self, sortedBy: .ascending(\.brand)) {
            print(store.brand)
            for book in store.books {
                let count = try await manager.count(Review.self, where: \.book == Reference(book))
                print("  \(book.title), \(book.author?.name ?? "")" + (count == 0 ? "" : " (\(count) reviewed it)"))
            }
        }
    }
}
