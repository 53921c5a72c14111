import Foundation

/// A response, as a value.
public struct HTTPResponse: Sendable {
    /// The content of a response.
    public enum Body: Sendable {
        /// The whole content.
        case data(Data)
        /// Content that is made while it is sent.
        case stream(any HTTPStream)
    }

    /// The status code.
    public var status: Int
    /// The headers, in order.
    public var headers: [Header]
    /// The content.
    public var body: Body

    /// A header.
    public struct Header: Sendable, Equatable {
        /// Its name.
        public let name: String
        /// Its value.
        public let value: String

        /// Creates a header. Line ends would begin another one, and are left out.
        ///
        /// - Parameters:
        ///   - name: its name.
        ///   - value: its value.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = String(
                String.UnicodeScalarView(value.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7F }))
        }
    }

    /// Creates a response.
    ///
    /// - Parameters:
    ///   - status: the status code.
    ///   - type: the content's type.
    ///   - body: the content.
    public init(status: Int = 200, type: String, body: Body) {
        self.status = status
        self.body = body
        headers = [Header("Content-Type", type)]
    }

    /// Creates a response with a page.
    ///
    /// - Parameters:
    ///   - html: the page.
    ///   - status: the status code.
    public init(_ html: HTML, status: Int = 200) {
        self.init(status: status, type: "text/html; charset=utf-8", body: .data(Data(html.text.utf8)))
    }

    /// Creates a response with text.
    ///
    /// - Parameters:
    ///   - text: the text.
    ///   - type: the content's type.
    ///   - status: the status code.
    public init(text: String, type: String = "text/plain; charset=utf-8", status: Int = 200) {
        self.init(status: status, type: type, body: .data(Data(text.utf8)))
    }

    /// Redirects to another page, which the browser requests with `GET`.
    ///
    /// - Parameter address: the address of the page.
    public init(seeOther address: String) {
        self.init(status: 303, type: "text/plain; charset=utf-8", body: .data(Data()))
        headers.append(Header("Location", address))
    }

    /// The value of a header; nil where there is none.
    ///
    /// - Parameter name: the header's name, as it was given.
    public subscript(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}

/// Content that is made while it is sent. One thread at a time calls `next()`.
public protocol HTTPStream: Sendable {
    /// The next part; waits until there is one.
    ///
    /// - Returns: nil at the end.
    /// - Throws: an error that ends the content early; the connection is closed, so that the client detects it.
    func next() throws -> Data?
    /// Ends the stream, which is not read further: a thread that waits in `next()` returns at once.
    func cancel()
}

/// Notifies open pages of changes, by server-sent events.
public final class ChangeBroadcaster: @unchecked Sendable {
    // @unchecked Sendable: the condition guards what changes.
    private let condition = NSCondition()
    private var count = 0

    /// Creates a broadcaster that has seen no change.
    public init() {}

    /// The number of changes so far.
    public var latest: Int { condition.withLock { count } }

    /// Notifies all open streams of a change.
    public func broadcast() {
        condition.withLock {
            count += 1
            condition.broadcast()
        }
    }

    /// The changes from now on as server-sent events, for the body of a response of the type `text/event-stream`.
    ///
    /// - Parameter heartbeat: after how many seconds without a change a comment is sent, to detect a closed
    ///   connection.
    /// - Returns: the stream.
    public func stream(heartbeat: Double = 15) -> any HTTPStream { ChangeStream(self, heartbeat: heartbeat) }

    /// Waits for a change.
    ///
    /// - Parameters:
    ///   - seen: the number of the latest change that is known.
    ///   - timeout: how long to wait, in seconds.
    ///   - isCancelled: whether to give up; called while the condition is locked.
    /// - Returns: the number of the latest change; `seen` if there was none.
    func wait(after seen: Int, timeout: Double, unless isCancelled: () -> Bool) -> Int {
        condition.withLock {
            let end = Date(timeIntervalSinceNow: timeout)
            while count == seen, !isCancelled(), condition.wait(until: end) {}
            return count
        }
    }

    /// Wakes all waiting streams, so that cancelled ones end.
    func wake() { condition.withLock { condition.broadcast() } }
}

/// Changes as server-sent events: one event for each, and a comment if there was none for a while, to detect a closed
/// connection.
final class ChangeStream: HTTPStream, @unchecked Sendable {
    // @unchecked Sendable: only the connection's thread uses `seen` and `hasBegun`, and the flag has a lock of its own.
    private let broadcaster: ChangeBroadcaster
    private let heartbeat: Double
    private var seen: Int
    private var hasBegun = false
    private let isCancelled = CancellationFlag()

    init(_ broadcaster: ChangeBroadcaster, heartbeat: Double) {
        self.broadcaster = broadcaster
        self.heartbeat = heartbeat
        seen = broadcaster.latest
    }

