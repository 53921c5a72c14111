import CoreData
import HTTPMessages
import StoreEngine
import StoreReading

/// The persistent history as a time line, the latest transaction first, with the changes of each.
enum HistoryPage {
    /// How many transactions are on a page, and how many changes of each.
    private static let (size, mostChanges) = (40, 60)

    static func html(_ session: BrowserSession, _ query: HTTPFields, _ site: Site) throws -> HTML {
        let body = try session.store.asking { engine -> HTML? in
            guard let history = engine.history, case let last = try history.latestTransaction(), last > 0 else {
                return nil
            }
            let newest = min(query["before"].flatMap { Int64($0) }.map { max(1, $0) - 1 } ?? last, last)
            let oldest = max(1, try history.oldestKeptTransaction() ?? 1)
            let transactions = try transactions(from: oldest, through: newest, history)
            guard let first = transactions.first else {
                return try history.oldestKeptTransaction() == nil ? nil : nothing(before: newest + 1, site)
            }
            let changes = try HistoryPortion(
                transactions.map(\.number), most: mostChanges, history, session.store)
            let items = transactions.reversed().map { item($0, changes, site) }
            let older: HTML =
                first.number > oldest
                ? "<a rel=\"next\" href=\"\(site.link(["history"], [("before", String(first.number))]))\">Older</a>"
                : ""
            let newer: HTML = newest < last ? "<a rel=\"prev\" href=\"\(site.link(["history"]))\">Latest</a>" : ""
            return
                "<p class=\"sub bar\"><span>\(newer) \(older)</span></p><ol class=\"timeline\">\(items.joined("\n"))</ol>"
        }
        let none: HTML =
            "<p class=\"message\">The store keeps no history, or all of it has been deleted. A program that opens it with the option NSPersistentHistoryTrackingKey (true) keeps one from then on.</p>"
        return PageFrame.html(
            "History", .history, site, "<h1>History</h1><section id=\"history\" data-live>\(body ?? none)</section>")
    }

    private static func nothing(before number: Int64, _ site: Site) -> HTML {
        """
        <p class="sub bar"><span><a rel="prev" href="\(site.link(["history"]))">Latest</a></span></p>
        <p class="message">The store keeps no transaction before the number \(String(number)).</p>
        """
    }

    /// The last transactions up to a number, in order, as many as are on a page. However many there are after them, and
    /// however many numbers are missing before it, little more than these is read.
    private static func transactions(
        from oldest: Int64, through newest: Int64, _ history: any HistoryEngine
    ) throws -> [HistoryTransactionRow] {
        func rows(after start: Int64, limit: Int) throws -> [HistoryTransactionRow] {
            try history.historyTransactions(after: .transaction(start), limit: limit).filter { $0.number <= newest }
        }
        guard newest >= oldest else { return [] }
        var start = max(oldest - 1, newest - Int64(size))
        let found = try rows(after: start, limit: size)
        if !found.isEmpty { return found }
        // Their numbers have been deleted. There is a transaction after the lower number, and none after `start`.
        var lower = oldest - 1
        while start - lower > 1 {
            let middle = lower + (start - lower) / 2
            if try rows(after: middle, limit: 1).isEmpty { start = middle } else { lower = middle }
        }
        return try rows(after: max(oldest - 1, start - Int64(size)), limit: size)
    }

    private static func item(_ transaction: HistoryTransactionRow, _ portion: HistoryPortion, _ site: Site) -> HTML {
        let (changes, count) = (portion.changes[transaction.number] ?? [], portion.counts[transaction.number] ?? 0)
        let text = TextTools.iso8601(transaction.timestamp)
        let facts = [transaction.author, transaction.contextName, transaction.bundleID, transaction.processID]
            .compactMap { $0 }.filter { !$0.isEmpty }
        let list = changes.prefix(mostChanges).map { change($0, site) }
        let rest = count - list.count
        let more: HTML = rest > 0 ? "<li class=\"sub\">and \(TextTools.count(rest, "more change"))</li>" : ""
        return """
            <li><h2><time datetime="\(text)" data-local="\(text)">\(text)</time> <span class="sub">transaction \(String(transaction.number)),
            \(TextTools.count(count, "change"))</span></h2><p class="sub">\(facts.joined(separator: " · "))</p>
            <ul class="changes">\(list.joined())\(more)</ul></li>
            """
    }

