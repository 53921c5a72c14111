import CLibMicroHTTPD
import Foundation
import HTTPMessages

// What libmicrohttpd calls. The pointers that it hands around are those that were given to it.

/// A request whose body is still coming.
private final class Arrival {
    /// How many bytes may come; none of a request that is not let in, of which nothing is kept.
    let largestBody: Int
    var body = Data()
    var isTooLarge = false

    init(largestBody: Int) { self.largestBody = largestBody }
}

/// Called when a request begins, for each piece of its body, and at its end.
func handleRequest(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?, target: UnsafePointer<CChar>?,
    method: UnsafePointer<CChar>?, version: UnsafePointer<CChar>?, upload: UnsafePointer<CChar>?,
    size: UnsafeMutablePointer<Int>?, state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let context, let connection, let target, let method, let size, let state else { return .NO }
    let desk = Unmanaged<Desk>.fromOpaque(context).takeUnretainedValue()
    guard let known = state.pointee else {
        // Only its headers are here yet.
        let request = HTTPRequest(String(cString: method), String(cString: target), headers: headers(of: connection))
        let arrival = Arrival(largestBody: desk.admits(request) ? desk.largestBody : 0)
        state.pointee = Unmanaged.passRetained(arrival).toOpaque()
        return .YES
    }
    let arrival = Unmanaged<Arrival>.fromOpaque(known).takeUnretainedValue()
    if size.pointee > 0 {
        if arrival.body.count + size.pointee > arrival.largestBody {
            arrival.isTooLarge = true
        } else if let upload {
            arrival.body.append(Data(bytes: upload, count: size.pointee))
        }
        size.pointee = 0
        return .YES
    }
    var request = HTTPRequest(
        String(cString: method), String(cString: target), headers: headers(of: connection), body: arrival.body)
    request.query = query(of: connection)
    let response =
        arrival.isTooLarge && arrival.largestBody > 0
        ? HTTPResponse(text: "The request is larger than \(arrival.largestBody >> 20) MB.\n", status: 413)
        : desk.response(to: request)
    return send(response, desk, connection)
}

/// Called when a request is over, in whatever way.
func endRequest(
    context: UnsafeMutableRawPointer?, connection: OpaquePointer?,
    state: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, reason: MHD_RequestTerminationCode
) {
    guard let known = state?.pointee else { return }
    Unmanaged<Arrival>.fromOpaque(known).release()
    state?.pointee = nil
}

/// The headers, by names in small letters; of one that comes twice, what cannot be anything's value.
private func headers(of connection: OpaquePointer) -> [String: String] {
    var found: [String: String] = [:]
    forEach(.HEADER_KIND, connection) { name, value in
        let key = name.lowercased()
        found[key] = found[key].map { "\($0), \(value)" } ?? value
    }
    return found
}

/// The query. libmicrohttpd has taken it apart, and plus signs for spaces.
private func query(of connection: OpaquePointer) -> HTTPFields {
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

private func send(_ response: HTTPResponse, _ desk: Desk, _ connection: OpaquePointer) -> MHD_Result {
    let made: OpaquePointer?
    switch response.body {
    case .data(let data):
        made = data.withUnsafeBytes { bytes in
            // Copied at once; the pointer to nothing is one all the same.
            MHD_create_response_from_buffer(
                bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1)),
                .RESPMEM_MUST_COPY)
        }
    case .stream(let content):
        let box = Box(StreamInUse(content), desk)
        desk.add(box.stream)
        made = MHD_create_response_from_callback(
            UInt64.max, 1 << 15,
            { context, _, buffer, size in
                // The stream's end, and its end with an error.
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

/// A stream, and the desk that knows of it.
private final class Box {
    let stream: StreamInUse
    private let desk: Desk

    init(_ stream: StreamInUse, _ desk: Desk) {
        self.stream = stream
        self.desk = desk
    }

    func end() {
        stream.content.cancel()
        desk.remove(stream)
    }
}
