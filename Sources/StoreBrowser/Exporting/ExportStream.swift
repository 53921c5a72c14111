import CoreData
import Foundation
import HTTPMessages
import StoreEngine
import StoreReading

/// All pages of the objects in a grid, as a file that is generated while it is sent.
final class ExportStream: HTTPStream, @unchecked Sendable {
    // @unchecked Sendable: only the connection's thread asks for pieces.
    private let store: DirectStore
    /// Whether the connection is to be closed with the stream.
    private let isOwn: Bool
    private let client: (any HTTPClient)?
    private let portions: any RowPortions
    private var writer: RowWriter
    private let isOver = CancellationFlag()
    private var hasBegun = false
    private var hasEnded = false
    private var size = PortionSize(most: 200)
    /// The rows that are read and not written yet, the next one last.
    private var pending: [Row] = []
    /// A piece of the file is sent when it has so many bytes, and at least one object.
    private static let piece = 1 << 20

    static func response(_ query: GridQuery, _ session: BrowserSession, _ request: HTTPRequest) throws -> HTTPResponse {
        let format = request.query["format"]
        guard let format = RowFormat(rawValue: format ?? "csv"), format != .table else {
            throw PageFailure(status: 400, message: "There is no format “\(format ?? "")”.")
        }
        if let problem = query.problem { throw problem }
        let stream = try ExportStream(
            query.page, session, format, decodes: request.query["contents"] != nil, request.client)
        let name = query.entity.name.filter { $0.isASCII && ($0.isLetter || $0.isNumber) }
        var response = HTTPResponse(status: 200, type: format.mediaType, body: .stream(stream))
        response.headers.append(
            .init(
                "Content-Disposition", "attachment; filename=\"\(name.isEmpty ? "objects" : name).\(format.rawValue)\"")
        )
        return response
    }

    private init(
        _ request: PageRequest, _ session: BrowserSession, _ format: RowFormat, decodes: Bool,
        _ client: (any HTTPClient)?
    ) throws {
        // A connection of its own: the state of the store does not change while it is read, and no page waits.
        let store = session.store.pagesByKey ? try session.open() : session.store
        self.store = store
        isOwn = store !== session.store
        // Others read a store that is not the stream's own.
        let client = isOwn ? client : nil
        self.client = client
        let entity = request.entity
        // The same entity in this connection's model.
        guard let own = store.layout.entityByName[entity.name] else {
            throw PageFailure.missing("There is no such entity.")
        }
        var plan = request.fullPlan
        plan.entity = own
        if !store.pagesByKey { plan.sortDescriptors = [] }
        var style = ValueStyle()
        (style.decodes, style.showsRaw) = (decodes, decodes)
        writer = RowWriter(format, RowColumns(of: own), marksGaps: true, style: style)
        portions = try store.answering(client) { try store.asking { try $0.portions(plan) } }
    }

    func next() throws -> Data? {
        if hasEnded || isOver.isSet { return finish() }
        var text = hasBegun ? "" : writer.start
        hasBegun = true
        if pending.isEmpty { try read() }
        if pending.isEmpty {
            hasEnded = true
            text += writer.end
            if text.isEmpty { return finish() }
        }
        while text.utf8.count < Self.piece, let row = pending.popLast() { try writer.write(row) { text += $0 } }
        return Data(text.utf8)
    }

    private func read() throws {
        do {
            let rows = try store.answering(client) { try store.asking { _ in try portions.next(size.count) } }
            size.follow(rows)
            pending = rows.reversed()
        } catch {
            hasEnded = true
            _ = finish()
            throw error
        }
    }

    private func finish() -> Data? {
        if isOwn { store.close() }
        return nil
    }

    func cancel() { isOver.set() }
}
