import CoreData
import HTTPMessages
import StoreEngine
import StoreReading

/// Objects of an entity in a table: one page of them, sorted and filtered as the address says.
enum GridPage {
    static func response(
        _ query: GridQuery, _ session: BrowserSession, _ client: (any HTTPClient)?, _ site: Site
    ) throws -> HTTPResponse {
        var query = query
        var page = Page()
        var destinations: [NSManagedObjectID: Row] = [:]
        if query.problem == nil {
            do {
                (page, destinations) = try session.reading(query.page, for: client) { store, request in
                    let page = try store.page(request)
                    let names = try store.asking { engine in
                        try ObjectLabel.names(of: page.rows.flatMap { row in targets(of: row) }, engine)
                    }
                    return (page, names)
                }
            } catch {
                guard !query.filter.isEmpty else { throw error }
                query.problem = TextProblem(query.filter, 0..<query.filter.count, Answer.text(of: error))
            }
        }
        let facets = query.problem == nil ? try Facet.read(query, session, client, site) : []
        let html = html(query, page, destinations, facets, site)
        return HTTPResponse(html, status: query.problem == nil ? 200 : 422)
    }

    private static func targets(of row: Row) -> [NSManagedObjectID] {
        row.objectID.layout.toOnes.compactMap { relationship in
            if case .identifier(let identifier) = row.values[relationship.slot] { return identifier }
            return nil
        }
    }

    /// The page as JSON: its objects, and the addresses of the pages beside it.
    static func json(
        _ query: GridQuery, _ session: BrowserSession, _ client: (any HTTPClient)?, _ site: Site
    ) throws -> HTTPResponse {
        if let problem = query.problem { throw problem }
        let page = try session.reading(query.page, for: client) { store, request in try store.page(request) }
        var writer = RowWriter(.json, RowColumns(of: query.entity), marksGaps: true)
        var text = writer.start
        for row in page.rows { try writer.write(row) { text += $0 } }
        text += writer.end
        func address(_ key: String, _ row: Row?, _ isThere: Bool) -> String {
            guard isThere, let row else { return "null" }
            return JSONText.string(site.link(["page", query.entity.name], query.items() + query.start(key, at: row)))
        }
        return Answer.json(
            JSONText.object([
                ("entity", JSONText.string(query.entity.name)), ("objects", text),
                ("previous", address("before", page.rows.first, page.hasBefore)),
                ("next", address("after", page.rows.last, page.hasAfter)),
            ]))
    }

    // MARK: Pure
    static func html(
        _ query: GridQuery, _ page: Page, _ destinations: [NSManagedObjectID: Row], _ facets: [Facet], _ site: Site
    ) -> HTML {
        let entity = query.entity
        let exports = [("csv", "CSV"), ("json", "JSON"), ("jsonl", "JSON Lines"), ("jsonl", "with contents")].map {
            format, name -> HTML in
            let items = query.items() + [("format", format), ("contents", name == "with contents" ? "1" : nil)]
            return "<a href=\"\(site.link(["export", entity.name], items))\" download>\(name)</a>"
        }
        let count = site.link(["count", entity.name], query.items())
        let number = query.number ?? (query.page.start == .beginning ? 1 : nil)
        let shown: HTML =
            number.map { " · page \(String($0))<span data-pages=\"\(String(query.page.size))\"></span>" } ?? ""
        let bar: HTML = """
            <p class="sub bar"><span><span data-count="\(count)" class="pending">…</span> objects\(shown)</span>
            <span>\(pager(query, page, site))</span><span>\(sizes(query, site))</span><span>\(views(query, site))</span>
            <span class="exports">Export: \(exports.joined(" "))</span></p>
            """
        let body: HTML = """
            <h1>\(entity.name)</h1>
            \(origin(query, site))
            \(filter(query, site))
            \(choice(query, site))
            \(query.problem == nil ? Facet.html(facets, query, site) : "")
            \(site.takesFiles && !entity.isAbstract && query.origin == nil ? UploadPage.form(entity, site) : "")
            <section id="rows" data-live>
            \(query.problem == nil ? bar : "")
            \(table(query, page, destinations, site))
            </section>
            """
        return PageFrame.html(entity.name, .entities, site, body)
    }

    /// How many rows a page may have.
    private static func sizes(_ query: GridQuery, _ site: Site) -> HTML {
        let links = GridQuery.sizes.map { size -> HTML in
            if size == query.page.size { return "<b>\(String(size))</b>" }
            return
                "<a href=\"\(site.link(["entity", query.entity.name], query.items(size: size)))\">\(String(size))</a>"
        }
        return "Rows: \(links.joined(" "))"
    }

