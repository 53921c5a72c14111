import CPippinMicroHTTPD
import Foundation
import HTTPMessages

// The callbacks of libmicrohttpd. It passes back the pointers that were given to it.

/// A request whose body is being received.
private final class IncomingRequest {
    /// The largest body in bytes; 0 for a refused request, whose body is discarded.
    let largestBody: Int
    var body = Data()
    var isTooLarge = false

    init(largestBody: Int) { self.largestBody = largestBody }
}

/// Called when a request begins, for each part of its body, and at its end.
func handleRequest(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?, target: UnsafePointer<CChar>?,
    method: UnsafePointer<CChar>?, version: UnsafePointer<CChar>?, upload: UnsafePointer<CChar>?,
    size: UnsafeMutablePointer<Int>?, state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let context, let connection, let target, let method, let size, let state else { return .NO }
    let server = Unmanaged<ServerState>.fromOpaque(context).takeUnretainedValue()
    guard let known = state.pointee else {
        // Only the headers have been received.
        let request = HTTPRequest(String(cString: method), String(cString: target), headers: headers(of: connection))
        let isAdmitted = server.admits(request)
        if isAdmitted { loopback_server_keep(connection) }
        let incoming = IncomingRequest(largestBody: isAdmitted ? server.largestBody : 0)
        state.pointee = Unmanaged.passRetained(incoming).toOpaque()
        return .YES
    }
    let incoming = Unmanaged<IncomingRequest>.fromOpaque(known).takeUnretainedValue()
    if size.pointee > 0 {
        if incoming.body.count + size.pointee > incoming.largestBody {
            incoming.isTooLarge = true
        } else if let upload {
            incoming.body.append(Data(bytes: upload, count: size.pointee))
        }
        size.pointee = 0
        return .YES
    }
    var request = HTTPRequest(
        String(cString: method), String(cString: target), headers: headers(of: connection), body: incoming.body)
    request.query = query(of: connection)
    request.client = ConnectedClient(descriptor: loopback_server_descriptor(connection), watch: server.watch)
    if let response = server.ownResponse(to: request, from: loopback_server_client(connection)) {
        return send(response, server, connection)
    }
    let response =
        incoming.isTooLarge && incoming.largestBody > 0
        ? HTTPResponse(text: "The request is larger than \(incoming.largestBody >> 20) MB.\n", status: 413)
        : server.response(to: request)
    return send(response, server, connection)
}

/// Called when a request ends, for whatever reason.
func endRequest(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?,
    state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, reason: MHD_RequestTerminationCode
) {
    guard let known = state?.pointee else { return }
    Unmanaged<IncomingRequest>.fromOpaque(known).release()
    state?.pointee = nil
}

/// The headers by lowercased name. Values of a repeated header are joined by “, ”, so that a repeated `Host` matches no
/// allowed one.
func headers(of connection: OpaquePointer) -> [String: String] {
    var found: [String: String] = [:]
    forEach(.HEADER_KIND, connection) { name, value in
        let key = name.lowercased()
        found[key] = found[key].map { "\($0), \(value)" } ?? value
    }
    return found
}

/// The query. libmicrohttpd has parsed and decoded it, plus signs as spaces.
func query(of connection: OpaquePointer) -> HTTPFields {
    var items: [String] = []
    forEach(.GET_ARGUMENT_KIND, connection) { items.append("\($0)=\($1)") }
    return HTTPFields(encoded: items.joined(separator: "&"))
}

private func forEach(_ kind: MHD_ValueKind, _ connection: OpaquePointer, _ body: (String, String) -> Void) {
    withoutActuallyEscaping(body) { body in
        var box = body
        withUnsafeMutablePointer(to: &box) { pointer in
            _ = MHD_get_connection_values(
                connection, kind,
                { pointer, _, name, value in
                    let body = pointer?.assumingMemoryBound(to: ((String, String) -> Void).self).pointee
                    if let name { body?(String(cString: name), value.map { String(cString: $0) } ?? "") }
                    return .YES
                }, pointer)
        }
    }
}

private func send(_ response: HTTPResponse, _ server: ServerState, _ connection: OpaquePointer) -> MHD_Result {
    let made: OpaquePointer?
    switch response.body {
    case .data(let data):
        made = data.withUnsafeBytes { bytes in
            // libmicrohttpd copies the bytes. It needs a pointer even for none.
            MHD_create_response_from_buffer(
                bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1)),
                .RESPMEM_MUST_COPY)
        }
    case .stream(let content):
        let box = Box(StreamInUse(content), server)
        server.add(box.stream)
        made = MHD_create_response_from_callback(
            UInt64.max, 1 << 15,
            { context, _, buffer, size in
                // -1 is the end of the stream, -2 an end with an error.
                guard let context, let buffer else { return -2 }
                let box = Unmanaged<Box>.fromOpaque(context).takeUnretainedValue()
                do {
                    return try box.stream.read(into: UnsafeMutableRawBufferPointer(start: buffer, count: size)) ?? -1
                } catch { return -2 }
            }, Unmanaged.passRetained(box).toOpaque(),
            { context in
                guard let context else { return }
                Unmanaged<Box>.fromOpaque(context).takeRetainedValue().end()
            })
    }
    guard let made else { return .NO }
    defer { MHD_destroy_response(made) }
    for header in response.headers { MHD_add_response_header(made, header.name, header.value) }
    return MHD_queue_response(connection, UInt32(response.status), made)
}

/// A stream, and the server state that lists it.
private final class Box {
    let stream: StreamInUse
    private let server: ServerState

    init(_ stream: StreamInUse, _ server: ServerState) {
        self.stream = stream
        self.server = server
    }

    func end() {
        stream.content.cancel()
        server.remove(stream)
    }
}
