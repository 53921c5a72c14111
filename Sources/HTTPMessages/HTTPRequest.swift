import Foundation

/// A request, as a value.
public struct HTTPRequest: Sendable {
    /// `GET`, `POST`.
    public var method: String
    /// The components of the path, decoded: `/object/Book/3` is `object`, `Book`, `3`.
    public var path: [String]
    /// The query, decoded.
    public var query: HTTPFields
    /// The headers by their lowercased names.
    public var headers: [String: String]
    /// The body.
    public var body: Data
    /// The client, if it is known.
    public var client: (any HTTPClient)?

    /// Creates a request.
    ///
    /// - Parameters:
    ///   - method: the method, in capitals.
    ///   - target: the path, with its query if there is one, as in the first line of a request.
    ///   - headers: the headers by their lowercased names.
    ///   - body: the body.
    public init(_ method: String, _ target: String, headers: [String: String] = [:], body: Data = Data()) {
        let parts = target.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let path = parts.first.map { $0.split(separator: "/", omittingEmptySubsequences: true) } ?? []
        self.method = method
        self.path = path.map { HTTPFields.decoded($0, plusIsSpace: false) }
        query = HTTPFields(encoded: parts.count > 1 ? String(parts[1]) : "")
        self.headers = headers
        self.body = body
    }

    /// Parses the body as a form.
    ///
    /// - Returns: the form; it is empty if the body is.
    public func readForm() -> SentForm { SentForm(body, type: headers["content-type"]) }
}
