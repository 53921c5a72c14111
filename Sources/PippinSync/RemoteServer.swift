import CPippinCurl
import Dispatch
import Foundation
import SyncPlanning
import Synchronization

/// What a device asks: a server's store in this process, or a server over HTTP. Asked by one thread at a time.
protocol SyncPeer: AnyObject, Sendable {
    func answer(_ request: SyncRequest) throws -> SyncAnswer
    /// The last transaction of the server's history, as far as it is known.
    func latest() throws -> HistoryNumber
    /// - Parameter heard: called when the server may have something new.
    func whenChanged(_ heard: (@Sendable () -> Void)?)
    /// Ends what is waited for.
    func interrupt()
    func close() async
}

/// Where a server is that devices reach over HTTP.
public struct SyncServerAddress: Sendable {
    let url: String
    let token: (@Sendable () async throws -> String)?
    /// How long a request may take, and a connection, in seconds.
    var deadline = 60.0
    var connecting = 10.0

    /// A server over HTTP.
    ///
    /// ```swift
    /// let sync = try manager.sync(with: .server("https://api.example/sync") { try await session.token() })
    /// ```
    ///
    /// - Parameters:
    ///   - url: the address below which the server answers. It is `https`, except on this machine.
    ///   - token: gives the token that is sent as `Authorization: Bearer …`. It is asked for when the first request
    ///     is sent, and again after the server has answered 401.
    /// - Returns: the address.
    public static func server(
        _ url: String, token: (@Sendable () async throws -> String)? = nil
    ) -> SyncServerAddress { SyncServerAddress(url: url, token: token) }

    /// The address without a slash at its end.
    ///
    /// - Throws: ``SyncError`` for an address that cannot be asked, and for one that would send a token in the clear.
    func checked() throws -> String {
        guard let parts = URLComponents(string: url), let host = parts.host, !host.isEmpty, parts.query == nil,
            parts.fragment == nil, parts.user == nil, ["http", "https"].contains(parts.scheme)
        else {
            throw SyncError(.address, "“\(url)” is not an address of a server: https://host/path was expected.")
        }
        guard parts.scheme == "https" || ["localhost", "127.0.0.1", "::1", "[::1]"].contains(host) else {
            throw SyncError(.address, "“\(url)” is not encrypted, so that others could read what is sent. Use https.")
        }
        return url.hasSuffix("/") ? String(url.dropLast()) : url
    }
}

/// The server's side of a sync over HTTP: what the device asks is sent as messages, and news is waited for by a request
/// that the server answers when there is some.
final class RemoteServer: SyncPeer {
    private struct State {
        var heard: (@Sendable () -> Void)?
        /// The pull that the device makes next, when it is up to date; nil if it is not.
        var next: PullRequest?
        /// What the server has answered to it meanwhile; and whether it could not be asked.
        var news: SyncAnswer?
        var hasFailed = false
        var token: String?
        var isPolling = false
        var isClosed = false
    }

    private let address: SyncServerAddress
    private let url: String
    private let scopes: Set<SyncScope>?
    private let state = Mutex(State())
    private let link = CurlLink()
    /// How many seconds a request for news waits.
    private static let wait = 60

    /// - Parameters:
    ///   - address: where the server is, and how a device proves its user.
    ///   - scopes: the scopes whose rows the device is to have; nil for all that its user may see.
    /// - Throws: ``SyncError`` for an address that is not one of HTTP.
    init(_ address: SyncServerAddress, scopes: Set<SyncScope>?) throws {
        (self.address, self.scopes) = (address, scopes)
        url = try address.checked()
    }

    deinit { link.close() }

    func answer(_ request: SyncRequest) throws -> SyncAnswer {
        if case .pull(let pull) = request {
            let news = state.withLock { state -> SyncAnswer? in
                defer { (state.next, state.news, state.hasFailed) = (nil, nil, false) }
                return state.next == pull ? state.news : nil
            }
            if let news { return noting(news, pull) }
        }
        let answer = try ask(SyncQuestion(request, scopes: scopes))
        if case .pull(let pull) = request { return noting(answer, pull) }
        return answer
    }

