import Foundation

#if canImport(FoundationXML)
    import FoundationXML
#endif

/// Reads the XML of a store: `<database>` with `<databaseInfo>` and an `<object>` for each object.
package enum XMLStoreReader {
    /// Whether a file is the XML of a store, by its first bytes: its document type, or its first element, is
    /// `database`.
    package static func reads(fileThatBegins start: Data) -> Bool {
        var rest = Substring(String(decoding: start, as: UTF8.self))
        if rest.first == "\u{FEFF}" { rest.removeFirst() }
        func skip(_ opening: String, _ closing: String) -> Bool {
            rest = rest.drop(while: \.isWhitespace)
            guard rest.hasPrefix(opening), let end = rest.range(of: closing) else { return false }
            rest = rest[end.upperBound...]
            return true
        }
        while skip("<?", "?>") || skip("<!--", "-->") {}
        return ["<!DOCTYPE database", "<database"].contains { opening in
            let next = rest.dropFirst(opening.count).first
            return rest.hasPrefix(opening) && next.map { $0.isWhitespace || "/>[".contains($0) } ?? false
        }
    }

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - data: the content of the file.
    ///   - showingAll: whether tools show the file: the types of attributes and the ends of relationships are read,
    ///     too, and what is left of a damaged file.
    /// - Returns: the metadata and all objects.
    /// - Throws: the reason why it is no such file, with the line.
    package static func document(of data: Data, showingAll: Bool = false) throws -> StoreDocument {
        if let reason = XMLRefusal.reason(against: data) { throw StoreDocument.Failure(reason: reason) }
        let text = String(decoding: data, as: UTF8.self)
        let handler = Handler(isShowingAll: showingAll)
        let parser = XMLParser(ofAnySize: data)
        parser.delegate = handler
        let isComplete = parser.parse()
        var document = handler.document
        if let damage = handler.damage(isComplete: isComplete) {
            let reason = "line \(max(parser.lineNumber, 1)): \(damage)"
            guard showingAll, !document.objects.isEmpty else { throw StoreDocument.Failure(reason: reason) }
            document.defects.append("the file is damaged in \(reason), and not read from there on")
        }
        do { document.metadata = try metadata(in: text) } catch {
            guard showingAll else { throw error }
            document.missingMetadata = (error as? StoreDocument.Failure)?.reason ?? "they are damaged: \(error)"
        }
        document.hasPlainText = !XMLStoreText.isEscaped(in: document)
        document.metadata[XMLStoreText.escapesKey] = nil
        if !document.hasPlainText { document.decodeTexts() }
        document.metadata["NSStoreType"] = "XML"
        document.metadata["NSStoreUUID"] = handler.uuid.isEmpty ? StoreDocument.uuid(of: data) : handler.uuid
        return document
    }

    /// The property list inside `<metadata>`; empty if that is empty.
    private static func metadata(in text: String) throws -> [String: Any] {
        var place = text.startIndex
        func next(_ mark: String) -> Range<String.Index>? { text.range(of: mark, range: place..<text.endIndex) }
        while let comment = next("<!--"), comment.lowerBound < next("<metadata>")?.lowerBound ?? text.startIndex {
            place = comment.upperBound
            place = next("-->")?.upperBound ?? text.endIndex
        }
        guard let start = next("<metadata>"),
            let end = text.range(of: "</metadata>", range: start.upperBound..<text.endIndex)
        else { return [:] }
        let list = text[start.upperBound..<end.lowerBound].trimmingCharacters(in: .whitespacesAndNewlines)
        if list.isEmpty { return [:] }
        let data = Data("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\(list)".utf8)
        guard let object = try PropertyList.foundationObject(of: data) else {
            throw StoreDocument.Failure(reason: "its metadata are not a property list")
        }
        if let dictionary = object as? [String: Any] { return dictionary }
        throw StoreDocument.Failure(reason: "its metadata are not a dictionary")
    }

    /// Collects what the parser reports.
    private final class Handler: NSObject, XMLParserDelegate {
        private(set) var document = StoreDocument()
        private(set) var uuid = ""
        private(set) var isDatabase = false
        /// Whether the root element has ended; the parser accepts a file that ends before.
        private(set) var isClosed = false
        private(set) var failure: String?
        private var path: [String] = []
        private var text = ""
        private var object: StoreDocument.Object?
        private var attributeName = ""
        private let isShowingAll: Bool

        init(isShowingAll: Bool) { self.isShowingAll = isShowingAll }

        func parser(
            _ parser: XMLParser, didStartElement elementName: String, namespaceURI: String?, qualifiedName: String?,
            attributes: [String: String]
        ) {
            path.append(elementName)
            text = ""
            // Property lists in the metadata may nest deeply, but not without end.
            if path.count > 512 { return stop(parser, "elements nest deeper than 512 levels") }
            switch path {
            case ["database"]: isDatabase = true
            case ["database", "object"]: startObject(parser, attributes)
            case ["database", "object", "attribute"]:
                attributeName = attributes["name"] ?? ""
                if attributeName.isEmpty {
                    guard isShowingAll else { return stop(parser, "an attribute has no name") }
                    attributeName = StoreDocument.unnamed
                }
                if isShowingAll, let object {
                    // A type that is not known has the text that the file has.
                    let type = attributes["type"].flatMap(NSAttributeType.init(xmlName:)) ?? .stringAttributeType
                    document.declarations.add(type, attributeName, of: object.entityName)
                }
            case ["database", "object", "relationship"]: addRelationship(parser, attributes)
            default: break
            }
        }

        func parser(_ parser: XMLParser, foundCharacters string: String) { text += string }

        func parser(_ parser: XMLParser, foundCDATA CDATABlock: Data) {
            text += String(validating: CDATABlock, as: UTF8.self) ?? ""
        }

        func parser(
            _ parser: XMLParser, didEndElement elementName: String, namespaceURI: String?, qualifiedName: String?
        ) {
            switch path {
            case ["database", "databaseInfo", "UUID"]: uuid = text.trimmingCharacters(in: .whitespacesAndNewlines)
            case ["database", "databaseInfo", "nextObjectID"]:
                document.lastKey = Int64(text.trimmingCharacters(in: .whitespacesAndNewlines)) ?? document.lastKey
            case ["database", "object", "attribute"]:
                object?.attributes.append((attributeName, .text(text)))
            case ["database", "object"]:
                if let object { document.objects.append(object) }
                object = nil
            default: break
            }
            path.removeLast()
            if path.isEmpty { isClosed = true }
        }

        private func startObject(_ parser: XMLParser, _ attributes: [String: String]) {
            guard let name = attributes["type"], let key = Self.key(attributes["id"] ?? "") else {
                return stop(parser, "an object has no type, or no id like z102")
            }
            object = StoreDocument.Object(entityName: shown(name), key: key)
        }

        private func shown(_ name: String) -> String {
            isShowingAll && name.isEmpty ? StoreDocument.unnamed : name
        }

        /// What is wrong with the file, if it is not one.
        func damage(isComplete: Bool) -> String? {
            if let failure { return failure }
            guard isComplete, isClosed else { return "the XML is not well formed" }
            return isDatabase ? nil : "its root element is not <database>"
        }

        private func addRelationship(_ parser: XMLParser, _ attributes: [String: String]) {
            let references = (attributes["idrefs"] ?? "").split(separator: " ")
            let keys = references.compactMap { Self.key($0) }
            guard let name = attributes["name"].map(shown), keys.count == references.count else {
                return stop(parser, "a relationship has no name, or idrefs that are not like z102")
            }
            object?.relationships.append((name, keys))
            guard isShowingAll, let object else { return }
            let declared = StoreDeclarations.Relationship(
                bounds: attributes["type"] ?? "", destination: attributes["destination"])
            document.declarations.add(declared, name, of: object.entityName)
        }

        private static func key(_ text: some StringProtocol) -> Int64? {
            guard text.first == "z", let key = Int64(text.dropFirst()), key > 0 else { return nil }
            return key
        }

        private func stop(_ parser: XMLParser, _ reason: String) {
            failure = reason
            parser.abortParsing()
        }
    }
}

