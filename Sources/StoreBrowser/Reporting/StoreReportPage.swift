import CoreData
import Foundation
import HTTPMessages
import StoreEngine
import StoreReading

/// A self-contained page about a store, which can be sent as one file.
package enum StoreReportPage {
    /// The number of objects of an entity that are shown.
    private static let samples = 5

    /// - Parameters:
    ///   - store: the store, open.
    ///   - date: when the page is made.
    ///   - graphviz: draws the diagram.
    ///   - progress: called with the next thing to be read.
    /// - Returns: the page.
    /// - Throws: an error for a store that cannot be read.
    package static func html(
        _ store: DirectStore, date: Date, graphviz: Graphviz = Graphviz(), progress: (String) -> Void = { _ in }
    ) throws -> HTML {
        var warnings: [String] = []
        var sizes: [String: Int64] = [:]
        var facts: [(String, String)] = []
        if let file = store.file {
            progress("looking at the file …")
            facts = try FileDetails(of: file).facts.filter { $0.0 != "last written" }
            warnings = [store.damage].compactMap { $0 }
            warnings += try StoreCheck(of: file, store) { progress("looking at \($0) …") }.problems.map(\.text)
            let advice = try StoreAdvice(of: file, store)
            warnings += advice.warnings
            sizes = advice.sizes
        }
        var counts: [String: Int] = [:]
        for entity in store.layout.entities {
            progress("counting \(entity.name) …")
            counts[entity.name] = try? store.asking { try $0.fetchCount(PageRequest(entity: entity).countPlan) }
        }
        let samples = store.layout.entities.filter { !$0.isAbstract }.map { sample(of: $0, store) }
        let fixed: [(String, String)] = [
            ("made", TextTools.iso8601(date.timeIntervalSinceReferenceDate)),
            ("UUID", store.store.identifier ?? "none"),
            ("model", store.modelOrigin),
        ]
        let body: HTML = """
            <h1>\(store.name)</h1>
            <h2>What it is</h2><table class="fields"><tbody>\((fixed + facts).map { "<tr><th scope=\"row\">\($0.0)</th><td>\($0.1)</td></tr>" as HTML }.joined())</tbody></table>
            <h2>Warnings</h2>\(list(warnings))
            <h2>Entities</h2>\(entities(store, counts, sizes))
            <h2>Diagram</h2>\(diagram(store, graphviz))
            <h2>Samples</h2>\(samples.joined())
            """
        return page(store.name, body)
    }

    // MARK: Pure

    private static func page(_ title: String, _ body: HTML) -> HTML {
        """
        <!DOCTYPE html>
        <html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
        <meta name="color-scheme" content="light dark"><title>\(title)</title><style>\(HTML(trusted: Assets.style))</style></head>
        <body><main>\(body)</main></body></html>

        """
    }

    private static func list(_ warnings: [String]) -> HTML {
        if warnings.isEmpty { return "<p class=\"message good\">None.</p>" }
        return "<ul>\(warnings.map { "<li>\($0)</li>" as HTML }.joined("\n"))</ul>"
    }

    private static func entities(_ store: DirectStore, _ counts: [String: Int], _ sizes: [String: Int64]) -> HTML {
        let rows = store.layout.entities.map { entity -> HTML in
            let depth = sequence(first: entity) { $0.superentity }.reduce(-1) { count, _ in count + 1 }
            let count = counts[entity.name].map { TextTools.grouped(Int64($0)) } ?? "?"
            let size = sizes[entity.name].map { TextTools.size($0) } ?? ""
            return """
                <tr><th scope="row" class="depth\(min(depth, 6))">\(entity.name)</th><td class="number">\(count)</td><td class="number">\(size)</td>
                <td class="wide">\(entity.slots.filter { $0.attribute != nil }.map(\.name).joined(separator: ", "))</td>
                <td class="wide">\(entity.relationships.map { "\($0.name) → \($0.isToMany ? "many " : "")\($0.destination.name)" }.joined(separator: ", "))</td></tr>
                """
        }
        return """
            <div class="scroll"><table class="grid entities"><thead><tr><th scope="col">Entity</th><th scope="col" class="number">Objects</th>
            <th scope="col" class="number">Size</th><th scope="col" class="wide">Attributes</th><th scope="col" class="wide">Relationships</th></tr></thead>
            <tbody>\(rows.joined("\n"))</tbody></table></div>
            """
    }

    private static func diagram(_ store: DirectStore, _ graphviz: Graphviz) -> HTML {
        guard graphviz.executable != nil else { return "<p class=\"sub\">Not drawn: Graphviz is not installed.</p>" }
        guard let data = try? graphviz.draw(GraphText.dot(of: store.document, title: store.name), as: .svg),
            case let drawn = String(decoding: data, as: UTF8.self), let start = drawn.range(of: "<svg")
        else { return "<p class=\"sub\">Graphviz could not draw it.</p>" }
        return "<div class=\"scroll diagram\">\(HTML(trusted: String(drawn[start.lowerBound...])))</div>"
    }

    private static func sample(of entity: EntityLayout, _ store: DirectStore) -> HTML {
        var request = PageRequest(entity: entity)
        (request.includesSubentities, request.size) = (false, samples)
        let rows: [Row]
        do { rows = try store.page(request).rows } catch {
            return "<h3>\(entity.name)</h3><p class=\"message\">\(Answer.text(of: error))</p>"
        }
        guard !rows.isEmpty else { return "" }
        let slots = GridPage.columns(of: entity)
        let heads = slots.map { "<th scope=\"col\">\(entity.slots[$0].name)</th>" as HTML }
        let lines = rows.map { row -> HTML in
            let cells = slots.map { slot -> HTML in
                if let attribute = entity.slots[slot].attribute {
                    return "<td>\(ValueHTML.short(FieldValue(row.values[slot], attribute)))</td>"
                }
                guard case .identifier(let identifier) = row.values[slot] else {
                    return "<td><span class=\"null\">–</span></td>"
                }
                return "<td>\(ObjectLabel.number(of: identifier))</td>"
            }
            return "<tr><th scope=\"row\">\(String(row.objectID.key))</th>\(cells.joined())</tr>"
        }
        return """
            <h3>\(entity.name)</h3><div class="scroll"><table class="grid"><thead><tr><th scope="col">#</th>\(heads.joined())</tr></thead>
            <tbody>\(lines.joined("\n"))</tbody></table></div>
            """
    }
}

