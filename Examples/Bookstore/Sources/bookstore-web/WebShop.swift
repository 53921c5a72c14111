import Foundation
import LoopbackServer
import Pippin

/// The book store as a web page: requests become questions to the store, answers become pages.
struct WebShop: Sendable {
    let manager: PersistenceManager
    /// Tells open pages that a review has come or gone.
    let changes: ChangeBroadcaster

    func answer(_ request: HTTPRequest, _ accessGuard: AccessGuard) -> HTTPResponse {
        let home = "/\(accessGuard.token)/"
        do {
            switch (request.method, request.path.first, request.path.count) {
            case ("GET", nil, _): return page("Books", home, try shelves(home))
            case ("GET", "book", 2): return try book(request.path[1], home)
            case ("POST", "book", 2):
                try add(request.readForm().fields, to: request.path[1])
                return HTTPResponse(seeOther: home + Address.relative(["book", request.path[1]]))
            case ("GET", "events", 1):
                return HTTPResponse(status: 200, type: "text/event-stream", body: .stream(changes.stream()))
            case ("GET", "style.css", 1): return HTTPResponse(text: Look.style, type: "text/css; charset=utf-8")
            case ("GET", "icon.svg", 1): return HTTPResponse(text: Look.icon, type: "image/svg+xml")
            case ("GET", "script.js", 1): return HTTPResponse(text: Look.script, type: "text/javascript; charset=utf-8")
            default: return page("Not there", home, "<p>There is no such page.</p>", status: 404)
            }
        } catch {
            return page("That did not work", home, "<p>\(error.localizedDescription)</p>", status: 500)
        }
    }

    // MARK: Pages

    /// All stores with their books, and how many reviews each book has.
    private func shelves(_ home: String) throws -> HTML {
        let (stores, reviews) = try manager.readAndWait { store in
            (try store.fetch(Store.self, sortedBy: .ascending(\.brand)), try store.fetch(Review.self))
        }
        let counts = Dictionary(grouping: reviews, by: \.book.id).mapValues(\.count)
        return stores.map { store -> HTML in
            let books = store.books.map { book -> HTML in
                let count = counts[book.id] ?? 0
                return """
                    <li><a href="\(home + Address.relative(["book", book.id]))">\(book.title)</a> <span>\(book.author?.name ?? "")</span>
                    <span class="price">\(price(book.price))</span> <span>\(count == 0 ? "" : count == 1 ? "1 review" : "\(count) reviews")</span></li>
                    """
            }
            return "<h2>\(store.brand)</h2><ul class=\"shelf\">\(books.joined("\n"))</ul>"
        }.joined("\n")
    }

    private func book(_ id: String, _ home: String) throws -> HTTPResponse {
        let found = try manager.readAndWait { store -> (Book, [Review])? in
            guard let book = try store.find(Book.self, id: id) else { return nil }
            return (
                book, try store.fetch(Review.self, where: \.book == Reference(book), sortedBy: .descending(\.createdAt))
            )
        }
        guard let (book, reviews) = found else {
            return page("Not there", home, "<p>There is no such book.</p>", status: 404)
        }
        let list = reviews.map { "<li>\($0.content)<small>\($0.user?.name ?? "Somebody")</small></li>" as HTML }
        let body: HTML = """
            <p><a href="\(home)">All books</a></p>
            <p>\(book.author?.name ?? ""), \(book.publisher ?? ""), \(price(book.price))</p>
            <form method="post" action="\(home + Address.relative(["book", book.id]))">
            <input name="user" placeholder="Your name" required maxlength="60"> <input name="content" placeholder="What you think of it" required maxlength="400">
            <button>Review it</button></form>
            <ul class="reviews">\(list.joined("\n"))</ul>
            """
        return page(book.title, home, body)
    }

    private func page(_ title: String, _ home: String, _ body: HTML, status: Int = 200) -> HTTPResponse {
        HTTPResponse(
            """
            <!DOCTYPE html>
            <html lang="en" data-home="\(home)"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
            <title>\(title)</title><link rel="stylesheet" href="\(home)style.css"><link rel="icon" href="\(home)icon.svg"><script src="\(home)script.js" defer></script></head>
            <body><main id="main"><h1>\(title)</h1>
            \(body)
            </main></body></html>

            """, status: status)
    }

    private func price(_ value: Double) -> String { String(format: "$%.2f", value) }

    // MARK: Changes

    private func add(_ form: HTTPFields, to id: String) throws {
        let (name, content) = (form["user"] ?? "", form["content"] ?? "")
        guard !name.isEmpty, !content.isEmpty else { return }
        try manager.writeAndWait { store in
            let user = User(id: name.lowercased(), name: name)
            try store.save(Review(id: UUID(), book: Reference(id: id), content: content, createdAt: Date(), user: user))
        }
    }
}
