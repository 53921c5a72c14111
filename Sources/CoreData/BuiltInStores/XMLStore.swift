import Foundation
import ModelFiles

/// A store in one XML file, in the format of Core Data on macOS, which is also that of `xcmapping.xml`.
package final class XMLStore: DocumentStore, @unchecked Sendable {
    // @unchecked Sendable: used only under the coordinator's lock, like its superclass.

    package override var type: String { NSXMLStoreType }

    override class var formatName: String { "XML" }

    override class func fileName(ofEntity name: String) -> String { name.uppercased() }

    override class func fileName(ofProperty name: String) -> String { name.lowercased() }

    override class func document(of data: Data) throws -> StoreDocument { try XMLStoreReader.document(of: data) }

    override class func replacingMetadata(
        of document: StoreDocument, in data: Data, by metadata: [String: Any]
    ) throws -> Data {
        try XMLStoreWriter.replacingMetadata(in: data, by: metadata, isPlain: document.hasPlainText)
            ?? super.replacingMetadata(of: document, in: data, by: metadata)
    }

    override class func data(
        of document: StoreDocument, entities: [String: EntityLayout], order: PlaceOrder
    ) throws -> Data {
        try XMLStoreWriter.data(of: document, entities: entities)
    }
}

/// Writes the XML of a store in Core Data's layout.
enum XMLStoreWriter {
    /// The bytes of a file.
    ///
    /// - Parameters:
    ///   - document: the store's metadata and objects.
    ///   - entities: the entities, by the names that the document uses. They provide what the document does not say
    ///     about the ends of relationships.
    /// - Returns: the text of the file, in UTF-8.
    /// - Throws: the property whose text XML cannot represent.
    static func data(of document: StoreDocument, entities: [String: EntityLayout]) throws -> Data {
        var text = """
            <?xml version="1.0" standalone="yes"?>
            <!DOCTYPE database SYSTEM "file:///System/Library/DTDs/CoreData.dtd">

            <database>
                <databaseInfo>
                    <version>134481920</version>
                    <UUID>\(try content(document.metadata[NSStoreUUIDKey] as? String ?? ""))</UUID>
                    <nextObjectID>\(document.lastKey)</nextObjectID>
                    <metadata>
            \(try metadata(document.metadata))
                    </metadata>
                </databaseInfo>

            """
        for object in document.objects { try append(object, entities[object.entityName], to: &text) }
        text += "</database>\n"
        return Data(text.utf8)
    }

    /// The bytes of a file with other metadata.
    ///
    /// - Parameters:
    ///   - data: the file.
    ///   - metadata: the new metadata, with the UUID.
    ///   - isPlain: whether the values of the file have no escapes.
    /// - Returns: the text of the file, in UTF-8; `nil` if the file has no elements for metadata.
    /// - Throws: the text in the metadata that XML cannot represent.
    static func replacingMetadata(
        in data: Data, by metadata: [String: Any], isPlain: Bool
    ) throws -> Data? {
        var text = String(decoding: data, as: UTF8.self)
        let uuid = metadata[NSStoreUUIDKey] as? String ?? ""
        guard replace("UUID", by: try content(uuid), in: &text),
            replace("metadata", by: "\n\(try self.metadata(metadata, isPlain: isPlain))\n        ", in: &text)
        else { return nil }
        return Data(text.utf8)
    }

    /// Replaces the content of the first element of a name.
    private static func replace(_ element: String, by content: String, in text: inout String) -> Bool {
        guard let start = text.range(of: "<\(element)>"),
            let end = text.range(of: "</\(element)>", range: start.upperBound..<text.endIndex)
        else { return false }
        text.replaceSubrange(start.upperBound..<end.lowerBound, with: content)
        return true
    }

