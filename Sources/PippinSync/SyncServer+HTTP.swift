import CPippinZlib
import Dispatch
import Foundation
public import HTTPMessages
public import Pippin
import StoreSession
import SyncPlanning
import Synchronization

/// Who asks a server: what the program that received the request found out about the sender.
public struct SyncUser: Hashable, Sendable {
    /// The user's identifier. A device belongs to the user who greeted with it first.
    public let id: String
    /// The scopes whose models the user may see and change, beside those that are for everybody.
    public let scopes: Set<String>

    /// Creates a user.
    ///
    /// - Parameters:
    ///   - id: the identifier.
    ///   - scopes: the scopes (`Schema(.scope(…))`) that the user may see and change.
    public init(_ id: String, scopes: Set<String> = []) { (self.id, self.scopes) = (id, scopes) }
}

/// A model that a device wants to change, before it is changed.
public struct PushedChange: Sendable {
    /// The entity's name.
    public let entity: String
    /// The model's identifier, as text.
    public let id: String
    /// Whether the model is made, and whether it is deleted; it is changed if neither.
    public let isNew, isDeleted: Bool
    let models: @Sendable (Bool) -> ModelSource?

    /// The model as it is.
    ///
    /// - Parameter type: the model's type.
    /// - Returns: nil if there is none, and for a model of another type.
    /// - Throws: what reading it throws.
    public func old<Model: CoreModel>(_ type: Model.Type) throws -> Model? { try models(false)?.model(type) }

    /// The model as it would be.
    ///
    /// - Parameter type: the model's type.
    /// - Returns: nil if it would be deleted, and for a model of another type.
    /// - Throws: what reading it throws.
    public func new<Model: CoreModel>(_ type: Model.Type) throws -> Model? { try models(true)?.model(type) }
}

/// Keeps devices in step over HTTP that cannot reach the store themselves: a function from requests to responses, for
/// any HTTP server.
///
/// ```swift
/// let server = try SyncServer(manager)
/// let listener = try HTTPListener(port: 8080) { request in
///     guard let user = await user(of: request) else { return HTTPResponse(text: "Log in.\n", status: 401) }
///     return await server.answer(request, for: user)
/// }
/// ```
///
/// Requests are answered one after the other, those that wait for news aside. Documentation/Sync wire.md describes
/// them.
public final class SyncServer: Sendable {
    /// How much a server takes. What is more is refused with a status of its own.
    public struct Limits: Sendable {
        /// The bytes of a request as it is sent (413).
        public var request = 16 << 20
        /// The bytes of a request or an answer before it is compressed (413).
        public var message = 64 << 20
        /// For how many seconds a request for news waits at most.
        public var wait = 60
        /// How many requests of one user are answered or wait at the same time (429).
        public var requestsPerUser = 64

        /// Creates the usual limits.
        public init() {}
    }

    /// What a server has done so far.
    public struct Counts: Hashable, Sendable {
        /// Requests that were answered, those that were refused, and those that are waiting for news.
        public internal(set) var answered = 0, refused = 0, waiting = 0
        /// The bytes of requests and answers, as they were sent.
        public internal(set) var bytesReceived = 0, bytesSent = 0
    }

    let desk: ServerDesk
    private let limits: Limits
    private let bell = Bell()
    private let state = Mutex(State())

    private struct State {
        var counts = Counts()
        var open: [String: Int] = [:]
    }

    /// A server of a store.
    ///
    /// - Parameters:
    ///   - manager: the server's store, which must keep a history; the program may use it as any other.
    ///   - limits: how much is taken.
    ///   - authorize: whether a user may make a change, beside the scopes; called for each model that a transaction
    ///     would change, in the database's transaction. A transaction with a change for which it is false, or throws,
    ///     is refused, and goes to the device's journal.
    /// - Throws: ``SyncError`` for models that cannot be synced and for a store without a history, and what `load()`
    ///   throws.
    public init(
        _ manager: PersistenceManager, limits: Limits = Limits(),
        authorize: (@Sendable (SyncUser, PushedChange) throws -> Bool)? = nil
    ) throws {
        self.limits = limits
        let bell = bell
        desk = try ServerDesk(manager, authorize) { bell.ring() }
    }

    /// What the server has done so far.
    public var counts: Counts { state.withLock { $0.counts } }