    /// Begins to wait for news where the device has everything.
    private func noting(_ answer: SyncAnswer, _ pull: PullRequest) -> SyncAnswer {
        guard case .page(let page) = answer, page.end == page.latest else { return answer }
        var next = pull
        (next.after, next.afterTime, next.atLeast, next.atMost) = (page.end, page.endTime, 0, nil)
        next.scopes = pull.scopes.intersection(page.granted)
        let begins = state.withLock { [next] state in
            (state.next, state.news, state.hasFailed) = (next, nil, false)
            guard state.heard != nil, !state.isPolling, !state.isClosed else { return false }
            state.isPolling = true
            return true
        }
        if begins { poll() }
        return answer
    }

    func latest() throws -> HistoryNumber {
        try state.withLock { state in
            guard let next = state.next, state.news == nil, !state.hasFailed else { throw News() }
            return next.after
        }
    }

    private struct News: Error {}

    func whenChanged(_ heard: (@Sendable () -> Void)?) { state.withLock { $0.heard = heard } }

    func interrupt() {
        state.withLock { $0.isClosed = true }
        link.close()
    }

    func close() async { interrupt() }

    // MARK: News

    /// Asks for news until there is some, or until that fails. It goes on with the device's next pull.
    private func poll() {
        let thread = Thread { [weak self] in
            while let self,
                let pull = self.state.withLock({ state -> PullRequest? in
                    if let next = state.next, state.news == nil, !state.hasFailed, !state.isClosed { return next }
                    state.isPolling = false
                    return nil
                })
            { poll(pull) }
        }
        thread.name = "PippinSync.news"
        thread.start()
    }

    private func poll(_ pull: PullRequest) {
        let result = Result { try ask(SyncQuestion(.pull(pull), scopes: scopes, wait: Self.wait), wait: Self.wait) }
        let heard = state.withLock { state -> (@Sendable () -> Void)? in
            // The device may have gone on meanwhile.
            guard state.next == pull else { return nil }
            switch result {
            case .success(.page(let page)) where page.transactions.isEmpty && page.end == pull.after: return nil
            case .success(let answer): state.news = answer
            case .failure: state.hasFailed = true
            }
            return state.heard
        }
        heard?()
    }

    // MARK: Requests

    private func ask(_ question: SyncQuestion, wait: Int = 0) throws -> SyncAnswer {
        let name = Wire.name(of: question.request)
        var work = SyncWork(name)
        do {
            let answer = try ask(question, name, wait, &work)
            work.end(answer, of: question.request)
            return answer
        } catch {
            work.end(error)
            throw error
        }
    }

    private func ask(
        _ question: SyncQuestion, _ name: String, _ wait: Int, _ work: inout SyncWork
    ) throws -> SyncAnswer {
        let body = try WireBody.pack(Wire.encode(question))
        let target = url + "/" + name
        var token = try token(isNew: false)
        for attempt in 0..<2 {
            var headers = [
                "Content-Type: \(WireBody.type)", "Content-Encoding: deflate", "Accept: \(WireBody.type)",
                "Accept-Encoding: deflate", "Pippin-Sync: \(Wire.version)", "Expect:",
            ]
            if let token { headers.append("Authorization: Bearer \(token)") }
            let answer = try link.post(
                target, body, headers, limit: WireLimits().body,
                deadline: address.deadline + Double(wait), connecting: address.connecting)
            work.sent += body.count
            work.received += answer.body.count
            if answer.status == 401, attempt == 0, token != nil {
                token = try self.token(isNew: true)
                continue
            }
            return try Self.read(answer)
        }
        throw RemoteFailure(.needsLogin, "the server does not take the token (401)")
    }

    private static func read(_ answer: CurlLink.Answer) throws -> SyncAnswer {
        let isMessage = answer.type?.lowercased().hasPrefix(WireBody.type) == true
        guard answer.status == 200 else {
            throw RemoteFailure(answer, said: isMessage ? nil : Self.sentence(answer))
        }
        guard isMessage else {
            throw RemoteFailure(
                .offline,
                "something else than the server has answered, with \(answer.type ?? "no type"): a proxy, or a network that wants "
                    + "a login of its own")
        }
        do { return try Wire.decodeAnswer(WireBody.unpack(answer.body, limit: WireLimits().body)) } catch {
            throw RemoteFailure(.offline, "the answer cannot be read: \(error)")
        }
    }