    private static func change(_ change: HistoryChangeRow, _ site: Site) -> HTML {
        let number = ObjectLabel.number(of: change.objectID)
        switch change.kind {
        case .insert:
            return
                "<li><span class=\"badge good\">new</span> <a href=\"\(site.link(to: change.objectID))\">\(number)</a></li>"
        case .update:
            let names = change.changedNames.map { $0.joined(separator: ", ") } ?? ""
            return """
                <li><span class="badge">changed</span> <a href="\(site.link(to: change.objectID))">\(number)</a> <span class="sub">\(names)</span></li>
                """
        case .delete:
            let kept = (change.tombstone ?? [:]).sorted { $0.key < $1.key }.compactMap { name, value -> String? in
                guard let slot = change.objectID.layout.slotIndex(forName: name),
                    let attribute = change.objectID.layout.slots[slot].attribute
                else { return nil }
                return "\(name): \(DumpText.text(of: FieldValue(value, attribute)))"
            }
            return """
                <li><span class="badge warn">deleted</span> \(number) <span class="sub">\(kept.joined(separator: ", "))</span></li>
                """
        }
    }
}

/// The frame around every page.
enum PageFrame {
    /// Which part of the store a page belongs to.
    enum Part: String, CaseIterable {
        case entities = "Entities"
        case search = "Search"
        case sql = "SQL"
        case timeline = "Timeline"
        case diagram = "Diagram"
        case history = "History"
        case file = "File"

        var path: [String] { self == .entities ? [] : [rawValue.lowercased()] }
    }

    static func html(_ title: String, _ part: Part?, _ site: Site, _ body: HTML) -> HTML {
        let links = Part.allCases.map { item -> HTML in
            let current: HTML = item == part ? " aria-current=\"page\"" : ""
            return "<a href=\"\(site.link(item.path))\"\(current)>\(item.rawValue)</a>"
        }.joined("\n")
        let undo: HTML =
            site.undoable.map { change -> HTML in
                """
                <form method="post" action="\(site.link(["undo"]))"><input type="hidden" name="change" value="\(change.number)">
                <button title="\(change.text)">Undo</button></form>
                """
            } ?? ""
        let mode: HTML = site.isWritable ? "<span class=\"badge warn\">editing</span>" : ""
        return """
            <!DOCTYPE html>
            <html lang="en" data-base="\(site.link([]))/">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <title>\(title) – \(site.storeName)</title>
            <link rel="stylesheet" href="\(site.link(["style.css"]))">
            <link rel="icon" type="image/svg+xml" href="\(site.link(["icon.svg"]))">
            <script src="\(site.link(["script.js"]))" defer></script>
            </head>
            <body>
            <header>
            <a class="brand" href="\(site.link([]))" title="\(site.storeName)">\(site.storeName)</a>
            <nav aria-label="Parts of the store">\(links)</nav>
            <span class="tools">\(undo)\(mode)<span id="live" class="badge" title="Changes of others show as they come" hidden>live</span></span>
            </header>
            <main id="main">
            \(body)
            </main>
            <dialog id="keys"><h2>Keys</h2><dl>
            <dt><kbd>j</kbd> <kbd>k</kbd></dt><dd>next and previous row</dd>
            <dt><kbd>Enter</kbd></dt><dd>open it</dd>
            <dt><kbd>n</kbd> <kbd>p</kbd></dt><dd>next and previous page</dd>
            <dt><kbd>/</kbd></dt><dd>filter</dd>
            <dt><kbd>e</kbd> <kbd>s</kbd> <kbd>t</kbd> <kbd>d</kbd> <kbd>h</kbd> <kbd>f</kbd></dt><dd>entities, search, timeline, diagram, history, file</dd>
            <dt><kbd>u</kbd></dt><dd>back to the list</dd>
            <dt><kbd>?</kbd></dt><dd>these keys</dd>
            </dl><form method="dialog"><button>Close</button></form></dialog>
            </body>
            </html>

            """
    }
}

/// A page with a single message.
enum MessagePage {
    static func response(_ message: String, status: Int, _ site: Site) -> HTTPResponse {
        let title = status == 404 ? "Not there" : "That did not work"
        let body: HTML = "<h1>\(title)</h1><p class=\"message\" role=\"alert\">\(message)</p>"
        return HTTPResponse(PageFrame.html(title, nil, site, body), status: status)
    }
}
