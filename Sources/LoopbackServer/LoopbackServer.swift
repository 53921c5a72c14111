import CLibMicroHTTPD
@_exported public import HTTPMessages
import Foundation
import Synchronization

/// A web server on the loopback interface: requests as values in, responses as values out, a thread for each connection.
///
/// Only this machine reaches it, and only who passes its gate is answered.
public final class LoopbackServer: Sendable {
    /// Why there is no server.
    public struct StartFailure: Error, CustomStringConvertible {
        /// One sentence.
        public let description: String
    }

    /// Who gets in.
    public let gate: Gate
    private let daemon: Daemon

    /// Starts to answer.
    ///
    /// - Parameters:
    ///   - port: the port; 0 for any that is free.
    ///   - token: the secret in the address.
    ///   - connections: how many there may be at once.
    ///   - largestBody: how many bytes a request may bring along; of one that is not let in, nothing is kept.
    ///   - answer: makes the answer to a request that the gate let in; called on several threads at once.
    /// - Throws: `StartFailure` when the port is taken.
    public init(
        port: Int = 0, token: String = Gate.makeToken(), connections: Int = 64,
        largestBody: Int = 1 << 20, _ answer: @escaping @Sendable (HTTPRequest, Gate) -> HTTPResponse
    ) throws {
        let desk = Desk(largestBody: largestBody, answer)
        let context = Unmanaged.passUnretained(desk).toOpaque()
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
        daemon = Daemon(pointer, desk)
        gate = Gate(token: token, port: Int(loopback_server_port(pointer)))
        desk.open(gate)
    }

    /// Stops answering; who waits for an answer gets none.
    public func stop() { daemon.stop() }
}

/// The running server and what its threads use, which must outlive them.
private final class Daemon: @unchecked Sendable {
    // @unchecked Sendable: the lock guards the pointer.
    private let pointer: Mutex<UInt>
    private let desk: Desk

    init(_ pointer: OpaquePointer, _ desk: Desk) {
        self.pointer = Mutex(UInt(bitPattern: pointer))
        self.desk = desk
    }

    func stop() {
        desk.close()
        let running = pointer.withLock { pointer in
            defer { pointer = 0 }
            return OpaquePointer(bitPattern: pointer)
        }
        if let running { MHD_stop_daemon(running) }
    }

    deinit { stop() }
}
