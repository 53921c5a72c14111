import Foundation
import Ordering

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
            for (key, value) in fields.ordered(by: { $0.key < $1.key }) {
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