    /// What a server says of its refusal; nil for a page.
    private static func sentence(_ answer: CurlLink.Answer) -> String? {
        guard answer.type?.lowercased().hasPrefix("text/plain") == true else { return nil }
        let text = String(decoding: answer.body.prefix(500), as: UTF8.self)
        return text.split(whereSeparator: \.isNewline).first.map(String.init)
    }

    private func token(isNew: Bool) throws -> String? {
        guard let make = address.token else { return nil }
        if !isNew, let token = state.withLock({ $0.token }) { return token }
        let made = Mutex<Result<String, any Error>?>(nil)
        let done = DispatchSemaphore(value: 0)
        let task = Task {
            let result: Result<String, any Error>
            do { result = .success(try await make()) } catch { result = .failure(error) }
            made.withLock { $0 = result }
            done.signal()
        }
        guard done.wait(timeout: .now() + address.deadline) == .success, let result = made.withLock({ $0 }) else {
            task.cancel()
            throw RemoteFailure(.needsLogin, "the program gave no token within \(Int(address.deadline)) s")
        }
        switch result {
        case .success(let token):
            guard token.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else {
                throw RemoteFailure(.needsLogin, "the program's token has characters that no header may have")
            }
            state.withLock { $0.token = token }
            return token
        case .failure(let error): throw RemoteFailure(.needsLogin, "the program gave no token: \(error)")
        }
    }
}

/// A request that is measured, for a program that receives events of its stores.
struct SyncWork {
    private let name: String
    private let start: ContinuousClock.Instant?
    private let kind: StoreEvent.Kind
    var sent = 0
    var received = 0

    /// - Parameters:
    ///   - name: the request's name.
    ///   - kind: whether it is asked or answered.
    init(_ name: String, _ kind: StoreEvent.Kind = .syncRequest) {
        (self.name, self.kind) = (name, kind)
        start = StoreEvent.isReceived ? .now : nil
    }

    /// Reports an answer.
    func end(_ answer: SyncAnswer, of request: SyncRequest) {
        var (rows, refused) = (0, 0)
        switch (answer, request) {
        case (.portion(let portion), _): rows = portion.rows.count
        case (.page(let page), _): rows = page.transactions.reduce(0) { $0 + $1.changes.count }
        case (.push(.decided(let outcomes)), .push(let push)):
            rows = push.transactions.reduce(0) { $0 + $1.changes.count }
            for (transaction, outcome) in zip(push.transactions, outcomes) {
                switch outcome {
                case .taken(_, let changes): refused += changes.count
                case .refused: refused += transaction.changes.count
                case .conflict: break
                }
            }
        default: break
        }
        report(rows, refused, nil)
    }

    /// Reports why there is none.
    func end(_ error: any Error) { report(0, 0, "\(error)") }

    private func report(_ rows: Int, _ refused: Int, _ error: String?) {
        guard let start else { return }
        StoreEvent.report(
            kind, name, ContinuousClock.now - start, rows: rows, error: error,
            .init(bytesSent: sent, bytesReceived: received, refused: refused))
    }
}

/// Why a request was not answered.
struct RemoteFailure: Error, CustomStringConvertible {
    let code: SyncError.Code
    let description: String
    /// For how many seconds the server wants to be left alone.
    var retryAfter = 0

    init(_ code: SyncError.Code, _ description: String) { (self.code, self.description) = (code, description) }

