import Foundation

/// What a browser asks for, as a value.
public struct HTTPRequest: Sendable {
    /// `GET`, `POST`.
    public var method: String
    /// The parts of the path, decoded: `/object/Book/3` is `object`, `Book`, `3`.
    public var path: [String]
    /// What stands behind the question mark, decoded.
    public var query: HTTPFields
    /// The headers by their names in small letters.
    public var headers: [String: String]
    /// What was sent along.
    public var body: Data

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - method: the method, in capitals.
    ///   - target: the path, with its query or without, as it stands in the first line of a request.
    ///   - headers: the headers by their names in small letters.
    ///   - body: what was sent along.
    public init(_ method: String, _ target: String, headers: [String: String] = [:], body: Data = Data()) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = parts.first.map { $0.split(separator: "/", omittingEmptySubsequences: true) } ?? []
        self.method = method
        self.path = path.map { HTTPFields.decoded($0, plusIsSpace: false) }
        query = HTTPFields(encoded: parts.count > 1 ? String(parts[1]) : "")
        self.headers = headers
        self.body = body
    }

    /// Reads the form that was sent, from its first byte to its last.
    ///
    /// - Returns: the form; without fields, where none was sent.
    public func readForm() -> SentForm { SentForm(body, type: headers["content-type"]) }
}
