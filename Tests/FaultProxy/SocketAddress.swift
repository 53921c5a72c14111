import Foundation

#if canImport(Glibc)
    import Glibc
#endif

/// Where somebody listens on this machine.
package enum SocketAddress: Sendable, Equatable {
    case port(UInt16)
    case file(String)

    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    package func listen() throws -> Int32 {
        let descriptor = try open()
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
        guard withAddress({ bind(descriptor, $0, $1) }) == 0, Glibc.listen(descriptor, 128) == 0 else {
            let reason = String(cString: strerror(errno))
            close(descriptor)
            throw Failure(description: "nothing can be listened to at \(self): \(reason)")
        }
        return descriptor
    }

    package func connect() throws -> Int32 {
        let descriptor = try open()
        guard withAddress({ Glibc.connect(descriptor, $0, $1) }) == 0 else {
            close(descriptor)
            throw Failure(description: "nobody listens at \(self)")
        }
        return descriptor
    }

    private func open() throws -> Int32 {
        let family: Int32
        switch self {
        case .port: family = AF_INET
        case .file: family = AF_UNIX
        }
        let descriptor = socket(family, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw Failure(description: "no socket could be made") }
        if case .port = self {
            var yes: Int32 = 1
            setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
        }
        return descriptor
    }

    private func withAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32 {
        switch self {
        case .port(let port):
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
            return withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        case .file(let path):
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { target in
                for (index, byte) in path.utf8.prefix(target.count - 1).enumerated() { target[index] = byte }
            }
            return withUnsafePointer(to: &address) {
                $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
        }
    }
}