    init(_ answer: CurlLink.Answer, said: String?) {
        retryAfter = answer.retryAfter
        let detail = said.map { ": \($0)" } ?? ""
        (code, description) =
            switch answer.status {
            case 401: (.needsLogin, "the server asks for a login (401)\(detail)")
            case 403: (.refused, "the server refuses this user (403)\(detail)")
            case 409: (.version, "the server speaks another version (409)\(detail)")
            case 410: (.refused, "there is no sync at this address any more (410)\(detail)")
            case 413: (.tooLarge, "the server does not take so much at once (413)\(detail)")
            case 429: (.offline, "the server wants fewer requests (429)\(detail)")
            case 500...: (.offline, "the server could not answer (\(answer.status))\(detail)")
            default: (.offline, "the server answered with the status \(answer.status)\(detail)")
            }
    }

    var error: SyncError {
        var error =
            code == .offline
            ? SyncError.offline(description) : SyncError(code, "The server took nothing: \(description)")
        error.retryAfter = retryAfter
        return error
    }
}

/// Requests over libcurl: one thread, and one connection for as many requests as that can take at the same time.
final class CurlLink: Sendable {
    struct Answer: Sendable {
        var status = 0
        var type: String?
        var body = Data()
        var retryAfter = 0
    }

    /// A request on its way.
    fileprivate final class Transfer: @unchecked Sendable {
        // @unchecked Sendable: until `done` is signalled only the link's thread uses what changes, and then the asker.
        let url: String
        let body: Data
        let headers: [String]
        let limit: Int
        let times: (all: Int, connecting: Int)
        let done = DispatchSemaphore(value: 0)
        var answer = Answer()
        var failure: RemoteFailure?
        var isTooLarge = false
        /// Whether the connection ended without a byte of an answer.
        var isUnanswered = false
        /// Whether no connection is used that is there already.
        let isFresh: Bool

        init(
            _ url: String, _ body: Data, _ headers: [String], _ limit: Int, _ times: (all: Int, connecting: Int),
            isFresh: Bool
        ) {
            (self.url, self.body, self.headers, self.limit, self.times) = (url, body, headers, limit, times)
            self.isFresh = isFresh
        }

        func end(_ failure: RemoteFailure?) {
            self.failure = failure
            done.signal()
        }
    }

    private struct State {
        var multi: UInt?
        var waiting: [Transfer] = []
        var isClosed = false
    }

    private let state = Mutex(State())

    private static let begun: Bool = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    /// Sends a request, and waits for its answer. A request whose connection ended without a byte of an answer is sent
    /// once more, over a new connection: a server or a proxy may end those that it keeps at any time (RFC 9112, 9.6),
    /// and all questions of a device can be asked twice (RFC 9110, 9.2.2), a push by its batch's number.
    func post(
        _ url: String, _ body: Data, _ headers: [String], limit: Int, deadline: Double, connecting: Double
    ) throws -> Answer {
        let times = (Int(deadline * 1_000), Int(connecting * 1_000))
        let first = try run(Transfer(url, body, headers, limit, times, isFresh: false))
        let last = first.isUnanswered ? try run(Transfer(url, body, headers, limit, times, isFresh: true)) : first
        if let failure = last.failure { throw failure }
        return last.answer
    }

    /// Sends a request, and waits for its end.
    private func run(_ transfer: Transfer) throws -> Transfer {
        let isOpen = state.withLock { state -> Bool in
            if state.isClosed { return false }
            if state.multi == nil {
                guard Self.begun, let multi = curl_multi_init() else { return false }
                let address = UInt(bitPattern: multi)
                state.multi = address
                let thread = Thread { [weak self] in CurlLoop(address)?.run { self?.take() } }
                thread.name = "PippinSync.curl"
                thread.start()
            }
            state.waiting.append(transfer)
            if let multi = state.multi.flatMap({ UnsafeMutableRawPointer(bitPattern: $0) }) { curl_multi_wakeup(multi) }
            return true
        }
        guard isOpen else { throw RemoteFailure(.offline, "the sync was stopped") }
        transfer.done.wait()
        return transfer
    }

    /// Ends everything that is on its way.
    func close() {
        state.withLock { state in
            state.isClosed = true
            if let multi = state.multi.flatMap({ UnsafeMutableRawPointer(bitPattern: $0) }) { curl_multi_wakeup(multi) }
        }
    }

