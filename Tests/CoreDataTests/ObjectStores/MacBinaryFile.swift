import CoreData
import Foundation
import ModelFiles

/// A binary store as Core Data on macOS writes it.
struct MacBinaryFile {
    /// The content of the file.
    let data: Data

    /// A file made by Foundation's archiver.
    init(_ nodes: [MacBinaryNode], entities: [String], identifier: String = "") {
        let map = Dictionary(uniqueKeysWithValues: nodes.map { (NSNumber(value: $0.key), $0) })
        self.init(objects: Self.archive(map as NSDictionary, "mapData"), entities, identifier)
    }

    /// A file of one entity's objects, with values that an archive has already.
    init(_ entity: String, values: [[PropertyList]], in builder: KeyedArchiveBuilder) throws {
        var builder = builder
        let nodes = values.enumerated().map { place, values in
            let fields: [String: PropertyList] = [
                "NSEntityName": builder.string(entity), "NSPrimaryKey64": .integer(Int64(place + 1)),
                "NSAttributeValues": builder.array(values),
            ]
            return (
                key: builder.scalar(.integer(Int64(place + 1))),
                value: builder.add(classNames: ["NSDictionaryMapNode", "NSStoreMapNode", "NSObject"], fields: fields)
            )
        }
        let map = builder.dictionary(nodes, isMutable: true)
        self.init(objects: try builder.archive(root: map, key: "mapData").data(), [entity], "")
    }

    private init(objects: Data, _ entities: [String], _ identifier: String) {
        let hash = Data(repeating: 7, count: 32)
        let metadata = Self.archive(
            [
                "NSStoreUUID": "1D7A3B1E-9C57-4B43-8F2B-6A5C1D5F0E11", "NSStoreType": "Binary",
                "NSPersistenceFrameworkVersion": 1152, "NSStoreModelVersionHashesVersion": 3,
                "NSStoreModelVersionHashes": Dictionary(uniqueKeysWithValues: entities.map { ($0, hash) }),
                "NSStoreModelVersionIdentifiers": [identifier],
            ] as NSDictionary, "metadata")
        var file = Data("CoreData".utf8) + Data([0, 0, 0, 1, 8, 4, 8, 0])
        for number in [UInt64(64 + objects.count), UInt64(metadata.count), 64, UInt64(objects.count), 9, 0] {
            withUnsafeBytes(of: number.bigEndian) { file.append(contentsOf: $0) }
        }
        data = file + objects + metadata
    }

    private static func archive(_ object: Any, _ key: String) -> Data {
        let archiver = NSKeyedArchiver(requiringSecureCoding: false)
        archiver.setClassName("NSDictionaryMapNode", for: MacBinaryNode.self)
        archiver.encode(object, forKey: key)
        archiver.finishEncoding()
        return archiver.encodedData
    }
}

/// An object of such a file. Foundation's archiver takes classes at the top of a module only.
final class MacBinaryNode: NSObject, NSCoding {
    let (entity, key, values, related): (String, Int64, [Any], [String: [Int64]])

    init(_ entity: String, _ key: Int64, _ values: [Any?], _ related: [String: [Int64]] = [:]) {
        // One and the same null, since two of them end Foundation's archiver on Linux.
        (self.entity, self.key, self.related) = (entity, key, related)
        self.values = values.map { $0 ?? Self.null }
    }

    private static let null = NSNull()

    init?(coder: NSCoder) { nil }

    func encode(with coder: NSCoder) {
        coder.encode(entity as NSString, forKey: "NSEntityName")
        coder.encode(key, forKey: "NSPrimaryKey64")
        coder.encode(values as NSArray, forKey: "NSAttributeValues")
        if !related.isEmpty { coder.encode(related as NSDictionary, forKey: "NSRelatedNodes") }
    }
}

/// A value of a class that stores do not read unless they may.
final class MacColour: NSObject, NSSecureCoding {
    static let supportsSecureCoding = true
    let red: Double

    init(red: Double) { self.red = red }

    init?(coder: NSCoder) { red = coder.decodeDouble(forKey: "NSRed") }

    func encode(with coder: NSCoder) { coder.encode(red, forKey: "NSRed") }
}
