import CoreData
import Foundation
import HTTPMessages
import StoreEngine
import StoreReading

/// The objects of a grid by the values of a column: how many there are of each, and the sum, average, least and
/// greatest of another column, as a table and as bars.
enum GroupsPage {
    /// How many groups are computed, and how many are drawn.
    private static let (most, drawn) = (5_000, 30)

    /// What is computed of each group.
    enum Measure: String, CaseIterable {
        case count, sum, average, least, greatest

        fileprivate var function: String {
            switch self {
            case .count: "count:"
            case .sum: "sum:"
            case .average: "average:"
            case .least: "min:"
            case .greatest: "max:"
            }
        }
    }

    /// A group: the value that its objects share, what leads to them, and the numbers.
    struct Group {
        let shown: HTML
        /// The filter that finds its objects; nil for values that no text says.
        let filter: String?
        /// The object at the end of a relationship that they share.
        var object: NSManagedObjectID?
        var numbers: [Double?]
    }

    /// The columns that objects are grouped by: single values, and the objects at the end of relationships.
    static func columns(of entity: EntityLayout) -> [String] {
        entity.slots.filter { slot in
            guard !slot.isTransient else { return false }
            guard let attribute = slot.attribute else { return true }
            return attribute.type.isOrdered || attribute.type == .booleanAttributeType
                || attribute.type == .UUIDAttributeType
        }.map(\.name)
    }

    /// The columns with numbers to add up.
    static func measured(_ entity: EntityLayout) -> [String] {
        entity.slots.filter { !$0.isTransient && ValueHTML.isNumber($0.attribute) }.map(\.name)
    }

    static func response(
        _ query: GridQuery, _ fields: HTTPFields, _ session: BrowserSession, _ client: (any HTTPClient)?, _ site: Site
    ) throws -> HTTPResponse {
        let entity = query.entity
        let by = fields["group"].flatMap { columns(of: entity).contains($0) ? $0 : nil }
        let of = fields["add"].flatMap { measured(entity).contains($0) ? $0 : nil }
        var groups: [Group] = []
        var problem = query.problem
        if problem == nil, let by {
            do {
                groups = try session.aside(for: client) { try Self.groups(query, by, of, $0, site) }
            } catch { problem = TextProblem(query.filter, 0..<query.filter.count, Answer.text(of: error)) }
        }
        let html = html(query, by, of, groups, problem, site)
        return HTTPResponse(html, status: problem == nil ? 200 : 422)
    }

    fileprivate static func groups(
        _ query: GridQuery, _ by: String, _ of: String?, _ store: DirectStore, _ site: Site
    ) throws -> [Group] {
        let entity = store.layout.entityByName[query.entity.name] ?? query.entity
        guard let slot = entity.slotIndex(forName: by) else { return [] }
        let measures: [Measure] = of == nil ? [.count] : Measure.allCases
        var plan = query.page.countPlan
        plan.entity = entity
        plan.groupBy = [by]
        plan.limit = most
        plan.columns =
            [.keyPath(by)]
            + measures.map { measure in
                let path = measure == .count ? nil : of
                let argument = path.map { NSExpression(forKeyPath: $0) } ?? NSExpression.expressionForEvaluatedObject()
                return .expression(
                    name: "$\(measure.rawValue)", NSExpression(forFunction: measure.function, arguments: [argument]),
                    measure == .count ? .integer64AttributeType : .doubleAttributeType)
            }
        return try store.asking { engine in
            let rows = try engine.fetchDictionaries(plan)
            let identifiers = rows.compactMap { $0[by] as? NSManagedObjectID }
            let names = try ObjectLabel.names(of: identifiers, engine)
            return rows.map { row in
                let numbers = measures.map { (row["$\($0.rawValue)"] as? NSNumber)?.doubleValue }
                let value: StoredValue
                if let identifier = row[by] as? NSManagedObjectID {
                    value = .identifier(identifier)
                } else if let attribute = entity.slots[slot].attribute, let given = row[by], !(given is NSNull) {
                    value = StoredValue(given, for: attribute)
                } else {
                    value = .null
                }
                return group(of: value, by, slot, entity, names, numbers, site)
            }.sorted { ($0.numbers[0] ?? 0) > ($1.numbers[0] ?? 0) }
        }
    }

