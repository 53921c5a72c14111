import CLibMicroHTTPD
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
