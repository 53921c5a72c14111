import CPippinMicroHTTPD
import Foundation
public import HTTPMessages
import Synchronization

/// An HTTP server whose answers may take their time: one thread for all connections, a task for each request. A request
/// that waits for its answer takes a connection, and no thread.
///
/// It speaks HTTP/1.1 without TLS and asks nobody who they are: that is the work of a reverse proxy before it, and of
/// the closure that answers.
///
/// ```swift
/// let listener = try HTTPListener(port: 8080) { request in HTTPResponse(text: "Hello\n") }
/// ```
public final class HTTPListener: Sendable {
    /// The reason why the server could not be started.
    public struct StartFailure: Error, CustomStringConvertible {
        /// One sentence.
        public let description: String
    }

    /// The port that it listens on.
    public let port: Int
    private let desk: ListenerDesk
    private let daemon: Mutex<UInt>

    /// Starts the server.
    ///
    /// - Parameters:
    ///   - port: the port; 0 for any that is free.
    ///   - isReachable: whether other machines can reach it; otherwise it listens on 127.0.0.1 only.
    ///   - connections: the largest number of connections at the same time.
    ///   - largestBody: the largest body of a request in bytes; that of a larger one is discarded, and answered with
    ///     413.
    ///   - answer: makes the response to a request. A body that is a stream is not sent.
    /// - Throws: ``StartFailure`` if the port is in use.
    public init(
        port: Int = 0, isReachable: Bool = false, connections: Int = 4_096, largestBody: Int = 16 << 20,
        _ answer: @escaping @Sendable (HTTPRequest) async -> HTTPResponse
    ) throws {
        let desk = ListenerDesk(largestBody: largestBody, answer)
        guard
            let pointer = http_listener_start(
                isReachable ? INADDR_ANY : INADDR_LOOPBACK, UInt16(clamping: port), UInt32(clamping: connections),
                handleWaitingRequest, endWaitingRequest, Unmanaged.passUnretained(desk).toOpaque())
        else {
            throw StartFailure(
                description:
                    "cannot listen on \(port == 0 ? "any port" : "port \(port)"): \(String(cString: strerror(errno))). Another port may be free."
            )
        }
        self.desk = desk
        daemon = Mutex(UInt(bitPattern: pointer))
        self.port = Int(loopback_server_port(pointer))
    }

    deinit { stop() }

    /// Stops answering. Requests that wait are answered with 503.
    public func stop() {
        desk.close()
        let running = daemon.withLock { daemon in
            defer { daemon = 0 }
            return OpaquePointer(bitPattern: daemon)
        }
        if let running { MHD_stop_daemon(running) }
    }
}

/// What all connections share. libmicrohttpd's thread uses it until the daemon has stopped.
private final class ListenerDesk: Sendable {
    let largestBody: Int
    let answer: @Sendable (HTTPRequest) async -> HTTPResponse
    private let waiting = Mutex<(isClosed: Bool, requests: [ObjectIdentifier: WaitingRequest])>((false, [:]))

    init(largestBody: Int, _ answer: @escaping @Sendable (HTTPRequest) async -> HTTPResponse) {
        (self.largestBody, self.answer) = (largestBody, answer)
    }

    /// Lets a request wait, and makes its answer.
    ///
    /// - Returns: false if the server is stopping.
    func begin(_ incoming: WaitingRequest, _ request: HTTPRequest, _ connection: OpaquePointer) -> Bool {
        let goesOn = waiting.withLock { waiting in
            if waiting.isClosed { return false }
            waiting.requests[ObjectIdentifier(incoming)] = incoming
            incoming.connection = UInt(bitPattern: connection)
            MHD_suspend_connection(connection)
            return true
        }
        if goesOn { Task { end(incoming, await answer(request)) } }
        return goesOn
    }

    private func end(_ incoming: WaitingRequest, _ response: HTTPResponse) {
        waiting.withLock { waiting in
            // What was answered by the end of the server is gone.
            guard waiting.requests.removeValue(forKey: ObjectIdentifier(incoming)) != nil else { return }
            incoming.resume(with: response)
        }
    }

    func close() {
        waiting.withLock { waiting in
            waiting.isClosed = true
            for incoming in waiting.requests.values {
                incoming.resume(with: HTTPResponse(text: "The server is being stopped.\n", status: 503))
            }
            waiting.requests = [:]
        }
    }
}

/// A request that is being received, or waits for its answer.
private final class WaitingRequest: @unchecked Sendable {
    // @unchecked Sendable: libmicrohttpd's thread uses it, apart from the time between suspending and resuming, when
    // the desk's lock guards it.
    var body = Data()
    var isTooLarge = false
    var connection: UInt = 0
    var response: HTTPResponse?

    func resume(with response: HTTPResponse) {
        self.response = response
        if let connection = OpaquePointer(bitPattern: connection) { MHD_resume_connection(connection) }
    }
}

/// Called when a request begins, for each part of its body, at its end, and when its answer is there.
private func handleWaitingRequest(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?, target: UnsafePointer<CChar>?,
    method: UnsafePointer<CChar>?, version: UnsafePointer<CChar>?, upload: UnsafePointer<CChar>?,
    size: UnsafeMutablePointer<Int>?, state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let context, let connection, let target, let method, let size, let state else { return .NO }
    let desk = Unmanaged<ListenerDesk>.fromOpaque(context).takeUnretainedValue()
    guard let known = state.pointee else {
        state.pointee = Unmanaged.passRetained(WaitingRequest()).toOpaque()
        return .YES
    }
    let incoming = Unmanaged<WaitingRequest>.fromOpaque(known).takeUnretainedValue()
    if let response = incoming.response { return queue(response, connection) }
    if size.pointee > 0 {
        if incoming.body.count + size.pointee > desk.largestBody {
            (incoming.isTooLarge, incoming.body) = (true, Data())
        } else if !incoming.isTooLarge, let upload {
            incoming.body.append(Data(bytes: upload, count: size.pointee))
        }
        size.pointee = 0
        return .YES
    }
    if incoming.isTooLarge {
        let text = "The request has more than \(desk.largestBody) bytes, which is the most that is taken.\n"
        return queue(HTTPResponse(text: text, status: 413), connection)
    }
    var request = HTTPRequest(
        String(cString: method), String(cString: target), headers: headers(of: connection), body: incoming.body)
    incoming.body = Data()
    request.query = query(of: connection)
    if desk.begin(incoming, request, connection) { return .YES }
    return queue(HTTPResponse(text: "The server is being stopped.\n", status: 503), connection)
}

private func endWaitingRequest(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?,
    state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, reason: MHD_RequestTerminationCode
) {
    guard let known = state?.pointee else { return }
    Unmanaged<WaitingRequest>.fromOpaque(known).release()
    state?.pointee = nil
}

private func queue(_ response: HTTPResponse, _ connection: OpaquePointer) -> MHD_Result {
    guard case .data(let data) = response.body else {
        return queue(
            HTTPResponse(text: "The answer is a stream, which this server does not send.\n", status: 500), connection)
    }
    let made = data.withUnsafeBytes { bytes in
        // libmicrohttpd copies the bytes. It needs a pointer even for none.
        MHD_create_response_from_buffer(
            bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1)),
            .RESPMEM_MUST_COPY)
    }
    guard let made else { return .NO }
    defer { MHD_destroy_response(made) }
    for header in response.headers { MHD_add_response_header(made, header.name, header.value) }
    return MHD_queue_response(connection, UInt32(response.status), made)
}
