import CLibPQ
import Foundation

/// The error of a connection that could not be opened. The library gives no state for it.
struct ConnectionFailure {
    private(set) var error: PostgresError

    /// The states of the cases that are told apart, by a part of the server's message.
    private static let states = [
        ("password authentication failed", "28P01"), ("no password supplied", "28P01"),
        ("the database system is", "57P03"), ("too many clients", "53300"), ("too many connections", "53300"),
        ("connection slots are reserved", "53300"),
    ]
    private static let unknown = "08001"

    /// - Parameters:
    ///   - text: the library's message, with a line for each host.
    ///   - password: the password, which the error does not repeat.
    init(_ text: String, password: String?) {
        var message = text.split(separator: "\n").joined(separator: "; ")
        if let password, !password.isEmpty { message = message.replacing(password, with: "…") }
        var state = Self.states.first { message.contains($0.0) }?.1
        if message.contains("does not exist") {
            if message.contains("role \"") { state = "28000" }
            if message.contains("database \"") { state = "3D000" }
        }
        error = PostgresError(state: state ?? Self.unknown, message: message)
    }

    /// Whether the server has answered with a message that is none of those that are known.
    ///
    /// Two blanks follow the severity in a server's message in each language; the library's own messages have none.
    var isInAnotherLanguage: Bool { error.state == Self.unknown && error.message.contains(":  ") }

    /// Connects once more, to receive the state of the error in place of its message.
    ///
    /// - Parameter handle: the connection that could not be opened.
    /// - Returns: whether it is open this time.
    mutating func connectsAgain(_ handle: OpaquePointer) -> Bool {
        PQsetErrorVerbosity(handle, PQERRORS_SQLSTATE)
        defer { PQsetErrorVerbosity(handle, PQERRORS_DEFAULT) }
        PQreset(handle)
        guard PQstatus(handle) != CONNECTION_OK else { return true }
        let found = String(cString: PQerrorMessage(handle)).split(separator: "\n").compactMap(Self.state)
        // Of several hosts, the one counts that will not let the program in later, either.
        let known = ["3D000", "28000"] + Self.states.map(\.1)
        error.state = known.first(where: found.contains) ?? found.first ?? error.state
        return false
    }

    private static func state(in line: Substring) -> String? {
        guard let mark = line.range(of: ":  ", options: .backwards) else { return nil }
        let state = line[mark.upperBound...]
        let isState = state.utf8.count == 5 && state.allSatisfy { $0.isASCII && ($0.isNumber || $0.isUppercase) }
        return isState ? String(state) : nil
    }
}
