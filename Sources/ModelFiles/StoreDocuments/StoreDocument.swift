import CompactCollections
import Foundation
import KeyedArchives

/// The content of an XML or binary store's file, as a value.
package struct StoreDocument {
    /// The metadata, with the UUID.
    package var metadata: [String: Any] = [:]
    /// The number of the most recent object.
    package var lastKey: Int64 = StoreDocument.firstKey
    package var objects: [Object] = []
    /// Whether the file is a binary one in the layout of Core Data on macOS.
    package var hasCoreDataLayout = false
    /// Whether the file is an XML one whose values have no escapes of Core Data's.
    package var hasPlainText = false
    /// The size of a binary file.
    package var byteCount = 0
    /// What the file says about properties. An XML file, which says it with every object, is asked only by tools.
    package var declarations = StoreDeclarations()
    /// What is damaged in the file, as sentences without their final periods; where nothing is to be left out, the rest
    /// is read.
    package var defects: [String] = []
    /// Why there are no metadata, as the end of a sentence; nil if there are.
    package var missingMetadata: String?

    /// The name of an entity or a property that has none in a damaged file.
    package static let unnamed = "unnamed"

    /// In metadata: the store has version hashes of Pippin's.
    package static let ownHashesKey = "PippinVersionHashes"

    /// Core Data's first object is number 102.
    package static let firstKey: Int64 = 101

    package init(metadata: [String: Any] = [:], lastKey: Int64 = StoreDocument.firstKey) {
        self.metadata = metadata
        self.lastKey = lastKey
    }

    /// The UUID of a store whose file names none: the same one for as long as the file has the same bytes.
    package static func uuid(of data: Data) -> String {
        var bytes = Array(SHA256.hash(data).prefix(16))
        // Version 8, whose bits RFC 9562 leaves to whoever makes it.
        bytes[6] = bytes[6] & 0x0f | 0x80
        bytes[8] = bytes[8] & 0x3f | 0x80
        return NSUUID(uuidBytes: bytes).uuidString
    }

    /// One object. Property names are those of the file.
    package struct Object {
        package var entityName: String
        package var key: Int64
        package var attributes: [(name: String, value: FileValue)] = []
        /// The values of all properties by place, in a file that does not name its attributes. `attributes` is empty
        /// until they are named.
        package var places: [ArchivedValue]?
        package var relationships: [(name: String, destinations: [Int64])] = []

        package init(entityName: String, key: Int64) {
            self.entityName = entityName
            self.key = key
        }
    }

    /// The value of an attribute in a file: XML has texts only, a binary file numbers and bytes too.
    package enum FileValue: Equatable {
        case text(String)
        case integer(Int64)
        case double(Double)
        case data(Data)
    }
}

extension StoreDocument {
    /// Why a file is no store document, or an object cannot be written into one: the end of a sentence.
    package struct Failure: Error {
        package let reason: String
        /// Whether the model lacks what the file has, as another version of it may.
        package let isMisfit: Bool

        /// Whether the file can be read in two ways.
        package let isAmbiguous: Bool

        package init(reason: String, isMisfit: Bool = false, isAmbiguous: Bool = false) {
            (self.reason, self.isMisfit, self.isAmbiguous) = (reason, isMisfit, isAmbiguous)
        }
    }
}
