import Foundation

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// An element of a source file, with its place for error messages.
struct SourceElement {
    let name: String
    var attributes: [String: String]
    /// 0 if the file has no lines.
    let line: Int
    var children: [SourceElement] = []

    /// The children of one name, in order.
    func children(named name: String) -> [SourceElement] { children.filter { $0.name == name } }

    /// The defects of files, by the error numbers of libxml2.
    private static let reasons = [
        4: "it is empty or does not begin with an element",
        5: "an element does not end where it should, or something follows the last one",
        22: "an entity such as &amp; is not complete", 26: "it uses an entity that is not defined",
        38: "a “<” stands in an attribute's value", 39: "the value of an attribute has no quotes",
        40: "the value of an attribute has no end", 42: "an element has an attribute twice",
        57: "the declaration in its first line has no end", 64: "its declaration is not at the very start",
        65: "a space is missing between two attributes", 68: "a name is missing", 73: "an element has no “>”",
        76: "an end tag does not match its start tag", 77: "it ends before its elements do",
    ]

    /// Reads the root element of an XML file.
    ///
    /// - Throws: `ModelFileError` with the line of the defect.
    static func root(of data: Data) throws -> SourceElement {
        if let reason = XMLRefusal.reason(against: data) {
            throw ModelFileError(.corrupt, reason: "\(reason), unlike what Xcode writes")
        }
        guard !data.isEmpty else { throw ModelFileError(.corrupt, reason: "it is empty") }
        let reader = SourceElementReader()
        let parser = XMLParser(ofAnySize: data)
        parser.delegate = reader
        guard parser.parse(), let root = reader.root else {
            let code = (parser.parserError as NSError?)?.code ?? 0
            let reason = reader.failure ?? reasons[code] ?? "error \(code) of libxml2"
            throw ModelFileError(
                .corrupt, line: max(parser.lineNumber, 1), reason: "the XML is damaged: \(reason)")
        }
        return root
    }
}

/// Collects the elements that the parser reports.
private final class SourceElementReader: NSObject, XMLParserDelegate {
    private(set) var root: SourceElement?
    private(set) var failure: String?
    private var open: [SourceElement] = []
    /// Model files nest five levels deep.
    private static let maximumDepth = 64

    func parser(
        _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?, qualifiedName: String?,
        attributes: [String: String]
    ) {
        guard open.count < Self.maximumDepth else {
            failure = "elements nest deeper than \(Self.maximumDepth) levels"
            parser.abortParsing()
            return
        }
        open.append(SourceElement(name: elementName, attributes: attributes, line: parser.lineNumber))
    }

    func parser(
        _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName: String?
    ) {
        guard let element = open.popLast() else { return }
        if open.isEmpty {
            root = element
        } else {
            open[open.count - 1].children.append(element)
        }
    }
}

#if canImport(FoundationXML)
    import FoundationXML
#endif

extension XMLParser {
    /// A parser of data of any size that does not load external entities.
    ///
    /// The parser reads a stream, since libxml2 refuses more than 10,000,000 bytes at once.
    ///
    /// - Parameter data: the XML.
    convenience init(ofAnySize data: Data) {
        self.init(stream: InputStream(data: data))
        shouldResolveExternalEntities = false
    }
}