    private static func append(
        _ object: StoreDocument.Object, _ entity: EntityLayout?, to text: inout String
    ) throws {
        text += "    <object type=\"\(try value(object.entityName))\" id=\"z\(object.key)\">\n"
        for (name, value) in object.attributes {
            let type = attribute(named: name, of: entity)?.type
            let content: String
            do { content = try self.content(XMLStoreText.encoded(string(value, type))) } catch {
                throw FileValues.Failure(reason: "“\(name)” of object \(object.key): \(error.reason)")
            }
            let typeName = type?.xmlName ?? value.xmlName
            text += "        <attribute name=\"\(try self.value(name))\" type=\"\(typeName)\">\(content)</attribute>\n"
        }
        for (name, destinations) in object.relationships {
            let relationship = entity?.relationships.first { $0.name.lowercased() == name }
            let isToMany = relationship?.isToMany ?? (destinations.count != 1)
            let minimum = relationship?.minCount ?? 0
            let mayLack = minimum == 0 && relationship?.isOptional == true
            let bounds =
                isToMany ? "\(minimum)/\(max(relationship?.maxCount ?? 0, 0))" : mayLack ? "0/1" : "1/1"
            text += "        <relationship name=\"\(try value(name))\" type=\"\(bounds)\""
            text += " destination=\"\(try value(relationship?.destination.name.uppercased() ?? ""))\""
            if !destinations.isEmpty {
                text += " idrefs=\"\(destinations.map { "z\($0)" }.joined(separator: " "))\""
            }
            text += "></relationship>\n"
        }
        text += "    </object>\n"
    }

    /// An attribute, or an element of a composite one, by the name that the document uses.
    private static func attribute(named name: String, of entity: EntityLayout?) -> AttributeLayout? {
        let parts = name.split(separator: ".").map(String.init)
        var attribute = entity?.slots.first { $0.name.lowercased() == parts.first }?.attribute
        for part in parts.dropFirst() { attribute = attribute?.elements.first { $0.name.lowercased() == part } }
        return attribute
    }

    private static func string(_ value: StoreDocument.FileValue, _ type: NSAttributeType?) -> String {
        switch value {
        case .text(let text): return text
        case .integer(let number): return "\(number)"
        case .data(let data): return data.base64EncodedString()
        case .double(let number):
            // Core Data writes dates with 20 decimal places; a number that would be changed by these is written in
            // full.
            let digits = String(format: "%.20f", number)
            return type == .dateAttributeType && Double(digits) == number ? digits : "\(number)"
        }
    }

    private static func metadata(_ metadata: [String: Any], isPlain: Bool = false) throws -> String {
        var list = metadata
        list[XMLStoreText.escapesKey] = isPlain ? nil : 1
        list[NSStoreUUIDKey] = nil
        list[NSStoreTypeKey] = nil
        let data: Data
        do { data = try PropertyList(foundationObject: list).xmlData() } catch {
            throw FileValues.Failure(reason: "its metadata are not a property list: \(error.description)")
        }
        let lines = String(decoding: data, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        // Without the declarations at the beginning.
        let body = lines.drop { !$0.hasPrefix("<plist") }
        return body.joined(separator: "\n").trimmingCharacters(in: .newlines)
    }

    /// The content of an element.
    private static func content(_ text: String) throws(FileValues.Failure) -> String {
        do { return try XMLText.content(text) } catch { throw failure(error) }
    }

    private static func value(_ text: String) throws(FileValues.Failure) -> String {
        do { return try XMLText.attributeValue(text) } catch { throw failure(error) }
    }

    private static func failure(_ refusal: XMLText.Refusal) -> FileValues.Failure {
        FileValues.Failure(reason: "\(refusal); keep such text in a binary or an SQLite store")
    }
}

extension StoreDocument.FileValue {
    /// The name of the type in XML stores, for a value whose attribute is unknown.
    fileprivate var xmlName: String {
        switch self {
        case .text: "string"
        case .integer: "int64"
        case .double: "double"
        case .data: "binary"
        }
    }
}
