import Foundation

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