/// The model as a drawing whose boxes are links to their entities. Graphviz draws it, if it is installed.
enum DiagramPage {
    static func html(_ store: DirectStore, _ graphviz: Graphviz, _ site: Site) -> HTML {
        PageFrame.html("Diagram", .diagram, site, "<h1>Diagram</h1>\(drawing(store, graphviz, site))")
    }

    private static func drawing(_ store: DirectStore, _ graphviz: Graphviz, _ site: Site) -> HTML {
        guard graphviz.executable != nil else {
            return """
                <p class="message">The diagram is drawn by Graphviz, and there is no program “dot” in PATH. Install it: on Debian and Ubuntu,
                <code>apt install graphviz</code>. The entities are on <a href="\(site.link([]))">their page</a>.</p>
                """
        }
        do {
            let graph = GraphText.dot(of: store.document, title: store.name) { site.link(["entity", $0]) }
            let drawn = String(decoding: try graphviz.draw(graph, as: .svg), as: UTF8.self)
            guard let start = drawn.range(of: "<svg") else {
                return "<p class=\"message\">Graphviz has drawn nothing.</p>"
            }
            // Graphviz escapes its texts, and the page allows no scripts in the drawing.
            return
                "<div class=\"scroll diagram\" tabindex=\"0\">\(HTML(trusted: String(drawn[start.lowerBound...])))</div>"
        } catch {
            return "<p class=\"message\">\(Answer.text(of: error))</p>"
        }
    }
}