    /// The group of a value.
    fileprivate static func group(
        of value: StoredValue, _ by: String, _ slot: Int, _ entity: EntityLayout, _ names: [NSManagedObjectID: Row],
        _ numbers: [Double?], _ site: Site
    ) -> Group {
        if case .identifier(let identifier) = value {
            return Group(
                shown: ObjectPage.link(identifier, names[identifier], site), filter: nil, object: identifier,
                numbers: numbers)
        }
        guard let attribute = entity.slots[slot].attribute, !value.isNull else {
            return Group(shown: "<span class=\"null\">none</span>", filter: "#\(by) == nil", numbers: numbers)
        }
        let field = FieldValue(value, attribute)
        let text = ChosenCondition.literal(CSVText.cell(field), attribute.type, ChosenCondition.comparisons[0])
        return Group(shown: ValueHTML.short(field), filter: "#\(by) == \(text)", numbers: numbers)
    }

    // MARK: Pure

    private static func html(
        _ query: GridQuery, _ by: String?, _ of: String?, _ groups: [Group], _ problem: TextProblem?, _ site: Site
    ) -> HTML {
        let entity = query.entity
        func options(_ names: [String], _ chosen: String?, none: String) -> HTML {
            let all: [HTML] = names.map { name in
                "<option\(name == chosen ? " selected" as HTML : "")>\(name)</option>"
            }
            return "<option value=\"\">\(none)</option>\(all.joined())"
        }
        let hidden: HTML =
            query.filter.isEmpty ? "" : "<input type=\"hidden\" name=\"where\" value=\"\(HTML(value: query.filter))\">"
        let shown: HTML = query.filter.isEmpty ? "" : " where <code>\(query.filter)</code>"
        let body: HTML = """
            <p class="crumbs"><a id="up" href="\(site.link(["entity", entity.name], query.items()))">\(entity.name)</a></p>
            <h1>\(entity.name) in groups</h1>
            <p class="sub">Objects\(shown), by the values of a column.</p>
            <form class="choose" action="\(site.link(["groups", entity.name]))">\(hidden)
            <label>by <select name="group">\(options(columns(of: entity), by, none: "a column …"))</select></label>
            <label>and of <select name="add">\(options(measured(entity), of, none: "no numbers"))</select></label>
            <button>Show</button></form>
            \(problem.map(GridPage.problem) ?? "")
            \(by == nil || problem != nil ? "" : result(query, by ?? "", of, groups, site))
            """
        return PageFrame.html("\(entity.name) in groups", .entities, site, body)
    }

    private static func result(
        _ query: GridQuery, _ by: String, _ of: String?, _ groups: [Group], _ site: Site
    ) -> HTML {
        guard !groups.isEmpty else { return "<p class=\"message\">No objects.</p>" }
        let measures: [Measure] = of == nil ? [.count] : Measure.allCases
        let heads = measures.map { measure -> HTML in
            let name = measure == .count ? "objects" : "\(measure.rawValue) of \(of ?? "")"
            return "<th scope=\"col\" class=\"number\">\(name)</th>"
        }
        let rows = groups.map { group -> HTML in
            let cells = group.numbers.map { number -> HTML in
                number.map { "<td class=\"number\">\(text(of: $0))</td>" }
                    ?? "<td class=\"number\"><span class=\"null\">–</span></td>"
            }
            let link: HTML
            if let filter = group.filter {
                let whole = query.filter.isEmpty ? filter : "(\(query.filter)) and \(filter)"
                link = "<a href=\"\(site.link(["entity", query.entity.name], [("where", whole)]))\">\(group.shown)</a>"
            } else {
                link = group.shown
            }
            return "<tr><th scope=\"row\">\(link)</th>\(cells.joined())</tr>"
        }
        let more: HTML = groups.count >= most ? "<p class=\"sub\">Only \(String(most)) groups are computed.</p>" : ""
        return """
            \(bars(groups, of == nil ? 0 : 1, of.map { "sum of \($0)" } ?? "objects"))
            \(more)
            <div class="scroll" tabindex="0"><table class="grid">
            <thead><tr><th scope="col">\(by)</th>\(heads.joined())</tr></thead>
            <tbody>\(rows.joined("\n"))</tbody></table></div>
            """
    }

