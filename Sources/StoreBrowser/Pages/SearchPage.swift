import CoreData
import HTTPMessages
import PredicateFormat
import StoreEngine
import StoreReading

/// The objects of all entities whose texts have what is searched for.
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
        return "SEARCH(\(names.map { "#\($0)" }.joined(separator: ", ")), \(ChosenCondition.quoted(text)))"
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
        let tokenizer = SearchTokenizer()
        let scan = SearchScan(SearchQuery(text, tokenizer: tokenizer), tokenizer: tokenizer)
        let parts = found.map { part -> HTML in
            let items = part.rows.map { row -> HTML in
                let place = place(of: scan, in: row)
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

    /// The property and the words around what was found, in the first value that has it, other than the object's name.
    private static func place(of scan: SearchScan, in row: Row) -> String? {
        let entity = row.objectID.layout
        for (slot, value) in zip(entity.slots, row.values) {
            guard case .string(let whole) = value else { continue }
            let excerpt = scan.excerpt(of: whole, words: 12)
            guard !excerpt.matches.isEmpty else { continue }
            if slot.name == ObjectLabel.slot(of: entity).map({ entity.slots[$0].name }), whole.count < 60 { return nil }
            let cut = excerpt.text.map { $0.isNewline ? " " : String($0) }.joined()
            return "\(slot.name): \(excerpt.isCutAtStart ? "…" : "")\(cut)\(excerpt.isCutAtEnd ? "…" : "")"
        }
        return nil
    }
}

/// The rows of a `SELECT` over entities and properties, which is in the page's address: read-only, for a limited time,
/// and as many as a page shows.
enum SQLPage {
    private static let most = 1_000
    /// In seconds.
    static let patience = 10.0

    private struct Found {
        var columns: [String] = []
        var rows: [[FieldValue]] = []
        var hasMore = false
    }

    static func response(
        _ text: String, _ session: BrowserSession, _ client: (any HTTPClient)?, _ site: Site,
        patience: Double = Self.patience
    ) throws -> HTTPResponse {
        guard text.contains(where: { !$0.isWhitespace }) else {
            return HTTPResponse(html(text, nil, nil, session, site))
        }
        var found = Found()
        var problem: String?
        do {
            let answer = try session.aside(for: client) { store in
                try store.within(patience) {
                    try StoreSQL(store).run(text) { columns in
                        found.columns = columns
                    } row: { values in
                        if found.rows.count == most { found.hasMore = true } else { found.rows.append(values) }
                        return !found.hasMore
                    }
                }
            }
            if answer.isStopped {
                problem =
                    "The statement was stopped after \(Int(patience.rounded(.up))) seconds. Let it read fewer rows, or run "
                    + "it with pippin sql."
            } else if case .failure(let error) = answer.result {
                problem = Answer.text(of: error)
            }
        } catch { problem = Answer.text(of: error) }
        return HTTPResponse(html(text, found, problem, session, site), status: problem == nil ? 200 : 422)
    }

    // MARK: Pure

    private static func html(
        _ text: String, _ found: Found?, _ problem: String?, _ session: BrowserSession, _ site: Site
    ) -> HTML {
        let example = session.store.layout.entities.first { !$0.isAbstract }?.name ?? "Book"
        let message = problem.map { "<p class=\"message\" role=\"alert\">\($0)</p>" as HTML } ?? ""
        let body: HTML = """
            <h1>SQL</h1>
            <form class="filter" action="\(site.link(["sql"]))"><div class="field">
            <textarea class="code" name="statement" rows="5" spellcheck="false" aria-label="A SELECT statement" placeholder="SELECT count(*) FROM \(example)" autofocus>
            \(HTML(value: text))</textarea></div>
            <button>Run</button></form>
            <p class="sub">Entities are tables with the column _id, attributes and relationships to one are columns. Nothing is changed; the address of this page keeps the statement.</p>
            \(message)\(problem == nil ? found.map(table) ?? "" : "")
            """
        return PageFrame.html("SQL", .sql, site, body)
    }

    private static func table(_ found: Found) -> HTML {
        let heads = found.columns.map { "<th scope=\"col\">\($0)</th>" as HTML }
        let rows = found.rows.map { row -> HTML in
            "<tr>\(row.map { "<td>\(ValueHTML.short($0))</td>" as HTML }.joined())</tr>"
        }
        let count = found.hasMore ? "The first \(most) rows." : TextTools.count(found.rows.count, "row") + "."
        return """
            <div class="scroll" tabindex="0"><table class="grid">
            <thead><tr>\(heads.joined())</tr></thead>
            <tbody>\(rows.joined("\n"))</tbody></table></div>
            <p class="sub">\(count)</p>
            """
    }
}
