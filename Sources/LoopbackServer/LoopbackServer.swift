import CPippinMicroHTTPD
@_exported public import HTTPMessages
import Foundation
import Synchronization

/// A web server on the loopback interface: requests as values in, responses as values out, a thread for each
/// connection.
///
/// It is reachable only from this machine, and answers only requests that its guard admits.
public final class LoopbackServer: Sendable {
    /// The reason why the server could not be started.
    public struct StartFailure: Error, CustomStringConvertible {
        /// One sentence.
        public let description: String
    }

    /// The guard that checks each request.
    public let accessGuard: AccessGuard
    /// An address without the secret, for an argument of a program, which other users of the machine can read: it leads
    /// programs of this user to the printed address, and others nowhere.
    package var ownAddress: String { server.makeOwnAddress() ?? accessGuard.address }

    private let server: ServerState
    private let daemon: Daemon

    /// Starts the server.
    ///
    /// - Parameters:
    ///   - port: the port; 0 for any that is free.
    ///   - token: the secret in the address.
    ///   - connections: the largest number of connections at the same time.
    ///   - largestBody: the largest body of a request in bytes; that of a refused request is discarded.
    ///   - answer: makes the response to a request that the guard admitted; called on several threads at once.
    /// - Throws: ``StartFailure`` if the port is in use.
    public init(
        port: Int = 0, token: String = AccessGuard.makeToken(), connections: Int = 64,
        largestBody: Int = 1 << 20, _ answer: @escaping @Sendable (HTTPRequest, AccessGuard) -> HTTPResponse
    ) throws {
        let server = ServerState(largestBody: largestBody, answer)
        let context = Unmanaged.passUnretained(server).toOpaque()
        guard
            let pointer = loopback_server_start(
                UInt16(clamping: port), UInt32(connections), handleRequest, endRequest, context)
        else {
            let place = port == 0 ? "no free port of 127.0.0.1" : "port \(port) of 127.0.0.1"
            throw StartFailure(
                description:
                    "cannot listen on \(place): \(String(cString: strerror(errno))). Another port may be free: --port 0"
            )
        }
        self.server = server
        daemon = Daemon(pointer, server)
        accessGuard = AccessGuard(token: token, port: Int(loopback_server_port(pointer)))
        server.open(accessGuard)
    }

    /// Stops answering. Waiting clients get no answer.
    public func stop() { daemon.stop() }
}

/// The running server and what its threads use, which must outlive them.
private final class Daemon: @unchecked Sendable {
    // @unchecked Sendable: the lock guards the pointer.
    private let pointer: Mutex<UInt>
    private let server: ServerState

    init(_ pointer: OpaquePointer, _ server: ServerState) {
        self.pointer = Mutex(UInt(bitPattern: pointer))
        self.server = server
    }

    func stop() {
        server.close()
        let running = pointer.withLock { pointer in
            defer { pointer = 0 }
            return OpaquePointer(bitPattern: pointer)
        }
        if let running { MHD_stop_daemon(running) }
    }

    deinit { stop() }
}
