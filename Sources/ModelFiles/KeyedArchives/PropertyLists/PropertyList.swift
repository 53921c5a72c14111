import Foundation

/// A property list as a value: the content of a binary property list (`bplist00`), including references between
/// archived objects (`UID`).
///
/// Shared parts of a file are shared in memory too, and the reader bounds depth and size, so that traversing a value
/// from the reader is always safe.
package enum PropertyList: Equatable, Sendable {
    case boolean(Bool)
    case integer(Int64)
    /// An integer above `Int64.max`; smaller ones are `.integer`.
    case unsignedInteger(UInt64)
    case real(Double)
    case date(Date)
    case data(Data)
    case string(String)
    /// A keyed archive's reference to an entry of its `$objects`.
    case uid(UInt32)
    case array([PropertyList])
    case dictionary([String: PropertyList])
}

extension PropertyList {
    /// The kind of the value, in the words of error messages.
    package var kind: String {
        switch self {
        case .boolean: "a boolean"
        case .integer, .unsignedInteger: "an integer"
        case .real: "a real number"
        case .date: "a date"
        case .data: "data"
        case .string: "a string"
        case .uid: "a reference"
        case .array: "an array"
        case .dictionary: "a dictionary"
        }
    }

    package var dictionaryValue: [String: PropertyList]? {
        if case .dictionary(let value) = self { return value }
        return nil
    }

    package var arrayValue: [PropertyList]? {
        if case .array(let value) = self { return value }
        return nil
    }

    package var stringValue: String? {
        if case .string(let value) = self { return value }
        return nil
    }

    package var dataValue: Data? {
        if case .data(let value) = self { return value }
        return nil
    }

    package var integerValue: Int64? {
        if case .integer(let value) = self { return value }
        return nil
    }
}

extension PropertyList {
    /// Reads a binary property list.
    ///
    /// - Parameters:
    ///   - data: the whole file, from `bplist00` to the trailer.
    ///   - limits: how deep and how large the list may be.
    /// - Throws: `PropertyListError` with the offset of the damage: a bad header or trailer, an offset or length
    ///   outside of the file, a list that contains itself, nesting or size beyond the limits, an unknown kind of
    ///   object.
    package init(binary data: Data, limits: PropertyListLimits = PropertyListLimits()) throws(PropertyListError) {
        var reader = try BinaryPropertyListReader(bytes: [UInt8](data), limits: limits)
        self = try reader.readRoot()
    }

    /// Whether the bytes begin like a binary property list.
    package static func isBinary(_ data: Data) -> Bool {
        data.starts(with: BinaryPropertyListLayout.header)
    }
}

extension PropertyList {
    /// The list as XML, in Foundation's layout: an element per line, a tab per level, keys sorted.
    ///
    /// Foundation's own writer does not accept arrays if it is linked statically.
    ///
    /// - Throws: `PropertyListError` with the path to a text that XML cannot hold.
    package func xmlData() throws(PropertyListError) -> Data {
        var text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">

            """
        try append(to: &text, margin: "", path: [])
        text += "</plist>\n"
        return Data(text.utf8)
    }

    private func append(to text: inout String, margin: String, path: [String]) throws(PropertyListError) {
        switch self {
        case .boolean(let value): text += "\(margin)<\(value)/>\n"
        case .integer(let value): text += "\(margin)<integer>\(value)</integer>\n"
        case .unsignedInteger(let value): text += "\(margin)<integer>\(value)</integer>\n"
        case .real(let value): text += "\(margin)<real>\(Self.text(of: value))</real>\n"
        case .date(let value): text += "\(margin)<date>\(value.ISO8601Format())</date>\n"
        case .data(let value):
            text += "\(margin)<data>\n\(margin)\(value.base64EncodedString())\n\(margin)</data>\n"
        case .string(let value): text += "\(margin)<string>\(try Self.escaped(value, path))</string>\n"
        case .uid(let value):
            try PropertyList.dictionary(["CF$UID": .integer(Int64(value))]).append(
                to: &text, margin: margin, path: path)
        case .array(let values):
            if values.isEmpty {
                text += "\(margin)<array/>\n"
                return
            }
            text += "\(margin)<array>\n"
            for (index, value) in values.enumerated() {
                try value.append(to: &text, margin: margin + "\t", path: path + ["\(index)"])
            }
            text += "\(margin)</array>\n"
        case .dictionary(let fields):
            if fields.isEmpty {
                text += "\(margin)<dict/>\n"
                return
            }
            text += "\(margin)<dict>\n"
            for (key, value) in fields.sorted(by: { $0.key < $1.key }) {
                text += "\(margin)\t<key>\(try Self.escaped(key, path))</key>\n"
                try value.append(to: &text, margin: margin + "\t", path: path + [key])
            }
            text += "\(margin)</dict>\n"
        }
    }

    /// A number in the form that readers of property lists accept.
    private static func text(of value: Double) -> String {
        if value.isNaN { return "nan" }
        if value.isInfinite { return value < 0 ? "-infinity" : "+infinity" }
        return "\(value)"
    }

    private static func escaped(_ text: String, _ path: [String]) throws(PropertyListError) -> String {
        do { return try XMLText.content(text) } catch {
            let place = path.isEmpty ? "at the top" : "at “\(path.joined(separator: "."))”"
            throw PropertyListError(offset: nil, reason: "the text \(place): \(error)")
        }
    }
}

/// A scalar of a property list as a key, for values that are written once however often they are used.
///
/// Strings are distinguished by their bytes: Swift's own equality would merge "é" and "e" followed by an accent.
enum UniqueScalar: Hashable {
    case boolean(Bool)
    case integer(Int64)
    case unsignedInteger(UInt64)
    case real(bits: UInt64)
    case date(bits: UInt64)
    case data(WholeData)
    case string([UInt8])
    case uid(UInt32)

    /// Nil for arrays and dictionaries.
    init?(_ value: PropertyList) {
        switch value {
        case .boolean(let value): self = .boolean(value)
        case .integer(let value): self = .integer(value)
        case .unsignedInteger(let value): self = .unsignedInteger(value)
        case .real(let value): self = .real(bits: value.bitPattern)
        case .date(let value): self = .date(bits: value.timeIntervalSinceReferenceDate.bitPattern)
        case .data(let value): self = .data(WholeData(value))
        case .string(let value): self = .string(Array(value.utf8))
        case .uid(let value): self = .uid(value)
        case .array, .dictionary: return nil
        }
    }
}

extension UniqueScalar {
    /// Data whose hash is that of all bytes: Foundation's is that of the first 80, which many pictures have in common,
    /// and then each is compared with all others.
    struct WholeData: Hashable {
        private let data: Data

        init(_ data: Data) { self.data = data }

        func hash(into hasher: inout Hasher) { data.withUnsafeBytes { hasher.combine(bytes: $0) } }
    }
}