    /// The same objects in other ways.
    private static func views(_ query: GridQuery, _ site: Site) -> HTML {
        let name = query.entity.name
        var links: [HTML] = []
        if query.origin == nil {
            links.append(
                "<a href=\"\(site.link(["groups", name], query.items().filter { $0.0 == "where" }))\">Groups</a>")
            if MapPage.slots(of: query.entity) != nil {
                links.append(
                    "<a href=\"\(site.link(["map", name], query.items().filter { $0.0 == "where" }))\">Map</a>")
            }
        }
        links.append("<a href=\"\(site.link(["page", name], query.items()))\">This page as JSON</a>")
        return links.joined(" ")
    }

    private static func origin(_ query: GridQuery, _ site: Site) -> HTML {
        guard let origin = query.origin else { return "" }
        return """
            <p class="sub">Those of <a href="\(site.link(to: origin.identifier))">\(ObjectLabel.number(of: origin.identifier))</a>
            by “\(origin.relationship)”\(query.hasMore ? ", the first \(GridQuery.mostListed) of them; an export has all" : ""). <a href="\(site.link(to: query.entity))">Show all</a></p>
            """
    }

    private static func filter(_ query: GridQuery, _ site: Site) -> HTML {
        let hidden = query.items().filter { $0.0 != "where" }.compactMap { name, value -> HTML? in
            value.map { "<input type=\"hidden\" name=\"\(name)\" value=\"\(HTML(value: $0))\">" }
        }
        let example = ObjectLabel.slot(of: query.entity).map {
            "\(query.entity.slots[$0].name) contains \"…\""
        }
        return """
            <form class="filter" action="\(site.link(to: query.entity))" role="search">
            <div class="field">
            <input id="where" name="where" value="\(HTML(value: query.filter))" placeholder="\(example ?? "a predicate")" aria-label="Filter"
            autocomplete="off" autocapitalize="off" spellcheck="false"\(query.problem == nil ? "" : " aria-invalid=\"true\" aria-describedby=\"problem\"" as HTML) data-complete="\(site.link(["complete", query.entity.name]))">
            \(query.problem.map(problem))
            </div>
            \(hidden.joined())
            <button>Filter</button><button type="button" id="save" hidden>Save</button>
            </form>
            """
    }

    /// The text once more under the field, with the wrong part marked.
    static func problem(_ problem: TextProblem) -> HTML {
        let text = Array(problem.text)
        let range = problem.range.clamped(to: 0..<text.count)
        let wrong = range.isEmpty ? " " : String(text[range])
        return """
            <output id="problem" class="problem" role="alert"><code><span>\(String(text[..<range.lowerBound]))</span><mark>\(wrong)</mark></code>
            <span>\(problem.sentence)</span></output>
            """
    }