    /// The groups with the greatest numbers as bars, in the order of the table.
    private static func bars(_ groups: [Group], _ index: Int, _ name: String) -> HTML {
        let shown = groups.sorted { ($0.numbers[index] ?? 0) > ($1.numbers[index] ?? 0) }.prefix(drawn)
        let greatest = shown.compactMap { $0.numbers[index] }.max() ?? 0
        guard greatest > 0, shown.count > 1 else { return "" }
        let (line, width) = (22, 300.0)
        let lines = shown.enumerated().map { place, group -> HTML in
            let number = max(0, group.numbers[index] ?? 0)
            let (y, length) = (place * line, max(1, number / greatest * width))
            return """
                <text x="210" y="\(String(y + 15))" text-anchor="end">\(plain(group.shown))</text>\
                <rect x="218" y="\(String(y + 3))" width="\(fixed(length))" height="\(String(line - 7))" rx="2"/>\
                <text x="\(fixed(226 + length))" y="\(String(y + 15))" class="value">\(text(of: number))</text>
                """
        }
        return """
            <figure class="chart"><svg viewBox="0 0 640 \(String(shown.count * line))" role="img" aria-label="\(name) by group">\(lines.joined())</svg>
            <figcaption>\(name)\(groups.count > drawn ? ", the first \(drawn) groups" : "")</figcaption></figure>
            """
    }

    /// The text of markup, cut to what fits beside a bar.
    fileprivate static func plain(_ html: HTML) -> HTML {
        var text = ""
        var isTag = false
        for character in html.text {
            if character == "<" {
                isTag = true
            } else if character == ">" {
                isTag = false
            } else if !isTag {
                text.append(character)
            }
        }
        // Entities stay whole: what is cut is cut before one.
        guard text.count > 28 else { return HTML(trusted: text) }
        let cut = text.prefix(28)
        let end = cut.lastIndex(of: "&").flatMap { cut[$0...].contains(";") ? nil : $0 } ?? cut.endIndex
        return HTML(trusted: cut[..<end] + "…")
    }

    static func text(of number: Double) -> String {
        if number == number.rounded(), abs(number) < 1e15 { return TextTools.grouped(Int64(number)) }
        return fixed(number)
    }

    private static func fixed(_ number: Double) -> String { String(format: "%.2f", number) }
}

/// The most frequent values of a column among the objects of a grid, each a link to those that have it.
struct Facet {
    /// How many columns are counted at once, how many values of each are shown, and in how many seconds they are
    /// counted; beyond these, the values of the first objects only.
    static let most = 3
    private static let (shown, seconds, sample) = (12, 0.1, 5_000)

    let column: String
    let groups: [GroupsPage.Group]
    /// How many values there are.
    let count: Int
    /// Whether only the first objects were counted.
    let isSample: Bool

    /// - Throws: the errors of the store.
    static func read(
        _ query: GridQuery, _ session: BrowserSession, _ client: (any HTTPClient)?, _ site: Site
    ) throws -> [Facet] {
        guard !query.facets.isEmpty else { return [] }
        return try session.aside(for: client) { store in
            // What was spent on one column is not there for the next.
            let end = ContinuousClock.now + .seconds(seconds)
            let counted = Set(GroupsPage.columns(of: query.entity))
            return try query.facets.filter(counted.contains).map { column in
                let count = { try GroupsPage.groups(query, column, nil, store, site) }
                if query.countsAll { return Facet(column, try count(), isSample: false) }
                let left = max(0.005, (end - .now) / .seconds(1))
                let (isStopped, result) = try store.within(left, count)
                guard isStopped else { return Facet(column, try result.get(), isSample: false) }
                return Facet(column, try first(query, column, store, site), isSample: true)
            }
        }
    }

