import Foundation

/// Decides which XML is not passed to Foundation's parser.
///
/// On Linux, that parser crashes the program on declarations in a document type and on processing instructions without
/// content. Neither models nor stores contain them, and an `<!ENTITY` could expand without bound.
package enum XMLRefusal {
    /// The first forbidden content; nil if the parser may have the bytes. A document type itself, as in Apple's stores,
    /// is allowed.
    package static func reason(against data: Data) -> String? {
        // Names that are not valid UTF-8 crash the program as well.
        guard String(validating: data, as: UTF8.self) != nil else { return "it is not UTF-8" }
        guard !data.contains(0) else { return "it contains a byte 0, so it is not XML file" }
        // Compares bytes: characters would combine with a mark that follows.
        func has(_ text: String, from start: Int = 0) -> Bool {
            data.range(of: Data(text.utf8), in: data.startIndex + start..<data.endIndex) != nil
        }
        for declaration in ["<!ENTITY", "<!ATTLIST", "<!NOTATION", "<!ELEMENT"] where has(declaration) {
            return "it has a declaration \(declaration)…> of its own"
        }
        // The first line may be in the form of a processing instruction: `<?xml version="1.0"?>`. Some editors put a
        // byte order mark before it.
        let mark = Data("\u{FEFF}".utf8)
        let start = data.starts(with: mark) ? mark.count : 0
        let isDeclared = ["<?xml ", "<?xml\t", "<?xml\n", "<?xml\r"].contains {
            data.dropFirst(start).starts(with: Data($0.utf8))
        }
        if isDeclared, let encoding = otherEncoding(data.dropFirst(start)) {
            return "it is in the encoding \(encoding); UTF-8 expected"
        }
        return has("<?", from: isDeclared ? start + 2 : 0) ? "it has a processing instruction, <?…?>" : nil
    }

    /// What an XML declaration says about the encoding, unless it is UTF-8 or a part of it: the parser would read other
    /// characters than those that are checked here.
    private static func otherEncoding(_ data: Data) -> String? {
        let end = data.range(of: Data("?>".utf8))?.lowerBound ?? data.endIndex
        let declaration = String(decoding: data[data.startIndex..<end], as: UTF8.self)
        guard let word = declaration.range(of: "encoding") else { return nil }
        let text = declaration[word.upperBound...].trimmingCharacters(in: CharacterSet(charactersIn: " \t\r\n=\"'"))
        let name = text.prefix { !$0.isWhitespace && $0 != "\"" && $0 != "'" }
        return ["utf-8", "utf8", "us-ascii", "ascii"].contains(name.lowercased()) ? nil : "“\(name.prefix(40))”"
    }
}
