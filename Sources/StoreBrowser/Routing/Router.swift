import CoreData
import Foundation
import HTTPMessages
import StoreReading

/// Routes requests to the pages that answer them.
package struct Router: Sendable {
    let session: BrowserSession
    let graphviz: Graphviz

    package init(_ session: BrowserSession, graphviz: Graphviz = Graphviz()) {
        self.session = session
        self.graphviz = graphviz
    }

    /// The response to a request whose path lacks the secret.
    package func response(to request: HTTPRequest, token: String) -> HTTPResponse {
        let site = Site(
            token: token, storeName: session.store.name, isWritable: session.editor != nil,
            undoable: session.editor?.undoable)
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
            return try GridPage.response(grid(request, entity(path[1])), session, request.client, site)
        case ("object", 3):
            return HTTPResponse(try ObjectPage.html(identifier(path[1], path[2]), session, request, site))
        case ("edit", 3) where site.isWritable:
            return HTTPResponse(try EditPage.form(identifier(path[1], path[2]), session, site))
        case ("delete", 3) where site.isWritable:
            return HTTPResponse(try EditPage.confirmation(ofDeleting: identifier(path[1], path[2]), session, site))
        case ("diagram", 1): return HTTPResponse(DiagramPage.html(session.store, graphviz, site))
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
        guard let number = Int64(key) else { throw PageFailure.missing("“\(key)” is no object's number.") }
        return session.store.identifier(try self.entity(entity), number)
    }

    private func grid(_ request: HTTPRequest, _ entity: EntityLayout, isWhole: Bool = false) throws -> GridQuery {
        try GridQuery(request.query, entity, session.store, isWhole: isWhole)
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
