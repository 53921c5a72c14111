import CoreData
import HTTPMessages
import StoreReading

/// The entities, each above its subentities. Their counts are added later, by script.
enum EntitiesPage {
    static func html(_ store: DirectStore, _ site: Site) -> HTML {
        let rows = store.layout.entities.map { entity -> HTML in
            let depth = sequence(first: entity) { $0.superentity }.reduce(-1) { count, _ in count + 1 }
            let attributes = entity.slots.filter { $0.attribute != nil }.map(\.name)
            let relationships = entity.relationships.map {
                "\($0.name) → \($0.isToMany ? "many " : "")\($0.destination.name)"
            }
            let remark: HTML = entity.isAbstract ? " <span class=\"badge\">abstract</span>" : ""
            return """
                <tr data-href="\(site.link(to: entity))">
                <th scope="row" class="depth\(min(depth, 6))"><a href="\(site.link(to: entity))">\(entity.name)</a>\(remark)</th>
                <td class="number"><span class="pending">…</span></td>
                <td class="wide">\(list(attributes))</td>
                <td class="wide">\(list(relationships))</td>
                </tr>
                """
        }
        let body: HTML = """
            <h1>Entities</h1>
            <p class="sub">\(TextTools.count(rows.count, "entity", "entities")); the model is \(store.modelOrigin).</p>
            \(store.damage.map { "<p class=\"message\" role=\"alert\">Not all is shown: \($0).</p>" as HTML } ?? "")
            <div class="scroll" tabindex="0"><table class="grid entities" data-counts="\(site.link(["counts"]))">
            <thead><tr><th scope="col">Entity</th><th scope="col" class="number">Objects</th><th scope="col" class="wide">Attributes</th>
            <th scope="col" class="wide">Relationships</th></tr></thead>
            <tbody>\(rows.joined("\n"))</tbody>
            </table></div>
            """
        return PageFrame.html("Entities", .entities, site, body)
    }

    private static func list(_ names: [String]) -> String {
        names.prefix(12).joined(separator: ", ") + (names.count > 12 ? ", …" : "")
    }
}
