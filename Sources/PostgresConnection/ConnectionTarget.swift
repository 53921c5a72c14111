import CPippinPQ
import Dispatch
import Foundation
import Synchronization

/// The location of a server, and the credentials: a connection string or URI as `libpq` reads it, so that service
/// files, password files, certificates and several hosts work as they do for `psql`.
package struct ConnectionTarget: Sendable, CustomStringConvertible {
    private let string: String
    /// Additional settings by keyword; those of the string take precedence over `application_name`.
    package var settings: [String: String] = [:]

    package init(_ string: String) { self.string = string }

    /// The keywords and values of the string alone.
    ///
    /// - Throws: an error that does not repeat the string, which may contain a password.
    package func parsed() throws -> [String: String] {
        var reason: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(string, &reason) else {
            defer { PQfreemem(reason) }
            let said = reason.map { String(cString: $0).split(separator: "\n").joined(separator: "; ") } ?? ""
            throw PostgresError(
                state: "08001",
                message: "the connection string cannot be read by libpq"
                    + (mayHavePassword ? "; see its keywords, and put values with spaces into quotes" : ": \(said)"))
        }
        defer { PQconninfoFree(options) }
        var parsed: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { parsed[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        // Before a slash that is not escaped, a user and the beginning of a password look like a host and its port.
        let isPort = parsed["port"]?.allSatisfy { $0.isNumber || $0 == "," } ?? true
        guard isPort || beginning.isEmpty else {
            throw PostgresError(
                state: "08001",
                message: "the port in the URI is not a number; if it belongs to a password, write / as %2F, @ as %40, "
                    + ": as %3A, ? as %3F, # as %23")
        }
        return parsed
    }

    /// The number of hosts that are tried one after the other; 1 if none is named.
    package var hostCount: Int {
        guard let parsed = try? parsed() else { return 1 }
        return max(1, (parsed["host"] ?? parsed["hostaddr"] ?? "").split(separator: ",").count)
    }

    /// The same target for each of the hosts alone.
    package var eachHost: [ConnectionTarget] {
        guard let parsed = try? parsed() else { return [self] }
        func list(_ keyword: String) -> [String] {
            (parsed[keyword] ?? "").split(separator: ",", omittingEmptySubsequences: false).map(String.init)
        }
        let (hosts, addresses, ports) = (list("host"), list("hostaddr"), list("port"))
        return (0..<max(hosts.count, addresses.count)).map { index in
            var target = self
            if parsed["host"] != nil, hosts.indices.contains(index) { target.settings["host"] = hosts[index] }
            if parsed["hostaddr"] != nil, addresses.indices.contains(index) {
                target.settings["hostaddr"] = addresses[index]
            }
            // A single port is that of all hosts. The library refuses a list of another length than that of the hosts.
            if ports.count == 1, parsed["port"] != nil {
                target.settings["port"] = ports[0]
            } else if ports.indices.contains(index) {
                target.settings["port"] = ports[index]
            }
            return target
        }
    }

    /// Whether the string itself contains a keyword.
    package func names(_ keyword: String) -> Bool { (try? parsed())?[keyword] != nil }

    /// Whether an error about the string might repeat a part of a password.
    private var mayHavePassword: Bool {
        guard !string.contains("pass") else { return true }
        guard let at = string.lastIndex(of: "@") else { return false }
        return string[..<at].dropFirst(beginning.count).contains(":")
    }

    /// The beginning of the string, before anything secret.
    private var beginning: String {
        string.range(of: "://").map { String(string[..<$0.upperBound]) } ?? ""
    }

    /// The target without its password.
    package var description: String {
        guard let parsed = try? parsed() else { return beginning + "…" }
        let shown = ["host", "hostaddr", "port", "dbname", "user", "service"]
        return shown.compactMap { key in parsed[key].map { "\(key)=\($0)" } }.joined(separator: " ")
    }

    /// Opens a connection.
    func connect() throws -> OpaquePointer {
        var given = try parsed()
        for (key, value) in settings where key != "application_name" { given[key] = value }
        given["client_encoding"] = "UTF8"
        if let name = settings["application_name"] { given["fallback_application_name"] = name }
        let keywords = given.keys.sorted()
        let handle = Self.withCStrings(keywords) { keys in
            Self.withCStrings(keywords.map { given[$0] ?? "" }) { PQconnectdbParams(keys, $0, 0) }
        }
        guard let handle else { throw PostgresError(state: "08001", message: "out of memory") }
        guard PQstatus(handle) == CONNECTION_OK else {
            var failure = ConnectionFailure(String(cString: PQerrorMessage(handle)), password: given["password"])
            if failure.isInAnotherLanguage, failure.connectsAgain(handle) { return handle }
            PQfinish(handle)
            throw failure.error
        }
        return handle
    }

    private static func withCStrings<Result>(
        _ strings: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Result
    ) -> Result {
        let copies = strings.map { Array($0.utf8CString) }
        var flat: [CChar] = []
        var offsets: [Int] = []
        for copy in copies {
            offsets.append(flat.count)
            flat += copy
        }
        return flat.withUnsafeBufferPointer { flat in
            var pointers: [UnsafePointer<CChar>?] = offsets.map { offset in flat.baseAddress.map { $0 + offset } }
            pointers.append(nil)
            return pointers.withUnsafeBufferPointer { list in
                guard let base = list.baseAddress else {
                    preconditionFailure("the list ends with nil, so it is not empty")
                }
                return body(base)
            }
        }
    }
}

/// The error of a connection that could not be opened. The library gives no state for it.
struct ConnectionFailure {
    private(set) var error: PostgresError

    /// The states of the cases that are told apart, by a part of the server's message.
    private static let states = [
        ("password authentication failed", "28P01"), ("no password supplied", "28P01"),
        ("the database system is", "57P03"), ("too many clients", "53300"), ("too many connections", "53300"),
        ("connection slots are reserved", "53300"),
    ]
    private static let unknown = "08001"

    /// - Parameters:
    ///   - text: the library's message, with a line for each host.
    ///   - password: the password, which the error does not repeat.
    init(_ text: String, password: String?) {
        var message = text.split(separator: "\n").joined(separator: "; ")
        if let password, !password.isEmpty { message = message.replacing(password, with: "…") }
        var state = Self.states.first { message.contains($0.0) }?.1
        if message.contains("does not exist") {
            if message.contains("role \"") { state = "28000" }
            if message.contains("database \"") { state = "3D000" }
        }
        error = PostgresError(state: state ?? Self.unknown, message: message)
    }

    /// Whether the server has answered with a message that is none of those that are known.
    ///
    /// Two blanks follow the severity in a server's message in each language; the library's own messages have none.
    var isInAnotherLanguage: Bool { error.state == Self.unknown && error.message.contains(":  ") }

    /// Connects once more, to receive the state of the error in place of its message.
    ///
    /// - Parameter handle: the connection that could not be opened.
    /// - Returns: whether it is open this time.
    mutating func connectsAgain(_ handle: OpaquePointer) -> Bool {
        PQsetErrorVerbosity(handle, PQERRORS_SQLSTATE)
        defer { PQsetErrorVerbosity(handle, PQERRORS_DEFAULT) }
        PQreset(handle)
        guard PQstatus(handle) != CONNECTION_OK else { return true }
        let found = String(cString: PQerrorMessage(handle)).split(separator: "\n").compactMap(Self.state)
        // Of several hosts, the one counts that will not let the program in later, either.
        let known = ["3D000", "28000"] + Self.states.map(\.1)
        error.state = known.first(where: found.contains) ?? found.first ?? error.state
        return false
    }

    private static func state(in line: Substring) -> String? {
        guard let mark = line.range(of: ":  ", options: .backwards) else { return nil }
        let state = line[mark.upperBound...]
        let isState = state.utf8.count == 5 && state.allSatisfy { $0.isASCII && ($0.isNumber || $0.isUppercase) }
        return isState ? String(state) : nil
    }
}

/// Watches connections that wait for an answer. A server whose machine is gone or stalled never says so, and the caller
/// would wait forever.
///
/// If a connection has waited for too long, its server is asked for a new connection. If it gives one, the statement is
/// merely slow, and goes on; if not, the socket is shut down, so that the waiting caller gets an error.
final class AnswerWatch: @unchecked Sendable {
    // @unchecked Sendable: the lock guards the socket; the rest is atomic or does not change.
    private let limit: UInt64
    /// The server to ask: that of this connection, and no other one.
    private let target: ConnectionTarget
    /// The start of the current wait, in nanoseconds of the machine's clock; 0 if none.
    private let since = Atomic<UInt64>(0)
    private let isProbing = Atomic<Bool>(false)
    private let lock = NSLock()
    private var socket: Int32

    /// - Parameters:
    ///   - target: the server of the connection.
    ///   - socket: the socket to shut down if the server is gone.
    ///   - seconds: after how long the server is asked.
    init(_ target: ConnectionTarget, socket: Int32, seconds: Double) {
        (self.target, self.socket, limit) = (target, socket, UInt64(seconds * 1e9))
        Self.all.add(self)
    }

    func begin() { since.store(DispatchTime.now().uptimeNanoseconds, ordering: .relaxed) }
    func end() { since.store(0, ordering: .relaxed) }

    /// The socket is closed after this, and its number may be reused.
    func invalidate() { lock.withLock { socket = -1 } }

    /// Asks the server if the current wait has taken too long.
    private func look() {
        let start = since.load(ordering: .relaxed)
        guard start != 0, DispatchTime.now().uptimeNanoseconds &- start > limit,
            !isProbing.exchange(true, ordering: .relaxed)
        else { return }
        DispatchQueue.global().async { [self] in
            let isThere = Self.answers(target)
            // Another answer may be awaited by now, with a time of its own.
            let isSame = since.load(ordering: .relaxed) == start
            if isThere, isSame {
                _ = since.compareExchange(
                    expected: start, desired: DispatchTime.now().uptimeNanoseconds, ordering: .relaxed)
            } else if !isThere, isSame {
                lock.withLock { if socket >= 0 { _ = shutdown(socket, Int32(SHUT_RDWR)) } }
            }
            isProbing.store(false, ordering: .relaxed)
        }
    }

    /// Whether a server accepts a connection, or says why not.
    private static func answers(_ target: ConnectionTarget) -> Bool {
        do {
            PQfinish(try target.connect())
            return true
        } catch {
            guard let error = error as? PostgresError else { return false }
            return !error.isWorthLookingElsewhere || error.isWithoutConnection || error.isServerTrouble
        }
    }

    // MARK: The clock

    private static let all = Watches()

    /// All watched connections, and the timer that checks them while there are any.
    private final class Watches: @unchecked Sendable {
        // @unchecked Sendable: the lock guards both.
        private struct WeakWatch { weak var watch: AnswerWatch? }
        private let lock = NSLock()
        private var watches: [WeakWatch] = []
        private var timer: (any DispatchSourceTimer)?

        func add(_ watch: AnswerWatch) {
            lock.withLock {
                watches.append(WeakWatch(watch: watch))
                guard timer == nil else { return }
                let new = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "AnswerWatch"))
                new.schedule(deadline: .now() + .milliseconds(250), repeating: .milliseconds(250))
                new.setEventHandler { [weak self] in self?.look() }
                timer = new
                new.resume()
            }
        }

        private func look() {
            let present: [AnswerWatch] = lock.withLock {
                watches.removeAll { $0.watch == nil }
                if watches.isEmpty {
                    timer?.cancel()
                    timer = nil
                }
                return watches.compactMap(\.watch)
            }
            for watch in present { watch.look() }
        }
    }
}
