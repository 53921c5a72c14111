import CoreData
import Foundation
import HTTPMessages
import PredicateFormat
import StoreEngine
import StoreReading

/// Routes requests to the pages that answer them.
package struct Router: Sendable {
    let session: BrowserSession
    let graphviz: Graphviz
    /// Imports files into a store that is changed; nil where none are taken.
    let importer: FileImporter?

    package init(_ session: BrowserSession, graphviz: Graphviz = Graphviz(), importer: FileImporter? = nil) {
        self.session = session
        self.graphviz = graphviz
        self.importer = importer
    }

    /// The response to a request whose path lacks the secret.
    package func response(to request: HTTPRequest, token: String) -> HTTPResponse {
        let site = Site(
            token: token, storeName: session.store.name, isWritable: session.editor != nil,
            takesFiles: session.editor != nil && importer != nil, undoable: session.editor?.undoable)
        do {
            if let asset = asset(request.path) { return asset }
            do { try session.store.checkFile() } catch let error as CommandError {
                throw PageFailure(status: 409, message: error.message)
            }
            return try request.method == "POST" ? change(request, site) : answer(request, site)
        } catch let failure as PageFailure {
            return MessagePage.response(failure.message, status: failure.status, site)
        } catch let problem as TextProblem {
            return MessagePage.response(problem.sentence, status: 422, site)
        } catch {
            return MessagePage.response(Answer.text(of: error), status: 500, site)
        }
    }

    /// What belongs to every page, also to one that says why the store cannot be shown.
    private func asset(_ path: [String]) -> HTTPResponse? {
        switch path {
        case ["style.css"]: HTTPResponse(text: Assets.style, type: "text/css; charset=utf-8")
        case ["script.js"]: HTTPResponse(text: Assets.script, type: "text/javascript; charset=utf-8")
        case ["icon.svg"]: HTTPResponse(text: Assets.icon, type: "image/svg+xml")
        default: nil
        }
    }

    private func answer(_ request: HTTPRequest, _ site: Site) throws -> HTTPResponse {
        let path = request.path
        switch (path.first, path.count) {
        case (nil, _): return HTTPResponse(EntitiesPage.html(session.store, site))
        case ("entity", 2):
            if let address = try chosen(request, entity(path[1]), site) { return HTTPResponse(seeOther: address) }
            return try GridPage.response(grid(request, entity(path[1])), session, request.client, site)
        case ("object", 3):
            return HTTPResponse(try ObjectPage.html(identifier(path[1], path[2]), session, request, site))
        case ("edit", 3) where site.isWritable:
            return HTTPResponse(try EditPage.form(identifier(path[1], path[2]), session, site))
        case ("delete", 3) where site.isWritable:
            return HTTPResponse(try EditPage.confirmation(ofDeleting: identifier(path[1], path[2]), session, site))
        case ("groups", 2):
            return try GroupsPage.response(
                grid(request, entity(path[1])), request.query, session, request.client, site)
        case ("map", 2): return try MapPage.response(grid(request, entity(path[1])), session, request.client, site)
        case ("page", 2): return try GridPage.json(grid(request, entity(path[1])), session, request.client, site)
        case ("search", 1):
            return try SearchPage.response(request.query["text"] ?? "", session, request.client, site)
        case ("sql", 1): return try SQLPage.response(request.query["statement"] ?? "", session, request.client, site)
        case ("diagram", 1): return HTTPResponse(DiagramPage.html(session.store, graphviz, site))
        case ("timeline", 1): return try TimelinePage.response(request.query, session, request.client, site)
        case ("history", 1): return HTTPResponse(try HistoryPage.html(session, request.query, site))
        case ("file", 1): return HTTPResponse(try FilePage.html(session, site))
        case ("check", 1): return try FilePage.check(session, request.client)
        case ("count", 2): return try count(request)
        case ("counts", 1): return try counts(request)
        case ("find", 2) where site.isWritable:
            return try ObjectSearch.response(
                request.query["text"] ?? "", entity(path[1]), session, request.client)
        case ("complete", 2): return try completion(request)
        case ("export", 2):
            return try ExportStream.response(
                grid(request, entity(path[1]), isWhole: true), session, request)
        case ("value", 4...):
            return try ValueContent.response(identifier(path[1], path[2]), Array(path[3...]), session)
        case ("events", 1):
            return HTTPResponse(status: 200, type: "text/event-stream", body: .stream(session.changes.stream()))
        default: throw PageFailure.missing("There is no page “\(path.joined(separator: "/"))”.")
        }
    }

    private func change(_ request: HTTPRequest, _ site: Site) throws -> HTTPResponse {
        guard let editor = session.editor else {
            throw PageFailure(
                status: 403, message: "The store is only looked at. “pippin browse --write” lets it be changed.")
        }
        let path = request.path
        switch (path.first, path.count) {
        case ("edit", 3): return try EditPage.submit(identifier(path[1], path[2]), request, session, editor, site)
        case ("delete", 3):
            let identifier = try identifier(path[1], path[2])
            return try EditPage.delete(identifier, session, editor, site)
        case ("upload", 2):
            guard let importer else { throw PageFailure.missing("No files are imported here.") }
            return try UploadPage.response(entity(path[1]), request, session, importer, site)
        case ("undo", 1):
            do { try editor.undo(request.readForm().fields["change"].flatMap { Int($0) }) } catch let
                refusal as EditChange.Refusal
            { return MessagePage.response(refusal.message, status: 409, site) }
            session.changes.broadcast()
            return HTTPResponse(seeOther: site.link([]))
        default: throw PageFailure.missing("Nothing is changed at “\(path.joined(separator: "/"))”.")
        }
    }

    // MARK: What a request names

    private func entity(_ name: String) throws -> EntityLayout {
        guard let entity = session.store.layout.entityByName[name] else {
            throw PageFailure.missing("The store has no entity “\(name)”.")
        }
        return entity
    }

    private func identifier(_ entity: String, _ key: String) throws -> NSManagedObjectID {
        guard let number = Int64(key) else { throw PageFailure.missing("“\(key)” is not an object's number.") }
        return session.store.identifier(try self.entity(entity), number)
    }

    private func grid(_ request: HTTPRequest, _ entity: EntityLayout, isWhole: Bool = false) throws -> GridQuery {
        try GridQuery(request.query, entity, session.store, isWhole: isWhole)
    }

    /// The address of a grid with what was chosen in its lists: a condition, or columns. Nil where nothing was.
    private func chosen(_ request: HTTPRequest, _ entity: EntityLayout, _ site: Site) throws -> String? {
        let (fields, query) = (request.query, try grid(request, entity))
        if let column = fields["column"], let comparison = fields["comparison"] {
            guard
                let filter = ChosenCondition.filter(
                    adding: column, comparison, fields["value"] ?? "", to: query.filter, of: entity)
            else { throw PageFailure.missing("There is no such column or comparison.") }
            return site.link(["entity", entity.name], query.items(filter: filter))
        }
        guard fields["columns"] != nil else { return nil }
        let shown = Set(fields.items.filter { $0.name == "show" }.map(\.value))
        let names = GridPage.columns(of: entity).map { entity.slots[$0].name }
        return site.link(["entity", entity.name], query.items(hiding: names.filter { !shown.contains($0) }))
    }

    // MARK: Small answers for the script

    private func count(_ request: HTTPRequest) throws -> HTTPResponse {
        let query = try grid(request, try entity(request.path[1]))
        guard query.problem == nil else { return Answer.json("{\"count\": null}") }
        return Answer.json("{\"count\": \(try session.count(query.page, for: request.client))}")
    }

    /// The numbers of the objects of some entities, and where to go on.
    private func counts(_ request: HTTPRequest) throws -> HTTPResponse {
        let start = max(0, request.query["after"].flatMap { Int($0) } ?? 0)
        let counts = try session.counts(after: start, for: request.client)
        let total = session.store.layout.entities.count
        let isWhole = counts.isEmpty || counts.count >= total - start
        let numbers = counts.map { $0.map(String.init) ?? "null" }.joined(separator: ", ")
        return Answer.json("{\"counts\": [\(numbers)], \"next\": \(isWhole ? "null" : "\(start + counts.count)")}")
    }

    private func completion(_ request: HTTPRequest) throws -> HTTPResponse {
        let text = request.query["text"] ?? ""
        let cursor = min(max(0, Int(request.query["cursor"] ?? "") ?? text.count), text.count)
        let completion = KeyCompletion(text, cursor: cursor, entity: try entity(request.path[1]))
        let items = completion.items.map {
            JSONText.object([("text", JSONText.string($0.text)), ("detail", JSONText.string($0.detail))])
        }
        return Answer.json(
            JSONText.object([
                ("from", "\(completion.range.lowerBound)"), ("to", "\(completion.range.upperBound)"),
                ("items", "[\(items.joined(separator: ", "))]"),
            ]))
    }
}

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
            <section hidden><h2>Saved queries</h2><ul id="saved" class="links"></ul></section>
            """
        return PageFrame.html("Entities", .entities, site, body)
    }

    private static func list(_ names: [String]) -> String {
        names.prefix(12).joined(separator: ", ") + (names.count > 12 ? ", …" : "")
    }
}

/// Finds objects by a part of their names, or by their numbers, for choosing one.
enum ObjectSearch {
    private static let most = 12

    static func response(
        _ text: String, _ entity: EntityLayout, _ session: BrowserSession, _ client: (any HTTPClient)?
    ) throws -> HTTPResponse {
        let rows = try session.aside(for: client) { store -> [Row] in
            let entity = store.layout.entityByName[entity.name] ?? entity
            return try store.asking { engine in
                var plan = FetchPlan(entity: entity)
                plan.limit = most
                if store.pagesByKey { plan.sortDescriptors = [NSSortDescriptor(key: "objectID", ascending: true)] }
                let wanted = text.trimmingCharacters(in: .whitespaces)
                guard !wanted.isEmpty else { return Array(try engine.fetchRows(plan)) }
                var found: [Row] = []
                if let reference = ObjectReference(wanted),
                    let named = reference.entity.map({ store.layout.entityByName[$0] }) ?? entity,
                    let row = try store.namedRow(store.identifier(named, reference.key), engine),
                    row.objectID.layout.isKind(of: entity)
                {
                    found.append(row)
                }
                guard let slot = ObjectLabel.slot(of: entity) else { return found }
                plan.predicate = makePredicate(
                    .comparison(
                        ComparisonTree(
                            .keyPath([entity.slots[slot].name]), .contains, .constant(.string(wanted)),
                            options: [.caseInsensitive, .diacriticInsensitive])))
                let known = Set(found.map(\.objectID))
                return found + Array(try engine.fetchRows(plan)).filter { !known.contains($0.objectID) }
            }
        }
        let items = rows.prefix(most).map { row in
            JSONText.object([
                ("text", JSONText.string(ObjectLabel.number(of: row.objectID))),
                ("detail", JSONText.string(ObjectLabel.name(of: row) ?? "")),
            ])
        }
        return Answer.json(JSONText.object([("items", "[\(items.joined(separator: ", "))]")]))
    }
}

/// The bytes of a value: images are displayed, everything else is downloaded as a file.
enum ValueContent {
    /// - Parameters:
    ///   - identifier: the object.
    ///   - names: the attribute; after a composite one, the elements on the way to the value.
    ///   - session: the store.
    /// - Returns: the bytes.
    /// - Throws: `PageFailure` if there is no such value.
    static func response(
        _ identifier: NSManagedObjectID, _ names: [String], _ session: BrowserSession
    ) throws -> HTTPResponse {
        guard let name = names.first, let row = try session.store.namedRow(identifier),
            let slot = row.objectID.layout.slotIndex(forName: name),
            let attribute = row.objectID.layout.slots[slot].attribute,
            let value = FieldValue(row.values[slot], attribute).element(names.dropFirst())
        else { throw PageFailure.missing("There is no such value.") }
        let data: Data
        switch value {
        case .data(let value), .archive(let value): data = value
        case .null: throw PageFailure.missing("There is no value.")
        case .missing(_, let reason), .unknown(let reason): throw PageFailure.missing(reason)
        case let value: data = Data(DumpJSON.text(of: value).utf8)
        }
        let type = MediaType(of: data)
        var response = HTTPResponse(
            status: 200, type: type?.rawValue ?? "application/octet-stream", body: .data(data))
        let file = "\(identifier.layout.name)-\(identifier.key)-\(names.joined(separator: "-"))".filter {
            $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-")
        }
        response.headers.append(
            .init("Content-Disposition", "\(type == nil ? "attachment" : "inline"); filename=\"\(file)\""))
        return response
    }
}

extension FieldValue {
    /// The element that names lead to; nil if there is none.
    fileprivate func element(_ names: ArraySlice<String>) -> FieldValue? {
        guard let name = names.first else { return self }
        guard case .composite(let elements) = self else { return nil }
        return elements.first { $0.name == name }?.value.element(names.dropFirst())
    }
}

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
