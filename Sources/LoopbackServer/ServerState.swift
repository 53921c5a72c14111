import CPippinMicroHTTPD
import Foundation
import HTTPMessages
import Synchronization

/// What all connections of a server share: the access guard, the handler and the open streams.
final class ServerState: Sendable {
    private let answer: @Sendable (HTTPRequest, AccessGuard) -> HTTPResponse
    private let accessGuard = Mutex<AccessGuard?>(nil)
    private let streams = Mutex<[ObjectIdentifier: StreamInUse]>([:])

    /// The guard whose secret is another one, for programs of this user.
    private let ownGuard = Mutex<AccessGuard?>(nil)

    /// Notices clients that leave.
    let watch = ClientWatch()
    /// The largest body of a request in bytes.
    let largestBody: Int

    init(largestBody: Int, _ answer: @escaping @Sendable (HTTPRequest, AccessGuard) -> HTTPResponse) {
        self.largestBody = largestBody
        self.answer = answer
    }

    /// Whether a request is answered, by its headers.
    func admits(_ request: HTTPRequest) -> Bool {
        accessGuard.withLock { accessGuard in accessGuard.map { (try? $0.admit(request)) != nil } ?? false }
    }

    /// The address that leads programs of this user to the address with the secret, and nobody else.
    ///
    /// The arguments of programs, such as that of the one that opens a browser, are seen by all users of the machine.
    func makeOwnAddress() -> String? {
        guard let port = accessGuard.withLock({ $0?.port }) else { return nil }
        return ownGuard.withLock { ownGuard in
            let made = ownGuard ?? AccessGuard(token: AccessGuard.makeToken(), port: port)
            ownGuard = made
            return made.address
        }
    }

    /// The response to a request for that address; nil for another request, and for one of another user.
    func ownResponse(to request: HTTPRequest, from client: UInt16) -> HTTPResponse? {
        guard let ownGuard = ownGuard.withLock({ $0 }), let accessGuard = accessGuard.withLock({ $0 }),
            (try? ownGuard.admit(request))?.path.isEmpty == true,
            ConnectionOwner.isThisUser(from: client, to: UInt16(clamping: accessGuard.port))
        else { return nil }
        var response = HTTPResponse(seeOther: "/\(accessGuard.token)/")
        response.headers += AccessGuard.headers
        return response
    }

    func open(_ accessGuard: AccessGuard) { self.accessGuard.withLock { $0 = accessGuard } }

    /// Refuses new requests, and cancels the streams that wait for content.
    func close() {
        accessGuard.withLock { $0 = nil }
        for stream in streams.withLock({ Array($0.values) }) { stream.content.cancel() }
    }

    func response(to request: HTTPRequest) -> HTTPResponse {
        var response: HTTPResponse
        if let accessGuard = accessGuard.withLock({ $0 }) {
            do { response = answer(try accessGuard.admit(request), accessGuard) } catch {
                let refusal = error as? AccessGuard.Refusal
                response = HTTPResponse(text: (refusal?.reason ?? "\(error)") + "\n", status: refusal?.status ?? 500)
            }
        } else {
            response = HTTPResponse(text: "The server is being started or stopped.\n", status: 503)
        }
        response.headers += AccessGuard.headers
        return response
    }

    func add(_ stream: StreamInUse) { streams.withLock { $0[ObjectIdentifier(stream)] = stream } }
    func remove(_ stream: StreamInUse) { streams.withLock { $0[ObjectIdentifier(stream)] = nil } }
}

/// An open stream, and the rest of its last part that did not fit into the buffer.
final class StreamInUse: @unchecked Sendable {
    // @unchecked Sendable: only the connection's thread uses `rest`.
    let content: any HTTPStream
    private var rest = Data()

    init(_ content: any HTTPStream) { self.content = content }

    /// Fills the buffer with the next bytes, and returns their number; nil at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws -> Int? {
        while rest.isEmpty {
            guard let next = try content.next() else { return nil }
            rest = next
        }
        let count = min(buffer.count, rest.count)
        rest.copyBytes(to: buffer, count: count)
        // A slice: a large part is not copied once more for each buffer.
        rest = rest.dropFirst(count)
        return count
    }
}

/// Whose program has opened a connection on this machine, as the system's tables of connections say.
enum ConnectionOwner {
    /// Whether a program of the user who runs this one has opened a connection.
    ///
    /// - Parameters:
    ///   - client: the port that the connection comes from.
    ///   - server: the port that it has reached.
    /// - Returns: false also if the system does not say.
    static func isThisUser(from client: UInt16, to server: UInt16) -> Bool {
        ["/proc/self/net/tcp", "/proc/self/net/tcp6"].contains { path in
            guard let table = contents(of: path), let user = user(in: table, from: client, to: server) else {
                return false
            }
            return user == getuid() || user == geteuid()
        }
    }

    /// A file of the system, which has no size: Foundation would read its first page only.
    private static func contents(of path: String) -> String? {
        guard let file = fopen(path, "re") else { return nil }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 { bytes += buffer[..<count] }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The user in a table of connections within this machine. Pure.
    static func user(in table: String, from client: UInt16, to server: UInt16) -> uid_t? {
        // Addresses are numbers in the machine's order of bytes; in the table of IPv6, they are the last of four.
        let address = String(format: "%08X", UInt32(0x7F00_0001).bigEndian)
        func isEnd(_ text: Substring, _ port: UInt16) -> Bool {
            text.hasSuffix(address + String(format: ":%04X", port))
        }
        for line in table.split(separator: "\n") {
            let fields = line.split(separator: " ")
            if fields.count > 7, isEnd(fields[1], client), isEnd(fields[2], server) { return uid_t(fields[7]) }
        }
        return nil
    }
}

/// Notices clients that leave while long work is done for them. libmicrohttpd does so only when it sends something.
final class ClientWatch: Sendable {
    private struct State {
        var latest = 0
        var watched: [Int: (descriptor: Int32, stop: @Sendable () -> Void)] = [:]
        var isRunning = false
    }

    /// How often it is looked, in microseconds.
    private static let interval: UInt32 = 100_000

    private let state = Mutex(State())

    /// Watches a connection.
    ///
    /// - Returns: the number to ``end(_:)`` it with.
    func begin(_ descriptor: Int32, _ stop: @escaping @Sendable () -> Void) -> Int {
        let (number, isFirst) = state.withLock { state in
            state.latest += 1
            state.watched[state.latest] = (descriptor, stop)
            defer { state.isRunning = true }
            return (state.latest, !state.isRunning)
        }
        if isFirst { Thread.detachNewThread { self.run() } }
        return number
    }

    /// Ends it: nothing is stopped afterwards.
    func end(_ number: Int) { state.withLock { _ = $0.watched.removeValue(forKey: number) } }

    /// Looks as long as there is something to watch.
    private func run() {
        while true {
            usleep(Self.interval)
            let isOver = state.withLock { state in
                for connection in state.watched.values where loopback_server_has_left(connection.descriptor) != 0 {
                    connection.stop()
                }
                state.isRunning = !state.watched.isEmpty
                return !state.isRunning
            }
            if isOver { return }
        }
    }
}

/// The client of one connection, to be used by that connection's thread.
struct ConnectedClient: HTTPClient {
    let descriptor: Int32
    let watch: ClientWatch

    var isWaiting: Bool { loopback_server_has_left(descriptor) == 0 }

    func whileWaiting<Result>(
        stop: @escaping @Sendable () -> Void, _ body: () throws -> Result
    ) rethrows -> Result {
        let number = watch.begin(descriptor, stop)
        defer { watch.end(number) }
        return try body()
    }
}
