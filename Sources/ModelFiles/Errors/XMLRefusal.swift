import Foundation

/// Why XML is not handed to Foundation's parser.
///
/// On Linux that parser stops the program over declarations in a document type and over processing instructions without
/// content. Neither models nor stores have them; an `<!ENTITY` could grow without bound besides.
package enum XMLRefusal {
    /// What must not be there; nil when the parser may have the bytes. A document type itself, as Apple's stores have one, is
    /// no reason.
    package static func reason(against data: Data) -> String? {
        // Names that are no UTF-8 stop the program as well.
        guard String(validating: data, as: UTF8.self) != nil else { return "it is not UTF-8" }
        guard !data.contains(0) else { return "it contains a byte 0, so it is no XML file" }
        // Bytes are compared: characters would take a mark that follows as a part of the last one.
        func has(_ text: String, from start: Int = 0) -> Bool {
            data.range(of: Data(text.utf8), in: data.startIndex + start..<data.endIndex) != nil
        }
        for declaration in ["<!ENTITY", "<!ATTLIST", "<!NOTATION", "<!ELEMENT"] where has(declaration) {
            return "it has a declaration \(declaration)…> of its own"
        }
        // The first line may be one in form: `<?xml version="1.0"?>`. Some editors put a byte order mark before it.
        let mark = Data("\u{FEFF}".utf8)
        let start = data.starts(with: mark) ? mark.count : 0
        let isDeclared = data.dropFirst(start).starts(with: Data("<?xml ".utf8))
        return has("<?", from: isDeclared ? start + 2 : 0) ? "it has a processing instruction, <?…?>" : nil
    }
}