    /// Answers a request of a device.
    ///
    /// - Parameters:
    ///   - request: the request: `POST …/hello`, `/push`, `/changes`, `/rows` or `/sums`.
    ///   - user: who has sent it. Whoever is not known is not to be asked about here, but answered with 401.
    /// - Returns: the response. It has another status than 200 if the request was refused, and says why in its text.
    public func answer(_ request: HTTPRequest, for user: SyncUser) async -> HTTPResponse {
        let isIn = state.withLock { state in
            state.counts.bytesReceived += request.body.count
            guard state.open[user.id, default: 0] < limits.requestsPerUser else { return false }
            state.open[user.id, default: 0] += 1
            return true
        }
        let name = request.path.last ?? ""
        var work = SyncWork(Wire.names.contains(name) ? name : "", .syncAnswer)
        work.received = request.body.count
        var response: HTTPResponse
        var told: (SyncAnswer, SyncRequest)?
        if isIn {
            response = await self.response(to: request, user, &told)
            state.withLock { state in
                let rest = (state.open[user.id] ?? 1) - 1
                state.open[user.id] = rest > 0 ? rest : nil
            }
        } else {
            response = Self.refusal(429, "This user has \(limits.requestsPerUser) requests open, which is the most.")
            response.headers.append(.init("Retry-After", "5"))
        }
        state.withLock { state in
            if response.status == 200 { state.counts.answered += 1 } else { state.counts.refused += 1 }
            if case .data(let data) = response.body {
                state.counts.bytesSent += data.count
                work.sent = data.count
            }
        }
        if let told {
            work.end(told.0, of: told.1)
        } else {
            work.end(Refusal(response))
        }
        return response
    }

    /// A refusal in words.
    private struct Refusal: Error, CustomStringConvertible {
        let description: String

        init(_ response: HTTPResponse) {
            var text = ""
            if case .data(let data) = response.body { text = String(decoding: data, as: UTF8.self) }
            description = "\(response.status) \(text.split(whereSeparator: \.isNewline).first ?? "")"
        }
    }

    private func response(
        to request: HTTPRequest, _ user: SyncUser, _ told: inout (SyncAnswer, SyncRequest)?
    ) async -> HTTPResponse {
        guard let name = request.path.last, Wire.names.contains(name) else {
            return Self.refusal(
                404, "There is nothing at this address. Devices ask …/hello, /push, /changes, /rows and /sums.")
        }
        guard request.method == "POST" else { return Self.refusal(405, "Devices ask with POST.") }
        if request.body.count > limits.request {
            return Self.refusal(
                413, "The request has \(request.body.count) bytes; at most \(limits.request) are taken.")
        }
        do {
            var wire = WireLimits()
            wire.body = limits.message
            let question = try Wire.decodeQuestion(WireBody.unpack(request.body, limit: limits.message), limits: wire)
            guard Wire.name(of: question.request) == name else {
                return Self.refusal(
                    400, "The message is for …/\(Wire.name(of: question.request)), and was sent to …/\(name).")
            }
            let answer = try await answer(question, user)
            let packs = request.headers["accept-encoding"]?.contains("deflate") == true
            let bytes = Wire.encode(answer)
            var response = HTTPResponse(
                type: WireBody.type, body: .data(packs ? try WireBody.pack(bytes) : Data(bytes)))
            if packs { response.headers.append(.init("Content-Encoding", "deflate")) }
            response.headers.append(.init("Cache-Control", "no-store"))
            told = (answer, question.request)
            return response
        } catch let error as WireError {
            let status =
                switch error.code {
                case .tooLarge: 413
                case .version: 409
                case .syntax, .content, .truncated: 400
                }
            return Self.refusal(status, "The message was not taken: \(error).")
        } catch let error as ForeignDevice {
            return Self.refusal(403, error.description)
        } catch {
            // What a database says may tell of others' data.
            return Self.refusal(503, "The server's store could not answer. Ask again.")
        }
    }

    private static func refusal(_ status: Int, _ text: String) -> HTTPResponse {
        HTTPResponse(text: text + "\n", status: status)
    }

