import Foundation

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
