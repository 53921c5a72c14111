import FaultProxy
import Foundation

/// Just enough of HTTP to talk to Patroni.
enum HTTPQuestion {
    /// - Returns: the answer's body.
    static func ask(
        _ address: SocketAddress, _ method: String, _ path: String, body: String, seconds: Int
    ) throws -> String {
        let socket = try address.connect()
        defer { close(socket) }
        var limit = timeval(tv_sec: seconds, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        let text =
            "\(method) \(path) HTTP/1.0\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)"
        _ = Array(text.utf8).withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        var (answer, buffer) = (Data(), [UInt8](repeating: 0, count: 1 << 14))
        while true {
            let count = read(socket, &buffer, buffer.count)
            guard count > 0 else { break }
            answer += buffer[..<count]
        }
        guard let end = answer.range(of: Data("\r\n\r\n".utf8)) else { throw ClusterError("no answer from \(address)") }
        return String(decoding: answer[end.upperBound...], as: UTF8.self)
    }
}