    /// Answers a question, and waits with a pull until there is news, for as long as the device wants to wait.
    private func answer(_ question: SyncQuestion, _ user: SyncUser) async throws -> SyncAnswer {
        guard case .pull(let pull) = question.request, question.wait > 0 else {
            let answer = try await desk.answer(question, user)
            if case .push(.decided) = answer { bell.ring() }
            return answer
        }
        let end = ContinuousClock.now + .seconds(min(question.wait, limits.wait))
        state.withLock { $0.counts.waiting += 1 }
        defer { state.withLock { $0.counts.waiting -= 1 } }
        while true {
            let heard = bell.count
            let answer = try await desk.answer(question, user)
            guard case .page(let page) = answer, page.transactions.isEmpty, page.end == pull.after,
                ContinuousClock.now < end
            else { return answer }
            await bell.wait(after: heard, until: end)
        }
    }
}

/// A device that another user has greeted with.
struct ForeignDevice: Error, CustomStringConvertible {
    let description = "The device belongs to another user. Call discard() on it to start over as this one."
}

/// Wakes those who wait for news.
final class Bell: Sendable {
    private struct State {
        var count = 0
        var isRinging = false
        var next = 0
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Mutex(State())
    private static let queue = DispatchQueue(label: "PippinSync.Bell")

    var count: Int { state.withLock { $0.count } }

    /// Says that there is news. It is gathered for 20 ms, so that a burst of saves wakes everybody once.
    func ring() {
        let isFirst = state.withLock { state in
            state.count += 1
            defer { state.isRinging = true }
            return !state.isRinging
        }
        guard isFirst else { return }
        Self.queue.asyncAfter(deadline: .now() + .milliseconds(20)) { [self] in
            let waiting = state.withLock { state in
                defer { (state.isRinging, state.waiting) = (false, [:]) }
                return state.waiting
            }
            for continuation in waiting.values { continuation.resume() }
        }
    }

    /// Waits until there is more news than was heard, or a time has come.
    func wait(after heard: Int, until end: ContinuousClock.Instant) async {
        await withCheckedContinuation { continuation in
            let number = state.withLock { state -> Int? in
                // What rings now wakes those who wait; what has rung before is news already.
                if state.count > heard, !state.isRinging { return nil }
                state.next += 1
                state.waiting[state.next] = continuation
                return state.next
            }
            guard let number else { return continuation.resume() }
            let rest = ContinuousClock.now.duration(to: end).components
            let milliseconds = max(0, rest.seconds * 1_000 + rest.attoseconds / 1_000_000_000_000_000)
            Self.queue.asyncAfter(deadline: .now() + .milliseconds(Int(milliseconds))) { [self] in
                state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
            }
        }
    }
}

/// The server's store, and where each device is in its downloads: used by one queue alone.
final class ServerDesk: @unchecked Sendable {
    // @unchecked Sendable: what changes is used on `queue` alone.

    private let queue = DispatchQueue(label: "PippinSync.Server")
    let place: SyncStore
    private let authorize: (@Sendable (SyncUser, PushedChange) throws -> Bool)?
    private let models: ScratchModels
    private var devices: [DeviceID: (server: StoreServer, used: ContinuousClock.Instant)] = [:]
    private var swept = ContinuousClock.now

    /// How long a device's unfinished download is kept; later ones go on in the present state.
    private static let patience = Duration.seconds(300)

    /// - Parameters:
    ///   - manager: the server's store.
    ///   - authorize: whether a user may make a change; nil for every change within the user's scopes.
    ///   - changed: called when somebody else has changed the store.
    /// - Throws: ``SyncError`` for models that cannot be kept in step; the store's errors.
    init(
        _ manager: PersistenceManager, _ authorize: (@Sendable (SyncUser, PushedChange) throws -> Bool)?,
        changed: @escaping @Sendable () -> Void
    ) throws {
        place = try SyncStore(manager, isScoped: nil)
        _ = try place.parts()
        self.authorize = authorize
        models = ScratchModels(manager)
        _ = place.session.saves.add { _ in changed() }
        _ = place.session.changes.add { _ in changed() }
    }

    func answer(_ question: SyncQuestion, _ user: SyncUser) async throws -> SyncAnswer {
        try await withCheckedThrowingContinuation { continuation in
            queue.async { [self] in continuation.resume(with: Result { try answered(question, user) }) }
        }
    }