    private static func pager(_ query: GridQuery, _ page: Page, _ site: Site) -> HTML {
        func link(_ name: String, _ key: String, _ row: Row?, _ isThere: Bool) -> HTML {
            guard isThere, let row else { return "<span class=\"off\">\(name)</span>" }
            let number = query.number ?? (query.page.start == .beginning ? 1 : nil)
            let next = number.flatMap { key == "after" ? $0 + 1 : $0 > 1 ? $0 - 1 : nil }
            let address = site.link(
                ["entity", query.entity.name],
                query.items() + query.start(key, at: row) + [("n", next.map(String.init))])
            return "<a href=\"\(address)\" rel=\"\(key == "after" ? "next" : "prev")\">\(name)</a>"
        }
        let first: HTML = "<a href=\"\(site.link(["entity", query.entity.name], query.items()))\">First</a>"
        return "\(page.hasBefore ? first : "<span class=\"off\">First</span>") "
            + "\(link("Previous", "before", page.rows.first, page.hasBefore)) \(link("Next", "after", page.rows.last, page.hasAfter))"
    }

    private static func table(
        _ query: GridQuery, _ page: Page, _ destinations: [NSManagedObjectID: Row], _ site: Site
    ) -> HTML {
        if query.problem != nil { return "" }
        if page.rows.isEmpty {
            return
                "<p class=\"message\">No objects\(query.page.filter == nil ? "" : " that the filter lets through").</p>"
        }
        let entity = query.entity
        let slots = columns(of: entity).filter { !query.hidden.contains(entity.slots[$0].name) }
        let sortable = GridQuery.sortable(entity)
        let heads = slots.map { slot -> HTML in
            let name = entity.slots[slot].name
            let isNumber = ValueHTML.isNumber(entity.slots[slot].attribute)
            let style: HTML = isNumber ? " class=\"number\"" : ""
            let isDate = entity.slots[slot].attribute?.type == .dateAttributeType
            let zone: HTML = isDate ? " <small>UTC</small>" : ""
            guard sortable.contains(name) else { return "<th scope=\"col\"\(style)>\(name)\(zone)</th>" }
            return "<th scope=\"col\"\(style)\(state(name, query))>\(sort("\(name)\(zone)", name, query, site))</th>"
        }
        let rows = page.rows.map { row -> HTML in
            let link = site.link(to: row.objectID)
            let number =
                row.objectID.layout.name == entity.name
                ? "\(row.objectID.key)" : "\(row.objectID.layout.name) \(row.objectID.key)"
            let cells = slots.map { cell(row, $0, destinations, site) }
            return
                "<tr data-href=\"\(link)\" data-key=\"\(number)\"><th scope=\"row\"><a href=\"\(link)\">\(number)</a></th>\(cells.joined())</tr>"
        }
        return """
            <div class="scroll" tabindex="0"><table class="grid">
            <thead><tr><th scope="col"\(state(nil, query))>\(sort("#", nil, query, site))</th>\(heads.joined())</tr></thead>
            <tbody>\(rows.joined("\n"))</tbody>
            </table></div>
            """
    }

    /// The slots in display order: the one that names an object first, bytes last.
    static func columns(of entity: EntityLayout) -> [Int] {
        let named = ObjectLabel.slot(of: entity)
        func rank(_ slot: Int) -> Int {
            if slot == named { return 0 }
            if entity.slots[slot].attribute == nil { return 1 }
            return isLarge(slot, entity) ? 3 : 2
        }
        return entity.slots.indices.filter { !entity.slots[$0].isTransient }
            .sorted { (rank($0), $0) < (rank($1), $1) }
    }

    /// Whether values of an attribute need much space.
    static func isLarge(_ slot: Int, _ entity: EntityLayout) -> Bool {
        switch entity.slots[slot].attribute?.type {
        case .binaryDataAttributeType, .transformableAttributeType, .compositeAttributeType: true
        default: false
        }
    }

    private static func state(_ name: String?, _ query: GridQuery) -> HTML {
        guard query.page.sortKey == name else { return "" }
        return query.page.isAscending ? " aria-sort=\"ascending\"" : " aria-sort=\"descending\""
    }

    private static func sort(_ shown: HTML, _ name: String?, _ query: GridQuery, _ site: Site) -> HTML {
        let isCurrent = query.page.sortKey == name
        let items = query.items(sort: .some(name), order: .some(isCurrent && query.page.isAscending ? "down" : nil))
        let arrow: HTML = isCurrent ? (query.page.isAscending ? " ↑" : " ↓") : ""
        return "<a href=\"\(site.link(["entity", query.entity.name], items))\">\(shown)\(arrow)</a>"
    }

    private static func cell(_ row: Row, _ slot: Int, _ destinations: [NSManagedObjectID: Row], _ site: Site) -> HTML {
        let place = row.objectID.layout.slots[slot]
        if let attribute = place.attribute {
            let style: HTML = ValueHTML.isNumber(attribute) ? " class=\"number\"" : ""
            return "<td\(style)>\(ValueHTML.short(FieldValue(row.values[slot], attribute)))</td>"
        }
        guard case .identifier(let identifier) = row.values[slot] else {
            return "<td><span class=\"null\">–</span></td>"
        }
        return "<td>\(ObjectPage.link(identifier, destinations[identifier], site))</td>"
    }
}

/// The objects of a grid at their places: a map without a ground, for entities with a latitude and a longitude.
enum MapPage {
    private static let most = 5_000
    private static let names = [("latitude", "longitude"), ("lat", "lon"), ("lat", "lng"), ("lat", "long")]

    /// The slots of an entity's latitude and longitude; nil for one without.
    static func slots(of entity: EntityLayout) -> (latitude: Int, longitude: Int)? {
        func slot(_ name: String) -> Int? {
            entity.slots.indices.first {
                entity.slots[$0].name.lowercased() == name && ValueHTML.isNumber(entity.slots[$0].attribute)
            }
        }
        return names.lazy.compactMap { latitude, longitude in
            slot(latitude).flatMap { first in slot(longitude).map { (first, $0) } }
        }.first
    }

    /// A place, and the object that is there.
    struct Place {
        let latitude: Double
        let longitude: Double
        let title: String
        let link: String
    }