    /// What the thread is to begin; nil for the end.
    private func take() -> [Transfer]? {
        state.withLock { state in
            if state.isClosed {
                // From here on nobody wakes the loop, which frees what it has.
                state.multi = nil
                for transfer in state.waiting { transfer.end(RemoteFailure(.offline, "the sync was stopped")) }
                state.waiting = []
                return nil
            }
            defer { state.waiting = [] }
            return state.waiting
        }
    }
}

/// The thread's part of a link.
private final class CurlLoop {
    private let multi: UnsafeMutableRawPointer
    private var running:
        [UnsafeMutableRawPointer: (
            transfer: CurlLink.Transfer, headers: UnsafeMutablePointer<curl_slist>?, body: UnsafeMutableRawPointer
        )] = [:]

    init?(_ multi: UInt) {
        guard let multi = UnsafeMutableRawPointer(bitPattern: multi) else { return nil }
        self.multi = multi
    }

    func run(_ take: () -> [CurlLink.Transfer]?) {
        while let new = take() {
            for transfer in new { begin(transfer) }
            var count: Int32 = 0
            curl_multi_perform(multi, &count)
            var result = CURLE_OK
            while let handle = pippin_curl_done(multi, &result) { end(handle, result) }
            curl_multi_poll(multi, nil, 0, 1_000, nil)
        }
        for handle in Array(running.keys) { end(handle, CURLE_ABORTED_BY_CALLBACK) }
        curl_multi_cleanup(multi)
    }

    private func begin(_ transfer: CurlLink.Transfer) {
        var headers: UnsafeMutablePointer<curl_slist>?
        for header in transfer.headers { headers = curl_slist_append(headers, header) }
        // libcurl reads the body until the request has ended.
        let body = UnsafeMutableRawPointer.allocate(byteCount: max(1, transfer.body.count), alignment: 1)
        transfer.body.copyBytes(to: UnsafeMutableRawBufferPointer(start: body, count: transfer.body.count))
        let handle = pippin_curl_post(
            transfer.url, body, transfer.body.count, headers, transfer.times.all, transfer.times.connecting,
            transfer.isFresh ? 1 : 0,
            { bytes, size, count, context in
                guard let bytes, let context else { return 0 }
                let transfer = Unmanaged<CurlLink.Transfer>.fromOpaque(context).takeUnretainedValue()
                let size = size * count
                if transfer.answer.body.count + size > transfer.limit {
                    transfer.isTooLarge = true
                    return 0
                }
                transfer.answer.body.append(Data(bytes: bytes, count: size))
                return size
            }, Unmanaged.passUnretained(transfer).toOpaque())
        guard let handle else {
            body.deallocate()
            curl_slist_free_all(headers)
            return transfer.end(RemoteFailure(.offline, "libcurl could not begin a request"))
        }
        running[handle] = (transfer, headers, body)
        curl_multi_add_handle(multi, handle)
    }

    private func end(_ handle: UnsafeMutableRawPointer, _ result: CURLcode) {
        guard let (transfer, headers, body) = running.removeValue(forKey: handle) else { return }
        transfer.answer.status = pippin_curl_status(handle)
        transfer.answer.retryAfter = pippin_curl_retry_after(handle)
        transfer.answer.type = pippin_curl_type(handle).map { String(cString: $0) }
        curl_multi_remove_handle(multi, handle)
        curl_easy_cleanup(handle)
        curl_slist_free_all(headers)
        body.deallocate()
        if transfer.isTooLarge {
            transfer.end(RemoteFailure(.offline, "the answer has more than \(transfer.limit) bytes"))
        } else if result == CURLE_ABORTED_BY_CALLBACK {
            transfer.end(RemoteFailure(.offline, "the sync was stopped"))
        } else if result != CURLE_OK {
            let isEnded = [CURLE_GOT_NOTHING, CURLE_RECV_ERROR, CURLE_SEND_ERROR].contains(result)
            transfer.isUnanswered = isEnded && transfer.answer.status == 0 && transfer.answer.body.isEmpty
            transfer.end(RemoteFailure(.offline, String(cString: curl_easy_strerror(result))))
        } else {
            transfer.end(nil)
        }
    }
}
