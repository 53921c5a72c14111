import Foundation

/// A day in the book store. The first one stocks the shelves; every later one finds what the days before have left.
@main
struct Main {
    static func main() async {
        do {
            switch try Command(Array(CommandLine.arguments.dropFirst())) {
            case .help: print(Command.usage, terminator: "")
            case .importReviews(let reviews, let place):
                print(try await stockedShop(in: place).importReviews(from: reviews))
            case .watch(let place, let visits): try await watch(try await stockedShop(in: place), visits: visits)
            case .sync(let one, let two, let server): try await Tills(one, two, with: server).day()
            case .open(let place):
                let shop = try await Bookshop(in: place)
                let stores = try await shop.stores()
                if stores.isEmpty {
                    try await open(shop, in: place)
                } else {
                    try await reopen(shop, stores, in: place)
                }
            }
        } catch let error as UsageError {
            fail("\(error.message).\n\n\(Command.usage)", status: 64)
        } catch {
            fail("The book store stays closed: \(error.localizedDescription)\n", status: 1)
        }
    }

    private static func fail(_ message: String, status: Int32) -> Never {
        FileHandle.standardError.write(Data(message.utf8))
        exit(status)
    }

    /// The book store, with something on its shelves.
    private static func stockedShop(in place: Place) async throws -> Bookshop {
        let shop = try await Bookshop(in: place)
        if try await shop.stores().isEmpty { try await shop.save(Catalogue.stores) }
        return shop
    }

    /// The first day.
    private static func open(_ shop: Bookshop, in place: Place) async throws {
        print("There is nothing in \(place.name) yet. The movers bring the books …\n")
        try await shop.save(Catalogue.stores)
        try await shop.add(Catalogue.firstReviews)

        let stores = try await shop.stores()
        show(stores)
        try await showReviews(of: stores, in: shop)

        let cheap = try await shop.books(under: 10)
        print("Under ten dollars: \(cheap.map(\.title).joined(separator: ", ")).\n")

        if let regretted = try await shop.reviews(of: stores[0].book("Moby-Dick")).last {
            try await shop.remove(regretted)
            print("\(regretted.user?.name ?? "Somebody") thinks better of it, and takes “\(regretted.content)” back:\n")
            try await showReviews(of: stores, in: shop)
        }
        print("All of this is in \(place.name) now. Come again.")
    }

    /// Every other day.
    private static func reopen(_ shop: Bookshop, _ found: [Store], in place: Place) async throws {
        var stores = found
        print("Welcome back. This is what was found in \(place.name):\n")
        show(stores)
        try await showReviews(of: stores, in: shop)

        // Structs are changed like any other value, and saved when that suits.
        for index in stores[0].books.indices { stores[0].books[index].price *= 0.9 }
        try await shop.save(stores)
        print("\(stores[0].brand) takes ten percent off, and Blaise has read another book:\n")

        let frankenstein = try stores[0].book("Frankenstein")
        let visits = try await shop.reviews(of: frankenstein).count + 2
        try await shop.add([Catalogue.returningReview(visit: visits)])
        show([stores[0]])
        try await showReviews(of: stores, in: shop)
    }

    /// The table of reviews. It follows all writers by itself: `bookstore import` in another terminal, for instance.
    private static func watch(_ shop: Bookshop, visits: Int?) async throws {
        let reader = Task {
            for visit in 0..<(visits ?? 0) {
                try await Task.sleep(for: .milliseconds(300))
                try await shop.add([Catalogue.review(atPage: 30 + 60 * visit)])
            }
        }
        var table = Table()
        var expected: Int?
        for try await update in try await shop.reviewsByBook() {
            table.show(update)
            // A list on a screen goes on for as long as it is shown. Of saves in quick succession it may see the last
            // one only.
            expected = expected ?? visits.map { update.list.count + $0 }
            if let expected, update.list.count >= expected { break }
        }
        try await reader.value
    }

    private static func show(_ stores: [Store]) {
        for store in stores { print(store.shelf, terminator: "\n\n") }
    }

    private static func showReviews(of stores: [Store], in shop: Bookshop) async throws {
        for book in stores.flatMap(\.books) {
            let reviews = try await shop.reviews(of: book)
            guard !reviews.isEmpty else { continue }
            print("Readers of \(book.title.bold)")
            for review in reviews { print(review.line) }
            print()
        }
    }
}

extension Store {
    /// The book with that title.
    func book(_ title: String) throws -> Book {
        guard let book = books.first(where: { $0.title == title }) else {
            throw MissingBook(title: title, store: brand)
        }
        return book
    }
}

struct MissingBook: LocalizedError {
    let title: String
    let store: String
    var errorDescription: String? { "\(store) has no book called “\(title)”." }
}
