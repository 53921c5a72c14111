/// Relative addresses of arbitrary texts, percent-encoded.
public enum Address {
    /// A path and a query, both encoded: `object/Book/3?where=price%20%3E%203`.
    ///
    /// - Parameters:
    ///   - path: the components of the path.
    ///   - query: names with values; those without a value are left out.
    /// - Returns: the address.
    public static func relative(_ path: [String], _ query: [(String, String?)] = []) -> String {
        let items = query.compactMap { name, value in value.map { "\(encoded(name))=\(encoded($0))" } }
        return path.map(encoded).joined(separator: "/") + (items.isEmpty ? "" : "?" + items.joined(separator: "&"))
    }

    /// A text as a component of an address, percent-encoded.
    ///
    /// - Parameter text: any text.
    /// - Returns: the text, encoded.
    public static func encoded(_ text: String) -> String {
        // A browser would resolve a component `.` or `..`.
        let mayHaveDots = !text.allSatisfy { $0 == "." }
        return text.utf8.reduce(into: "") { result, byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "~"):
                result.unicodeScalars.append(Unicode.Scalar(byte))
            case UInt8(ascii: ".") where mayHaveDots: result.append(".")
            default:
                let digits = String(byte, radix: 16, uppercase: true)
                result += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            }
        }
    }
}