    static func response(
        _ query: GridQuery, _ session: BrowserSession, _ client: (any HTTPClient)?, _ site: Site
    ) throws -> HTTPResponse {
        guard let (latitude, longitude) = slots(of: query.entity) else {
            throw PageFailure.missing("“\(query.entity.name)” has no latitude and longitude.")
        }
        if let problem = query.problem { throw problem }
        let places = try session.aside(for: client) { store -> [Place] in
            var plan = query.page.countPlan
            plan.entity = store.layout.entityByName[plan.entity.name] ?? plan.entity
            plan.limit = most
            return try store.asking { try $0.fetchRows(plan) }.compactMap { row in
                guard let y = number(row.values[latitude]), let x = number(row.values[longitude]), abs(y) <= 90,
                    abs(x) <= 180
                else { return nil }
                return Place(
                    latitude: y, longitude: x,
                    title: ObjectLabel.name(of: row) ?? ObjectLabel.number(of: row.objectID),
                    link: site.link(to: row.objectID))
            }
        }
        return HTTPResponse(html(query, places, site))
    }

    private static func number(_ value: StoredValue) -> Double? {
        switch value {
        case .double(let number): number
        case .integer(let number): Double(number)
        case .object(let number as NSNumber): number.doubleValue
        default: nil
        }
    }

    // MARK: Pure

    static func html(_ query: GridQuery, _ places: [Place], _ site: Site) -> HTML {
        let entity = query.entity
        let shown: HTML = query.filter.isEmpty ? "" : " where <code>\(query.filter)</code>"
        let count = TextTools.count(places.count, "object")
        let body: HTML = """
            <p class="crumbs"><a id="up" href="\(site.link(["entity", entity.name], query.items()))">\(entity.name)</a></p>
            <h1>\(entity.name) on a map</h1>
            <p class="sub">\(count)\(shown)\(places.count == most ? ", the first ones" : "").</p>
            \(places.isEmpty ? "<p class=\"message\">No objects with a place.</p>" : drawing(places))
            """
        return PageFrame.html("\(entity.name) on a map", .entities, site, body)
    }

    /// Degrees of longitude are drawn as wide as they are in the middle of the map.
    static func drawing(_ places: [Place]) -> HTML {
        let (south, north) = bounds(places.map(\.latitude))
        let (west, east) = bounds(places.map(\.longitude))
        let narrowing = max(0.1, cos((south + north) / 2 * .pi / 180))
        let scale = min(900 / ((east - west) * narrowing), 600 / (north - south))
        let (width, height) = ((east - west) * narrowing * scale, (north - south) * scale)
        func x(_ longitude: Double) -> String { fixed((longitude - west) * narrowing * scale) }
        func y(_ latitude: Double) -> String { fixed((north - latitude) * scale) }
        let step = [0.001, 0.01, 0.1, 0.5, 1, 5, 10, 30].first { max(east - west, north - south) / $0 <= 8 } ?? 30
        var lines: [HTML] = []
        for meridian in steps(west, east, step) {
            lines.append(
                "<path d=\"M\(x(meridian)) 0V\(fixed(height))\"/><text x=\"\(x(meridian))\" y=\"\(fixed(height - 4))\">\(degrees(meridian))</text>"
            )
        }
        for parallel in steps(south, north, step) {
            lines.append(
                "<path d=\"M0 \(y(parallel))H\(fixed(width))\"/><text x=\"3\" y=\"\(y(parallel))\">\(degrees(parallel))</text>"
            )
        }
        let points = places.map { place -> HTML in
            "<a href=\"\(place.link)\"><circle cx=\"\(x(place.longitude))\" cy=\"\(y(place.latitude))\" r=\"4\"><title>\(place.title)</title></circle></a>"
        }
        return """
            <figure class="chart map"><svg viewBox="0 0 \(fixed(width)) \(fixed(height))" role="img" aria-label="Places of objects">\
            <g class="lines">\(lines.joined())</g>\(points.joined())</svg></figure>
            """
    }

    /// The least and the greatest number, with a margin.
    private static func bounds(_ numbers: [Double]) -> (Double, Double) {
        let (least, greatest) = (numbers.min() ?? 0, numbers.max() ?? 0)
        let margin = max((greatest - least) * 0.06, 0.01)
        return (least - margin, greatest + margin)
    }

    private static func steps(_ least: Double, _ greatest: Double, _ step: Double) -> [Double] {
        Array(stride(from: (least / step).rounded(.up) * step, through: greatest, by: step))
    }

    private static func degrees(_ number: Double) -> String { String(format: "%g°", (number * 1000).rounded() / 1000) }
    private static func fixed(_ number: Double) -> String { String(format: "%.1f", number) }
}
