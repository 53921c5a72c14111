import CoreData
import HTTPMessages
import StoreReading

/// The facts about the store's file: its size, its pages and journal, its indexes and constraints. The script starts
/// the check for damage.
enum FilePage {
    static func html(_ session: BrowserSession, _ site: Site) throws -> HTML {
        let store = session.store
        var facts: [(String, String)] = [("UUID", store.store.identifier ?? "none"), ("model", store.modelOrigin)]
        if let url = store.file {
            facts.insert(("file", (store.original ?? url).path), at: 0)
            facts += try FileDetails(of: url).facts
        }
        let metadata = store.store.metadata ?? [:]
        if let number = metadata["NSPersistenceFrameworkVersion"] {
            facts.append(
                (
                    "written by",
                    metadata["PippinVersionHashes"] == nil ? "Core Data, framework version \(number)" : "Pippin"
                ))
        }
        let rows = facts.map { "<tr><th scope=\"row\">\($0.0)</th><td>\($0.1)</td></tr>" as HTML }
        let indexes = store.document.entities.flatMap { entity in
            entity.uniquenessConstraints.map { (entity.name, "unique", $0.joined(separator: ", "), "") }
                + entity.indexes.map { index in
                    let names = index.elements.map { $0.propertyName ?? "an expression" }
                    return (entity.name, "index", names.joined(separator: ", "), index.name)
                }
        }
        let list = indexes.map {
            "<tr><th scope=\"row\">\($0.0)</th><td>\($0.1)</td><td>\($0.2)</td><td class=\"sub\">\($0.3)</td></tr>"
                as HTML
        }
        let table: HTML =
            list.isEmpty
            ? "<p class=\"null\">None in the model</p>"
            : """
            <div class="scroll" tabindex="0"><table class="grid"><thead><tr><th scope="col">Entity</th><th scope="col">Kind</th>
            <th scope="col">Properties</th><th scope="col">Name</th></tr></thead><tbody>\(list.joined())</tbody></table></div>
            """
        let check: HTML =
            store.file == nil
            ? ""
            : """
            <h2>Integrity</h2>
            <div id="integrity" data-check="\(site.link(["check"]))"><p class="sub">Being looked at …</p></div>
            """
        let body: HTML = """
            <h1>\(store.file == nil ? "Store" : "File")</h1>
            <table class="fields"><tbody>\(rows.joined("\n"))</tbody></table>
            \(check)
            <h2>Constraints and indexes</h2>
            \(table)
            """
        return PageFrame.html("File", .file, site, body)
    }

    /// The defects of the store, as JSON; through a connection of its own. The check ends with the next thing to be
    /// checked if the client leaves.
    static func check(_ session: BrowserSession, _ client: (any HTTPClient)?) throws -> HTTPResponse {
        let store = try session.open()
        defer { store.close() }
        guard let url = store.file else { throw PageFailure.missing("There is no file.") }
        let problems = try StoreCheck(of: url, store) { _ in
            guard client?.isWaiting ?? true else { throw CommandError("nobody waits for the check any more") }
        }.problems
        let texts = [store.damage].compactMap { $0 } + problems.map(\.text)
        return Answer.json("{\"problems\": [\(texts.map(JSONText.string).joined(separator: ", "))]}")
    }
}
