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

/// The content of a submitted form. The body, which may have many megabytes, is parsed once for fields and files.
public struct SentForm: Sendable {
    /// The fields, without files.
    public let fields: HTTPFields
    /// The uploaded files, by the names of their fields.
    public let files: [String: Data]

    /// - Parameters:
    ///   - body: the body of the request.
    ///   - type: the `Content-Type` of the request.
    init(_ body: Data, type: String?) {
        if let parts = type.flatMap({ MultipartForm(body, type: $0) }) {
            (fields, files) = (HTTPFields(parts.fields), parts.files)
        } else {
            (fields, files) = (HTTPFields(encoded: String(decoding: body, as: UTF8.self)), [:])
        }
    }
}

/// The content of a form with files (RFC 7578).
struct MultipartForm: Equatable {
    /// The text fields, in order.
    private(set) var fields: [HTTPFields.Item] = []
    /// The uploaded files, by the names of their fields; a field without a file is left out.
    private(set) var files: [String: Data] = [:]

    /// Nil for another type, and for a body that does not have the type.
    ///
    /// - Parameters:
    ///   - body: the body of the request.
    ///   - type: the `Content-Type` of the request.
    init?(_ body: Data, type: String) {
        guard let boundary = Self.parameter("boundary", of: type, "multipart/form-data"), !boundary.isEmpty else {
            return nil
        }
        let line = Data("--\(boundary)".utf8)
        // The first boundary has no line end before it, all others do.
        guard body.starts(with: line) else { return nil }
        let separator = Data("\r\n".utf8) + line
        var rest = body.dropFirst(line.count)
        while !rest.starts(with: Data("--".utf8)) {
            guard rest.starts(with: Data("\r\n".utf8)), let end = rest.range(of: separator) else { return nil }
            let part = rest[(rest.startIndex + 2)..<max(end.lowerBound, rest.startIndex + 2)]
            guard add(part) else { return nil }
            rest = rest[end.upperBound...]
        }
    }

    private mutating func add(_ part: Data) -> Bool {
        guard let gap = part.range(of: Data("\r\n\r\n".utf8)) else { return false }
        let headers = String(decoding: part[..<gap.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let disposition = headers.lazy.compactMap { header -> String? in
            let pair = header.split(separator: ":", maxSplits: 1)
            return pair.count == 2 && pair[0].lowercased() == "content-disposition" ? String(pair[1]) : nil
        }.first
        guard let disposition, let name = Self.parameter("name", of: disposition, "form-data") else { return false }
        let content = part[gap.upperBound...]
        if let file = Self.parameter("filename", of: disposition, "form-data") {
            // Browsers send a field without a file as one with an empty name and no bytes.
            if !file.isEmpty || !content.isEmpty { files[name] = Data(content) }
        } else {
            fields.append(HTTPFields.Item(name: name, value: String(decoding: content, as: UTF8.self)))
        }
        return true
    }

    /// A parameter of a header: `form-data; name="v.title"`. Browsers write quotation marks in names as `%22`.
    private static func parameter(_ name: String, of header: String, _ kind: String) -> String? {
        let parts = header.split(separator: ";").map { $0.trimmingCharacters(in: .whitespaces) }
        guard parts.first?.lowercased() == kind else { return nil }
        for part in parts.dropFirst() {
            let pair = part.split(separator: "=", maxSplits: 1)
            guard let key = pair.first, key.lowercased() == name else { continue }
            let value = pair.count == 2 ? String(pair[1]) : ""
            let plain =
                value.count > 1 && value.hasPrefix("\"") && value.hasSuffix("\"")
                ? value.dropFirst().dropLast() : value[...]
            return String(plain).replacing("%22", with: "\"").replacing("%0D%0A", with: "\n")
        }
        return nil
    }
}

/// The client of a request, which may leave before it is answered.
public protocol HTTPClient: Sendable {
    /// Whether it still waits for the answer.
    var isWaiting: Bool { get }

    /// Does work for the answer, and stops it if the client leaves meanwhile.
    ///
    /// - Parameters:
    ///   - stop: ends the work; called on another thread, perhaps several times, and never after `body` has returned.
    ///   - body: does the work.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws.
    func whileWaiting<Result>(
        stop: @escaping @Sendable () -> Void, _ body: () throws -> Result
    ) rethrows -> Result
}

/// The names and values of a query or form, in order. A name may occur several times.
public struct HTTPFields: Sendable, Equatable {
    /// The names and values, decoded.
    public private(set) var items: [Item] = []

    /// A name and its value.
    public struct Item: Sendable, Equatable {
        /// The name.
        public let name: String
        /// The value.
        public let value: String

        /// Creates a field.
        ///
        /// - Parameters:
        ///   - name: the name.
        ///   - value: its value.
        public init(name: String, value: String) { (self.name, self.value) = (name, value) }
    }

    /// Parses `name=value&name=value`.
    ///
    /// - Parameter text: the text, percent-encoded; a plus sign is a space.
    public init(encoded text: String) {
        items = text.split(separator: "&").map { part in
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            return Item(
                name: Self.decoded(pair[0], plusIsSpace: true),
                value: pair.count > 1 ? Self.decoded(pair[1], plusIsSpace: true) : "")
        }
    }

    /// Creates fields.
    ///
    /// - Parameter items: names with values, decoded.
    public init(_ items: [Item]) { self.items = items }

    /// All values of a name, in order.
    ///
    /// - Parameter name: the name.
    /// - Returns: the values; empty if the name does not occur.
    public func values(_ name: String) -> [String] { items.filter { $0.name == name }.map(\.value) }

    /// The first value of a name; nil if the name does not occur.
    ///
    /// - Parameter name: the name.
    public subscript(_ name: String) -> String? { items.first { $0.name == name }?.value }

    /// Removes the percent encoding. Bytes that are not UTF-8 become the replacement character.
    static func decoded(_ text: Substring, plusIsSpace: Bool) -> String {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let high = rest.first.flatMap(digit),
                let low = rest.dropFirst().first.flatMap(digit)
            {
                bytes.append(high << 4 | low)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(plusIsSpace && byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