extension StoreDocument {
    fileprivate mutating func decodeTexts() {
        for object in objects.indices {
            for attribute in objects[object].attributes.indices {
                guard case .text(let text) = objects[object].attributes[attribute].value else { continue }
                objects[object].attributes[attribute].value = .text(XMLStoreText.decoded(text))
            }
        }
    }
}

extension NSAttributeType {
    private static let xmlNames: [(type: NSAttributeType, name: String)] = [
        (.integer16AttributeType, "int16"), (.integer32AttributeType, "int32"), (.integer64AttributeType, "int64"),
        (.decimalAttributeType, "decimal"), (.doubleAttributeType, "double"), (.floatAttributeType, "float"),
        (.stringAttributeType, "string"), (.booleanAttributeType, "bool"), (.dateAttributeType, "date"),
        (.binaryDataAttributeType, "binary"), (.UUIDAttributeType, "uuid"), (.URIAttributeType, "uri"),
        (.transformableAttributeType, "transformable"), (.compositeAttributeType, "composite"),
    ]

    /// The name of the type in XML stores.
    package var xmlName: String { Self.xmlNames.first { $0.type == self }?.name ?? "undefined" }

    /// The type with a name in XML stores; nil for an unknown name.
    package init?(xmlName: String) {
        guard let type = Self.xmlNames.first(where: { $0.name == xmlName })?.type else { return nil }
        self = type
    }
}