    private func answered(_ question: SyncQuestion, _ user: SyncUser) throws -> SyncAnswer {
        let device = question.request.device
        guard (1...64).contains(device.name.utf8.count),
            device.name.utf8.allSatisfy({ $0 == UInt8(ascii: "-") || WireBody.isAlphanumeric($0) })
        else { throw WireError(.content, "“device” is not an identifier of letters, digits and “-”") }
        let now = ContinuousClock.now
        if now - swept > .seconds(60) {
            swept = now
            devices = devices.filter { now - $0.value.used < Self.patience }
        }
        let server = devices[device]?.server ?? StoreServer(of: place)
        devices[device] = (server, now)
        if place.schema.isScoped {
            let allowed = Set(user.scopes.map { SyncScope($0) })
            server.scopes = question.scopes?.intersection(allowed) ?? allowed
        }
        server.user = user.id
        server.authorize = authorize.map { authorize in
            { [models] change, state in
                let old = change.before.map { ModelSource(change.id, $0.values, models, state.reading) }
                let new = change.after.map { ModelSource(change.id, $0.values, models, state.reading) }
                let pushed = PushedChange(
                    entity: change.id.entity, id: change.id.key.string, isNew: change.before == nil,
                    isDeleted: change.after == nil, models: { $0 ? new : old })
                return (try? authorize(user, pushed)) ?? false
            }
        }
        return try server.answer(question.request)
    }
}

/// How messages travel: compressed as HTTP's `deflate` says (RFC 1950), which has a checksum.
enum WireBody {
    /// The type of requests and answers.
    static let type = "application/vnd.pippin.sync"

    static func isAlphanumeric(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
    }

    static func pack(_ bytes: [UInt8]) throws -> Data {
        var size = compressBound(uLong(bytes.count))
        var packed = Data(count: Int(size))
        let status = packed.withUnsafeMutableBytes { target in
            bytes.withUnsafeBufferPointer { source in
                // Unsafe pointers, because zlib takes nothing else; both outlive the call.
                compress2(
                    target.bindMemory(to: Bytef.self).baseAddress, &size, source.baseAddress, uLong(source.count), 6)
            }
        }
        guard status == Z_OK else { throw WireError(.tooLarge, "the message cannot be compressed (\(status))") }
        return packed.prefix(Int(size))
    }

    /// The bytes of a message, compressed or not.
    ///
    /// - Throws: ``WireError`` if the bytes are damaged, cut, or more than the limit once they are inflated.
    static func unpack(_ data: Data, limit: Int) throws -> [UInt8] {
        guard let first = data.first else { throw WireError(.truncated, "the message is empty") }
        // A line begins with a brace, which no compressed message does.
        if first == UInt8(ascii: "{") { return Array(data) }
        guard first == 0x78 else {
            throw WireError(.syntax, "the message neither is lines of JSON nor compressed by deflate")
        }
        var stream = z_stream()
        guard inflateInit_(&stream, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            throw WireError(.tooLarge, "zlib cannot be started")
        }
        defer { inflateEnd(&stream) }
        var input = Array(data)
        var output: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1 << 16)
        var status = Z_OK
        // Unsafe pointers, because zlib keeps pointers into input and output between calls; neither moves within.
        try input.withUnsafeMutableBufferPointer { input in
            stream.next_in = input.baseAddress
            stream.avail_in = uInt(clamping: input.count)
            while status != Z_STREAM_END {
                let count = chunk.withUnsafeMutableBufferPointer { chunk -> Int in
                    stream.next_out = chunk.baseAddress
                    stream.avail_out = uInt(chunk.count)
                    status = inflate(&stream, Z_NO_FLUSH)
                    return chunk.count - Int(stream.avail_out)
                }
                guard status == Z_OK || status == Z_STREAM_END else {
                    throw WireError(
                        status == Z_BUF_ERROR ? .truncated : .syntax,
                        "the compressed message is damaged or cut (\(status))")
                }
                output += chunk[..<count]
                if output.count > limit {
                    throw WireError(.tooLarge, "the message has more than \(limit) bytes once it is inflated")
                }
                if count == 0, status == Z_OK, stream.avail_in == 0 {
                    throw WireError(.truncated, "the compressed message is cut")
                }
            }
            if stream.avail_in > 0 { throw WireError(.syntax, "something follows the compressed message") }
        }
        return output
    }
}
