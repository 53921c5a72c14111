import Foundation

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// An element of a source file, with its place for error messages.
struct SourceElement {
    let name: String
    let attributes: [String: String]
    let line: Int
    var children: [SourceElement] = []

    /// The children of one name, in order.
    func children(named name: String) -> [SourceElement] { children.filter { $0.name == name } }

    /// Reads the root element of an XML file.
    ///
    /// - Throws: `ModelFileError` with the line where the XML is wrong.
    static func root(of data: Data) throws -> SourceElement {
        let reader = SourceElementReader()
        let parser = XMLParser(data: data)
        parser.shouldResolveExternalEntities = false
        parser.delegate = reader
        guard parser.parse(), let root = reader.root else {
            let reason =
                reader.failure ?? parser.parserError.map { "\($0.localizedDescription)" } ?? "it is no XML file"
            throw ModelFileError(.corrupt, line: max(parser.lineNumber, 1), reason: "the XML is damaged: \(reason)")
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
