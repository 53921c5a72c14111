import Foundation

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
