import Foundation
import LoopbackServer
import Pippin

/// The book store on a web page, for this machine: `bookstore-web [--text] [STORE]`, with a file or a PostgreSQL
/// database as `bookstore` has it.
@main
struct Main {
    static func main() async {
        do { try await run(Array(CommandLine.arguments.dropFirst())) } catch let error as UsageError {
            fail("\(error.message).\nUsage: bookstore-web [--text] [STORE]\n", status: 64)
        } catch {
            fail("The book store stays closed: \(error.localizedDescription)\n", status: 1)
        }
    }

    private static func fail(_ message: String, status: Int32) -> Never {
        FileHandle.standardError.write(Data(message.utf8))
        exit(status)
    }

    private static func run(_ words: [String]) async throws {
        var arguments = words
        // Where there is no browser: print what the page says, and end.
        let isText = arguments.first == "--text"
        if isText { arguments.removeFirst() }
        let place = try Place(arguments.first ?? "bookstore.sqlite")
        let manager = PersistenceManager(models: Store.self, Review.self, store: place.location)
        if try await manager.count(Store.self) == 0 {
            try await manager.save(Catalogue.stores)
            try await manager.save(Catalogue.firstReviews)
        }
        if isText { return try await printShelves(of: manager) }

        let shop = WebShop(manager: manager, changes: ChangeBroadcaster())
        let server = try LoopbackServer { request, accessGuard in shop.answer(request, accessGuard) }
        FileHandle.standardOutput.write(
            Data("The book store in \(place.name) is at\n  \(server.accessGuard.address)\nCtrl-C closes it.\n".utf8))
        // A live query: after each save of books or reviews, of this program or another one, on this machine or another
        // one.
        let shelves = manager.observe { store in
            (try store.fetch(Store.self).flatMap(\.books).map { "\($0.id) \($0.title) \($0.price)" })
                + (try store.fetch(Review.self).map { "\($0.id) \($0.content)" })
        }
        for try await _ in shelves { shop.changes.broadcast() }
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
