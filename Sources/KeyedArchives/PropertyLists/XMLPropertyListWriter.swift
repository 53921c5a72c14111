import Foundation
import Ordering

extension PropertyList {
    /// The list as XML, in the layout of Foundation's: an element a line, a tab a level, keys sorted.
    ///
    /// Foundation's own writer takes no arrays where it is linked statically.
    package func xmlData() -> Data {
        var text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
            <plist version="1.0">

            """
        append(to: &text, margin: "")
        text += "</plist>\n"
        return Data(text.utf8)
    }

    private func append(to text: inout String, margin: String) {
        switch self {
        case .boolean(let value): text += "\(margin)<\(value)/>\n"
        case .integer(let value): text += "\(margin)<integer>\(value)</integer>\n"
        case .unsignedInteger(let value): text += "\(margin)<integer>\(value)</integer>\n"
        case .real(let value): text += "\(margin)<real>\(Self.text(of: value))</real>\n"
        case .date(let value): text += "\(margin)<date>\(value.ISO8601Format())</date>\n"
        case .data(let value):
            text += "\(margin)<data>\n\(margin)\(value.base64EncodedString())\n\(margin)</data>\n"
        case .string(let value): text += "\(margin)<string>\(Self.escaped(value))</string>\n"
        case .uid(let value):
            PropertyList.dictionary(["CF$UID": .integer(Int64(value))]).append(to: &text, margin: margin)
        case .array(let values):
            if values.isEmpty {
                text += "\(margin)<array/>\n"
                return
            }
            text += "\(margin)<array>\n"
            for value in values { value.append(to: &text, margin: margin + "\t") }
            text += "\(margin)</array>\n"
        case .dictionary(let fields):
            if fields.isEmpty {
                text += "\(margin)<dict/>\n"
                return
            }
            text += "\(margin)<dict>\n"
            for (key, value) in fields.ordered(by: { $0.key < $1.key }) {
                text += "\(margin)\t<key>\(Self.escaped(key))</key>\n"
                value.append(to: &text, margin: margin + "\t")
            }
            text += "\(margin)</dict>\n"
        }
    }

    /// A number as a reader of property lists takes it.
    private static func text(of value: Double) -> String {
        if value.isNaN { return "nan" }
        if value.isInfinite { return value < 0 ? "-infinity" : "+infinity" }
        return "\(value)"
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
            .replacing("\r", with: "&#13;")
    }
}
