import Foundation

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
    /// Why a file is not a store document, or an object cannot be written into one: the end of a sentence.
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

/// What a store's file says about the properties of its objects, by the names in the file.
package struct StoreDeclarations: Equatable, Sendable {
    package struct Entity: Equatable, Sendable {
        /// The types of the attributes. An element of a composite attribute has a path: `address.street`.
        package var attributes: [String: NSAttributeType] = [:]
        package var relationships: [String: Relationship] = [:]

        package init() {}
    }

    package struct Relationship: Equatable, Sendable {
        package var minCount: Int
        /// 1 for a to-one relationship; 0 for no bound.
        package var maxCount: Int
        /// The entity that it leads to; nil if the file does not say it.
        package var destination: String?

        package init(minCount: Int = 0, maxCount: Int = 0, destination: String? = nil) {
            (self.minCount, self.maxCount, self.destination) = (minCount, maxCount, destination)
        }

        /// The bounds of an XML store, such as `0/1`.
        init(bounds: String, destination: String?) {
            let numbers = bounds.split(separator: "/").map { Int($0) ?? 0 }
            self.init(
                minCount: numbers.first ?? 0, maxCount: numbers.count == 2 ? numbers[1] : 0,
                destination: destination?.isEmpty == true ? nil : destination)
        }
    }

    package var entities: [String: Entity] = [:]
    /// The type of an attribute whose values are of several types.
    package var mixedType = NSAttributeType.stringAttributeType

    package init() {}

    /// Adds what one object says about an attribute.
    package mutating func add(_ type: NSAttributeType, _ attribute: String, of entity: String) {
        let known = entities[entity]?.attributes[attribute]
        guard known != type else { return }
        entities[entity, default: Entity()].attributes[attribute] = known.map { common($0, type) } ?? type
    }

    /// Adds what one object says about a relationship.
    package mutating func add(_ relationship: Relationship, _ name: String, of entity: String) {
        guard let known = entities[entity]?.relationships[name] else {
            entities[entity, default: Entity()].relationships[name] = relationship
            return
        }
        guard known != relationship else { return }
        let isToMany = known.maxCount != 1 || relationship.maxCount != 1
        entities[entity]?.relationships[name] = Relationship(
            minCount: min(known.minCount, relationship.minCount), maxCount: isToMany ? 0 : 1,
            destination: known.destination ?? relationship.destination)
    }

    /// The type that has the values of both: a number may be archived as a whole one and as a real one.
    package func common(_ one: NSAttributeType, _ other: NSAttributeType) -> NSAttributeType {
        if one == other { return one }
        let ranks: [NSAttributeType] = [
            .booleanAttributeType, .integer16AttributeType, .integer32AttributeType, .integer64AttributeType,
            .floatAttributeType, .doubleAttributeType, .decimalAttributeType,
        ]
        guard let first = ranks.firstIndex(of: one), let second = ranks.firstIndex(of: other) else {
            return mixedType
        }
        return ranks[max(first, second)]
    }
}

/// The values of attributes in XML stores, which Core Data escapes by itself, beside the rules of XML: a backslash is
/// `\\`, and `&`, `<` and `>` are `\u2600`, `\u3c00` and `\u3e00`, a UTF-16 unit with its low byte first.
package enum XMLStoreText {
    /// In the metadata of a file that Pippin wrote: its values have these escapes. Earlier builds wrote values plainly.
    package static let escapesKey = "PippinEscapedText"

    /// Whether the values of a file, as XML has them, have escapes: those of Core Data's files do.
    package static func isEscaped(in document: StoreDocument) -> Bool {
        if document.metadata[escapesKey] != nil { return true }
        if document.metadata[StoreDocument.ownHashesKey] != nil { return false }
        // With model files made by Xcode, earlier builds wrote Core Data's version hashes, and mapping models have none
        // of Pippin's. Core Data would have escaped these characters.
        return !document.objects.contains { object in
            object.attributes.contains { attribute in
                guard case .text(let text) = attribute.value else { return false }
                return text.utf8.contains { escape(of: $0) != nil && $0 != backslash }
            }
        }
    }

    /// The text of a value as Core Data writes it. It contains no character that XML has to escape, apart from carriage
    /// returns.
    package static func encoded(_ text: String) -> String {
        guard text.utf8.contains(where: { escape(of: $0) != nil }) else { return text }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count + 16)
        for byte in text.utf8 {
            if let escape = escape(of: byte) { bytes += escape.utf8 } else { bytes.append(byte) }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The value that a text of Core Data's stands for. A backslash that begins no escape stands for itself.
    package static func decoded(_ text: String) -> String {
        guard text.utf8.contains(backslash) else { return text }
        let bytes = Array(text.utf8)
        var result: [UInt8] = []
        result.reserveCapacity(bytes.count)
        var units: [UInt16] = []
        var index = 0
        while index < bytes.count {
            if let unit = unit(in: bytes, at: index) {
                // Two units in a row may be the halves of one character.
                units.append(unit)
                index += 6
                continue
            }
            result += String(decoding: units, as: UTF16.self).utf8
            units.removeAll()
            let isDoubled = bytes[index] == backslash && index + 1 < bytes.count && bytes[index + 1] == backslash
            result.append(bytes[index])
            index += isDoubled ? 2 : 1
        }
        result += String(decoding: units, as: UTF16.self).utf8
        return String(decoding: result, as: UTF8.self)
    }

    private static let backslash = UInt8(ascii: "\\")

    private static func escape(of byte: UInt8) -> String? {
        switch byte {
        case UInt8(ascii: "\\"): #"\\"#
        case UInt8(ascii: "&"): #"\u2600"#
        case UInt8(ascii: "<"): #"\u3c00"#
        case UInt8(ascii: ">"): #"\u3e00"#
        default: nil
        }
    }

    /// The unit of an escape `\uLLHH`.
    private static func unit(in bytes: [UInt8], at index: Int) -> UInt16? {
        guard index + 6 <= bytes.count, bytes[index] == UInt8(ascii: "\\"), bytes[index + 1] == UInt8(ascii: "u")
        else { return nil }
        var value: UInt16 = 0
        for byte in bytes[index + 2..<index + 6] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { return nil }
            value = value << 4 | UInt16(digit)
        }
        return value.byteSwapped
    }
}