    func next() -> Data? {
        guard hasBegun else {
            hasBegun = true
            return Data("retry: 1000\n\nevent: hello\ndata: \(seen)\n\n".utf8)
        }
        let latest = broadcaster.wait(after: seen, timeout: heartbeat) { isCancelled.isSet }
        if isCancelled.isSet { return nil }
        defer { seen = latest }
        return Data((latest == seen ? ": nothing new\n\n" : "data: \(latest)\n\n").utf8)
    }

    func cancel() {
        isCancelled.set()
        broadcaster.wake()
    }
}

/// A flag that is set once.
package final class CancellationFlag: @unchecked Sendable {
    // @unchecked Sendable: the lock guards what changes.
    private let lock = NSLock()
    private var value = false

    package init() {}

    package var isSet: Bool { lock.withLock { value } }
    package func set() { lock.withLock { value = true } }
}

/// Decides from a request's head alone whether it is answered.
///
/// The pages are for the person who has seen the printed address. Its first part is a secret, so that neither another
/// user of the machine nor a page from elsewhere in the same browser can ask for anything. A page from elsewhere whose
/// own name was made to resolve to this machine (DNS rebinding) has that name in `Host`; a page that sends forms here
/// has its own address in `Origin`.
public struct AccessGuard: Sendable {
    /// The secret, in the printed address.
    public let token: String
    /// The port that the server listens on.
    public let port: Int

    /// - Parameters:
    ///   - token: the secret.
    ///   - port: the port that the server listens on.
    public init(token: String, port: Int) {
        self.token = token
        self.port = port
    }

    /// A secret of 130 bits.
    public static func makeToken() -> String {
        var generator = SystemRandomNumberGenerator()
        let digits = Array("abcdefghijklmnopqrstuvwxyz234567")
        return String((0..<26).map { _ in digits[Int(generator.next() & 31)] })
    }

    /// The address to print.
    public var address: String { "http://127.0.0.1:\(port)/\(token)/" }

    /// The response to a request that is refused.
    public struct Refusal: Error, Equatable {
        /// The status code.
        public let status: Int
        /// One sentence.
        public let reason: String
    }

    /// Checks a request.
    ///
    /// - Parameter request: the request; its body is not looked at.
    /// - Returns: the request, without the secret in its path.
    /// - Throws: ``Refusal`` with the status 421 for another host, 405 for another method, and 403 for a page from
    ///   elsewhere, a `POST` without `Origin` or a wrong secret.
    public func admit(_ request: HTTPRequest) throws -> HTTPRequest {
        guard let host = request.headers["host"], hosts.contains(host.lowercased()) else {
            throw Refusal(status: 421, reason: "This server answers to 127.0.0.1 and localhost only.")
        }
        if let origin = request.headers["origin"], !hosts.contains(where: { "http://\($0)" == origin.lowercased() }) {
            throw Refusal(status: 403, reason: "Requests of pages from elsewhere are not answered.")
        }
        let site = request.headers["sec-fetch-site"]
        let isNavigation = request.method == "GET" && request.headers["sec-fetch-mode"] == "navigate"
        if let site, !["same-origin", "none"].contains(site), !isNavigation {
            throw Refusal(status: 403, reason: "Requests of pages from elsewhere are not answered.")
        }
        guard ["GET", "HEAD", "POST"].contains(request.method) else {
            throw Refusal(status: 405, reason: "Only GET, HEAD and POST are answered.")
        }
        if request.method == "POST", request.headers["origin"] == nil {
            throw Refusal(status: 403, reason: "A request that changes something must say where it comes from.")
        }
        guard let given = request.path.first, Self.isEqual(given, token) else {
            throw Refusal(status: 403, reason: "Open the address that was printed: it has a secret in it.")
        }
        var admitted = request
        admitted.path.removeFirst()
        return admitted
    }

    private var hosts: [String] { ["127.0.0.1:\(port)", "localhost:\(port)"] }

    /// Compares in a time that does not depend on where the texts differ.
    static func isEqual(_ left: String, _ right: String) -> Bool {
        let (left, right) = (Array(left.utf8), Array(right.utf8))
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// The security headers of every response: the page may load only this server's own style sheet, script and
    /// pictures, may not be framed, and is not cached.
    public static let headers: [HTTPResponse.Header] = [
        .init(
            "Content-Security-Policy",
            "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; "
                + "frame-ancestors 'none'; base-uri 'none'"),
        .init("X-Content-Type-Options", "nosniff"),
        .init("X-Frame-Options", "DENY"),
        .init("Referrer-Policy", "same-origin"),
        .init("Cross-Origin-Resource-Policy", "same-origin"),
        .init("Cross-Origin-Opener-Policy", "same-origin"),
        .init("Cache-Control", "no-store"),
    ]
}
