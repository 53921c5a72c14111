import CoreData
import HTTPMessages
import PredicateFormat
import StoreEngine
import StoreReading

/// The objects of all entities with a text that contains a word.
enum SearchPage {
    /// How many objects of an entity are shown, and how long is searched.
    private static let most = 8
    private static let patience = Duration.seconds(4)

    private struct Found {
        let entity: EntityLayout
        let rows: [Row]
        let hasMore: Bool
    }

    static func response(
        _ text: String, _ session: BrowserSession, _ client: (any HTTPClient)?, _ site: Site
    ) throws -> HTTPResponse {
        let wanted = text.trimmingCharacters(in: .whitespaces)
        var found: [Found] = []
        var left: [String] = []
        if !wanted.isEmpty {
            (found, left) = try session.aside(for: client) { store in
                let end = ContinuousClock.now + patience
                var (found, left): ([Found], [String]) = ([], [])
                for entity in store.layout.entities where !entity.isAbstract {
                    guard let plan = plan(wanted, entity) else { continue }
                    guard ContinuousClock.now < end, client?.isWaiting ?? true else {
                        left.append(entity.name)
                        continue
                    }
                    let rows = try store.asking { try $0.fetchRows(plan) }
                    guard !rows.isEmpty else { continue }
                    found.append(Found(entity: entity, rows: Array(rows.prefix(most)), hasMore: rows.count > most))
                }
                return (found, left)
            }
        }
        return HTTPResponse(html(wanted, found, left, site))
    }

    /// The condition on an entity's texts; nil for an entity without.
    static func condition(_ text: String, _ entity: EntityLayout) -> String? {
        let names = entity.slots.filter { !$0.isTransient && $0.attribute?.type == .stringAttributeType }.map(\.name)
        guard !names.isEmpty else { return nil }
        return names.map { "#\($0) contains[cd] \(ChosenCondition.quoted(text))" }.joined(separator: " or ")
    }

    /// The fetch of an entity's own objects, one more than is shown.
    private static func plan(_ text: String, _ entity: EntityLayout) -> FetchPlan? {
        guard let condition = condition(text, entity) else { return nil }
        var plan = FetchPlan(entity: entity)
        plan.includesSubentities = false
        plan.predicate = (try? FilterText.predicate(condition, of: entity)) ?? nil
        guard plan.predicate != nil else { return nil }
        plan.limit = most + 1
        return plan
    }

    // MARK: Pure

    private static func html(_ text: String, _ found: [Found], _ left: [String], _ site: Site) -> HTML {
        let parts = found.map { part -> HTML in
            let items = part.rows.map { row -> HTML in
                let place = place(of: text, in: row)
                return """
                    <li><a href="\(site.link(to: row.objectID))">\(ObjectLabel.name(of: row) ?? ObjectLabel.number(of: row.objectID))</a>\
                    \(place.map { " <span class=\"sub\">\($0)</span>" as HTML } ?? "")</li>
                    """
            }
            let all = site.link(["entity", part.entity.name], [("where", condition(text, part.entity))])
            let more: HTML = part.hasMore ? " <a class=\"sub\" href=\"\(all)\">all</a>" : ""
            return "<h2>\(part.entity.name)\(more)</h2><ul class=\"found\">\(items.joined())</ul>"
        }
        let nothing: HTML =
            text.isEmpty || !found.isEmpty ? "" : "<p class=\"message\">No text contains “\(text)”.</p>"
        let rest: HTML =
            left.isEmpty
            ? "" : "<p class=\"message\" role=\"alert\">Not searched in time: \(left.joined(separator: ", ")).</p>"
        let body: HTML = """
            <h1>Search</h1>
            <form class="filter" action="\(site.link(["search"]))" role="search"><div class="field">
            <input name="text" value="\(HTML(value: text))" placeholder="a word in any text" aria-label="Search all texts" autofocus></div>
            <button>Search</button></form>
            \(nothing)\(rest)\(parts.joined())
            """
        return PageFrame.html("Search", .search, site, body)
    }

    /// The property and the words around the text, in the first value that contains it, other than the object's name.
    private static func place(of text: String, in row: Row) -> String? {
        let entity = row.objectID.layout
        for (slot, value) in zip(entity.slots, row.values) {
            guard case .string(let whole) = value,
                let range = whole.range(of: text, options: [.caseInsensitive, .diacriticInsensitive])
            else { continue }
            if slot.name == ObjectLabel.slot(of: entity).map({ entity.slots[$0].name }), whole.count < 60 { return nil }
            let start = whole.index(range.lowerBound, offsetBy: -30, limitedBy: whole.startIndex) ?? whole.startIndex
            let end = whole.index(range.upperBound, offsetBy: 30, limitedBy: whole.endIndex) ?? whole.endIndex
            let cut = whole[start..<end].map { $0.isNewline ? " " : String($0) }.joined()
            return "\(slot.name): \(start > whole.startIndex ? "…" : "")\(cut)\(end < whole.endIndex ? "…" : "")"
        }
        return nil
    }
}
