import Foundation
import TestSupport
import Testing

@testable import LoopbackServer

#if canImport(Glibc)
    import Glibc
#endif

@Suite("The server", .ownThread)
struct ServerTests {
    /// One request over a socket of this process's own: what comes back, as text.
    private func ask(_ port: Int, _ lines: [String], body: String = "") throws -> String {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(port).bigEndian
        address.sin_addr.s_addr = in_addr_t(0x7F00_0001).bigEndian
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(connected == 0)
        let text =
            (lines + ["Connection: close", "Content-Length: \(body.utf8.count)"]).joined(separator: "\r\n") + "\r\n\r\n"
            + body
        let bytes = Array(text.utf8)
        #expect(write(descriptor, bytes, bytes.count) == bytes.count)
        var answer = Data()
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while case let count = read(descriptor, &buffer, buffer.count), count > 0 {
            answer.append(contentsOf: buffer[..<count])
        }
        return String(decoding: answer, as: UTF8.self)
    }

    private struct Numbers: HTTPStream {
        private final class State: @unchecked Sendable { var number = 0 }
        private let state = State()

        func next() -> Data? {
            state.number += 1
            return state.number > 1000 ? nil : Data("\(state.number)\n".utf8)
        }

        func cancel() {}
    }

    @Test("Requests become values, values become answers, with the headers that keep pages apart")
    func answers() throws {
        let server = try LoopbackServer { request, _ in
            HTTPResponse(
                text:
                    "\(request.method) \(request.path) \(request.query["q"] ?? "") \(String(decoding: request.body, as: UTF8.self))"
            )
        }
        defer { server.stop() }
        let (port, token) = (server.accessGuard.port, server.accessGuard.token)
        let answer = try ask(
            port,
            ["POST /\(token)/a%20b?q=x%2By HTTP/1.1", "Host: 127.0.0.1:\(port)", "Origin: http://127.0.0.1:\(port)"],
            body: "hello")
        #expect(answer.hasPrefix("HTTP/1.1 200"))
        #expect(answer.hasSuffix("POST [\"a b\"] x+y hello"))
        #expect(answer.contains("Content-Security-Policy: default-src 'none'"))
        #expect(try ask(port, ["GET /\(token)/ HTTP/1.1", "Host: evil.example"]).hasPrefix("HTTP/1.1 421"))
        #expect(try ask(port, ["GET / HTTP/1.1", "Host: 127.0.0.1:\(port)"]).hasPrefix("HTTP/1.1 403"))
        #expect(
            try ask(port, ["GET /\(token)/ HTTP/1.1", "Host: 127.0.0.1:\(port)", "Host: evil.example"]).hasPrefix(
                "HTTP/1.1 4"))
    }

    @Test("The address that a program is given leads this user's programs to the secret one, as other users cannot")
    func ownAddress() throws {
        let server = try LoopbackServer { _, _ in HTTPResponse(text: "page") }
        defer { server.stop() }
        let (port, token) = (server.accessGuard.port, server.accessGuard.token)
        #expect(!server.ownAddress.contains(token))
        let path = try #require(URL(string: server.ownAddress)).path
        let host = "Host: 127.0.0.1:\(port)"
        let answer = try ask(port, ["GET \(path)/ HTTP/1.1", host])
        #expect(answer.hasPrefix("HTTP/1.1 303"))
        #expect(answer.contains("Location: /\(token)/\r\n"))
        #expect(try ask(port, ["GET \(path)/events HTTP/1.1", host]).hasPrefix("HTTP/1.1 403"))
        #expect(
            try ask(port, ["GET \(path)/ HTTP/1.1", host, "Origin: http://evil.example"]).hasPrefix("HTTP/1.1 403"))
        let table = """
              sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
               0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 1 1 0 100
               1: 0100007F:C350 0200007F:1F90 01 00000000:00000000 00:00000000 00000000  1001        0 2 1 0 20
               2: 0100007F:C350 0100007F:1F90 01 00000000:00000000 00:00000000 00000000  1002        0 3 1 0 20
            """
        #expect(ConnectionOwner.user(in: table, from: 50000, to: 8080) == 1002)
        #expect(ConnectionOwner.user(in: table, from: 50001, to: 8080) == nil)
    }

    @Test("Work for a client that leaves is stopped, and not for one that waits")
    func leaving() throws {
        let (hasBegun, isStopped) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let server = try LoopbackServer { request, _ in
            let isQuick = request.path.first == "quick"
            let result = request.client?.whileWaiting(stop: { isStopped.signal() }) {
                hasBegun.signal()
                return isQuick ? DispatchTimeoutResult.success : isStopped.wait(timeout: .now() + 20)
            }
            if !isQuick, result == .success { isStopped.signal() }
            return HTTPResponse(text: "done")
        }
        defer { server.stop() }
        let (port, token) = (server.accessGuard.port, server.accessGuard.token)
        let lines = ["GET /\(token)/quick HTTP/1.1", "Host: 127.0.0.1:\(port)"]
        #expect(try ask(port, lines).hasSuffix("done"))
        #expect(isStopped.wait(timeout: .now() + 0.3) == .timedOut)
        hasBegun.wait()
        let client = Process()
        client.executableURL = URL(fileURLWithPath: "/bin/bash")
        let request = "GET /\(token)/ HTTP/1.1\\r\\nHost: 127.0.0.1:\(port)\\r\\n\\r\\n"
        client.arguments = ["-c", "exec 3<>/dev/tcp/127.0.0.1/\(port); printf '\(request)' >&3; read -t 20 <&3"]
        try client.run()
        hasBegun.wait()
        client.terminate()
        client.waitUntilExit()
        #expect(isStopped.wait(timeout: .now() + 20) == .success)
    }

    @Test("A stream is sent to its end")
    func stream() throws {
        let server = try LoopbackServer { _, _ in
            HTTPResponse(status: 200, type: "text/plain", body: .stream(Numbers()))
        }
        defer { server.stop() }
        let (port, token) = (server.accessGuard.port, server.accessGuard.token)
        let answer = try ask(port, ["GET /\(token)/ HTTP/1.0", "Host: 127.0.0.1:\(port)"])
        #expect(answer.hasSuffix("\n999\n1000\n"))
    }

    @Test("A stream that cannot go on breaks off, so that what came does not look like all of it")
    func broken() throws {
        struct Broken: HTTPStream {
            struct Failure: Error {}
            private let numbers = Numbers()

            func next() throws -> Data? {
                guard let piece = numbers.next(), piece != Data("500\n".utf8) else { throw Failure() }
                return piece
            }

            func cancel() {}
        }
        let server = try LoopbackServer { request, _ in
            let stream: any HTTPStream = request.path == ["whole"] ? Numbers() : Broken()
            return HTTPResponse(status: 200, type: "text/plain", body: .stream(stream))
        }
        defer { server.stop() }
        func answer(_ name: String) throws -> String {
            try ask(
                server.accessGuard.port,
                ["GET /\(server.accessGuard.token)/\(name) HTTP/1.1", "Host: 127.0.0.1:\(server.accessGuard.port)"])
        }
        #expect(try answer("whole").hasSuffix("\r\n0\r\n\r\n"), "the end of a body in pieces")
        #expect(try !answer("broken").hasSuffix("\r\n0\r\n\r\n"))
    }

    @Test("What is encoded twice is decoded once, and a slash in a name stays a slash")
    func encoded() throws {
        let server = try LoopbackServer { request, _ in
            HTTPResponse(text: "\(request.path) \(request.query["q"] ?? "") \(request.query["a&b"] ?? "")")
        }
        defer { server.stop() }
        let answer = try ask(
            server.accessGuard.port,
            [
                "GET /\(server.accessGuard.token)/a%2Fb/50%2541?q=x+y%2B%2541%26&a%26b=%3D= HTTP/1.1",
                "Host: 127.0.0.1:\(server.accessGuard.port)",
            ])
        #expect(answer.hasSuffix("[\"a/b\", \"50%41\"] x y+%41& =="))
    }

    @Test("A port that is taken is reported")
    func taken() throws {
        let server = try LoopbackServer { _, _ in HTTPResponse(text: "") }
        defer { server.stop() }
        let error = #expect(throws: LoopbackServer.StartFailure.self) {
            try LoopbackServer(port: server.accessGuard.port) { _, _ in HTTPResponse(text: "") }
        }
        #expect(error?.description.contains("port \(server.accessGuard.port)") == true)
    }

    private final class Part: HTTPStream, @unchecked Sendable {
        // @unchecked Sendable: one thread reads it.
        private var data: Data?

        init(_ data: Data) { self.data = data }

        func next() -> Data? {
            defer { data = nil }
            return data
        }

        func cancel() {}
    }

    @Test("A large part of a stream is handed out without being copied for each buffer", .timeLimit(.minutes(1)))
    func largePart() throws {
        let part = Data((0..<8_000_000).map { UInt8(truncatingIfNeeded: $0) })
        let stream = StreamInUse(Part(part))
        var buffer = [UInt8](repeating: 0, count: 16)
        var (total, last) = (0, UInt8(0))
        while let count = try buffer.withUnsafeMutableBytes({ try stream.read(into: $0) }) {
            total += count
            last = buffer[count - 1]
        }
        #expect(total == part.count)
        #expect(last == part.last)
    }
}
