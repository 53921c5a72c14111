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
            let end = min(max(1, query["before"].flatMap { Int64($0) } ?? .max), last + 1)
            let oldest = try history.oldestKeptTransaction() ?? 1
            var start = max(oldest - 1, end - 1 - Int64(size))
            var transactions = try history.historyTransactions(after: .transaction(start)).filter { $0.number < end }
            // If many have been deleted in between, go on with those before them.
            while transactions.isEmpty, start > oldest - 1 {
                start = max(oldest - 1, start - Int64(size) * 64)
                transactions = try history.historyTransactions(after: .transaction(start)).filter { $0.number < end }
            }
            transactions = transactions.suffix(size)
            guard let first = transactions.first else { return nil }
            let changes = try HistoryPortion(
                transactions.map(\.number), most: mostChanges, history, session.store)
            let items = transactions.reversed().map { item($0, changes, site) }
            let older: HTML =
                first.number > oldest
                ? "<a rel=\"next\" href=\"\(site.link(["history"], [("before", String(first.number))]))\">Older</a>"
                : ""
            let newer: HTML = end <= last ? "<a rel=\"prev\" href=\"\(site.link(["history"]))\">Latest</a>" : ""
            return
                "<p class=\"sub bar\"><span>\(newer) \(older)</span></p><ol class=\"timeline\">\(items.joined("\n"))</ol>"
        }
        let none: HTML = "<p class=\"message\">The store keeps no history, or all of it has been deleted.</p>"
        return PageFrame.html(
            "History", .history, site, "<h1>History</h1><section id=\"history\" data-live>\(body ?? none)</section>")
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