    private init(_ column: String, _ groups: [GroupsPage.Group], isSample: Bool) {
        (self.column, self.isSample) = (column, isSample)
        (self.groups, count) = (Array(groups.prefix(Self.shown)), groups.count)
    }

    /// The groups of the first objects.
    private static func first(
        _ query: GridQuery, _ column: String, _ store: DirectStore, _ site: Site
    ) throws -> [GroupsPage.Group] {
        let entity = store.layout.entityByName[query.entity.name] ?? query.entity
        var plan = query.page.countPlan
        (plan.entity, plan.limit) = (entity, sample)
        guard let slot = entity.slotIndex(forName: column) else { return [] }
        return try store.asking { engine in
            var counts: [String: (value: StoredValue, count: Int)] = [:]
            var objects: [NSManagedObjectID] = []
            for row in try engine.fetchRows(plan) {
                let value = row.values[slot]
                let text: String
                if case .identifier(let identifier) = value {
                    text = "\(identifier.layout.name) \(identifier.key)"
                    if counts[text] == nil { objects.append(identifier) }
                } else if let attribute = entity.slots[slot].attribute, !value.isNull {
                    text = "=" + CSVText.cell(FieldValue(value, attribute))
                } else {
                    text = ""
                }
                counts[text, default: (value, 0)].count += 1
            }
            let names = try ObjectLabel.names(of: objects, engine)
            return counts.values.sorted { $0.count > $1.count }.map { value, count in
                GroupsPage.group(of: value, column, slot, entity, names, [Double(count)], site)
            }
        }
    }

    // MARK: Pure

    /// The columns to choose from, and the values of those that were chosen.
    static func html(_ facets: [Facet], _ query: GridQuery, _ site: Site) -> HTML {
        let path = ["entity", query.entity.name]
        let choices = GroupsPage.columns(of: query.entity).filter { !query.facets.contains($0) }.map { name -> HTML in
            "<a href=\"\(site.link(path, query.items(facets: query.facets.suffix(most - 1) + [name])))\">\(name)</a>"
        }
        let boxes = facets.map { facet -> HTML in
            let rest = query.items(facets: query.facets.filter { $0 != facet.column })
            let lines = facet.groups.map { group -> HTML in
                let number = GroupsPage.text(of: group.numbers[0] ?? 0)
                return
                    "<li><a href=\"\(facet.address(of: group, query, site))\">\(GroupsPage.plain(group.shown))</a> <small>\(number)</small></li>"
            }
            let all = query.items() + [("all", "1")]
            let sampled: HTML =
                facet.isSample
                ? "<p class=\"sub\">Of the first \(String(sample)) objects. <a href=\"\(site.link(path, all))\">Count all</a></p>"
                : ""
            let items = query.items().filter { $0.0 == "where" } + [("group", facet.column)]
            let more: HTML =
                facet.count > shown
                ? "<p class=\"sub\"><a href=\"\(site.link(["groups", query.entity.name], items))\">\(TextTools.count(facet.count - shown, "more value"))</a></p>"
                : ""
            return """
                <section><h2>\(facet.column) <a href="\(site.link(path, rest))" title="Take away" aria-label="Take \(facet.column) away">×</a></h2>
                <ul>\(lines.joined())</ul>\(more)\(sampled)</section>
                """
        }
        return """
            <details class="facets"\(facets.isEmpty ? "" : " open" as HTML)><summary>Facets</summary>
            <p class="sub bar">\(choices.joined(" "))</p><div>\(boxes.joined())</div></details>
            """
    }

    /// The address of the objects with the value of a group.
    private func address(of group: GroupsPage.Group, _ query: GridQuery, _ site: Site) -> String {
        let path = ["entity", query.entity.name]
        guard let filter = group.filter else {
            guard let object = group.object else { return site.link(path, query.items()) }
            let origin = [object.layout.name, String(object.key), column].map { part in
                part.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? part
            }
            let items = query.items().filter { $0.0 != "of" && $0.0 != "by" }
            return site.link(path, [("by", origin.joined(separator: "/"))] + items)
        }
        return site.link(path, query.items(filter: query.filter.isEmpty ? filter : "(\(query.filter)) and \(filter)"))
    }
}
