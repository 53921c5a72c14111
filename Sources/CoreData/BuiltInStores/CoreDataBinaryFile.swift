import Foundation
import ModelFiles

/// A binary store in the layout of Core Data on macOS, as documents of Mac programs have it.
///
/// A header of 64 bytes has the places and lengths of two keyed archives, big endian, and the number of the most recent
/// object. One archive has the objects by their numbers: each with its entity, an array of values, and its
/// relationships by name. Nothing names the attributes: the values are in the order of `AttributePlaces`. The other has
/// the metadata.
package enum CoreDataBinaryFile {
    private static let start = Data("CoreData\0\0\0\u{1}\u{8}\u{4}\u{8}\0".utf8)
    private static let headerLength = 64
    private static let nodeClasses = ["NSDictionaryMapNode", "NSStoreMapNode", "NSObject"]

    /// Whether a file begins like such a store.
    package static func isOne(_ data: Data) -> Bool { data.starts(with: start.prefix(8)) }

    // MARK: Reading

    /// The content of a file. Its values have no names: see `AttributePlaces`.
    ///
    /// - Parameters:
    ///   - data: the file.
    ///   - showingAll: whether metadata that are damaged are left out.
    /// - Returns: its objects and its metadata.
    /// - Throws: the reason why it is no such file.
    static func document(of data: Data, showingAll: Bool = false) throws -> StoreDocument {
        var document = StoreDocument(lastKey: Int64(clamping: try number(in: data, 48)))
        do { document.metadata = try metadata(of: data) } catch {
            guard showingAll else { throw error }
            document.missingMetadata = (error as? FileValues.Failure)?.reason ?? "they are damaged: \(error)"
            document.metadata = [NSStoreTypeKey: NSBinaryStoreType]
        }
        document.hasCoreDataLayout = true
        document.byteCount = data.count
        let archive = try KeyedArchive(data: part(of: data, 32)).root(forKey: "mapData")
        guard let nodes = try archive.pairs() else {
            throw FileValues.Failure(reason: "its objects are not a dictionary")
        }
        for (key, node) in nodes {
            guard case .plain(.integer(let key)) = key, key > 0, case .object(let node) = node else {
                throw FileValues.Failure(reason: "one of its objects has no number")
            }
            document.objects.append(try read(node, key: key))
        }
        return document
    }

    /// The metadata of a file, which are an archive of their own.
    static func metadata(of data: Data) throws -> [String: Any] {
        let archive = try KeyedArchive(data: part(of: data, 16)).root(forKey: "metadata")
        guard let values = try archive.foundationValue(depth: 64) as? [AnyHashable: Any] else {
            throw FileValues.Failure(reason: "its metadata are not a dictionary")
        }
        var metadata: [String: Any] = [:]
        for (key, value) in values { metadata["\(key.base)"] = value }
        metadata[NSStoreTypeKey] = NSBinaryStoreType
        return metadata
    }

    private static func read(_ node: ArchivedObject, key: Int64) throws -> StoreDocument.Object {
        var object = StoreDocument.Object(entityName: try node.string(forKey: "NSEntityName"), key: key)
        object.places = try node.optionalElements(forKey: "NSAttributeValues") ?? []
        for (name, destinations) in try node.optionalPairs(forKey: "NSRelatedNodes") ?? [] {
            guard let name = try name.string(), case .object(let array) = destinations,
                let elements = try array.elements()
            else { throw FileValues.Failure(reason: "a relationship of object \(key) is not an array") }
            let keys = elements.compactMap { element -> Int64? in
                if case .plain(.integer(let key)) = element { key } else { nil }
            }
            object.relationships.append((name, keys))
        }
        return object
    }

    /// The archive whose place and length are in the header.
    private static func part(of data: Data, _ offset: Int) throws -> Data {
        let (place, length) = (try number(in: data, offset), try number(in: data, offset + 8))
        guard place <= UInt64(data.count), length <= UInt64(data.count) - place else {
            throw FileValues.Failure(reason: "it is cut off, or its header is damaged")
        }
        return Data(data.dropFirst(Int(place)).prefix(Int(length)))
    }

    private static func number(in data: Data, _ offset: Int) throws -> UInt64 {
        guard data.count >= headerLength else { throw FileValues.Failure(reason: "it is cut off in its header") }
        return data.dropFirst(offset).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    // MARK: Writing

    static func data(
        of document: StoreDocument, entities: [String: EntityLayout], order: PlaceOrder
    ) throws -> Data {
        var builder = KeyedArchiveBuilder()
        let map = builder.reserve()
        var nodes: [(key: PropertyList, value: PropertyList)] = []
        for object in document.objects {
            guard let entity = entities[object.entityName] else { continue }
            nodes.append((builder.scalar(.integer(object.key)), try add(object, entity, order, to: &builder)))
        }
        builder.fill(
            map, classNames: ["NSMutableDictionary", "NSDictionary", "NSObject"],
            fields: ["NS.keys": .array(nodes.map(\.key)), "NS.objects": .array(nodes.map(\.value))])
        let objects = try builder.archive(root: map, key: "mapData").data()
        return try file(objects: objects, metadata: document.metadata, lastKey: UInt64(document.lastKey))
    }

    private static func add(
        _ object: StoreDocument.Object, _ entity: EntityLayout, _ order: PlaceOrder,
        to builder: inout KeyedArchiveBuilder
    ) throws -> PropertyList {
        let known = Dictionary(object.attributes.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
        var values: [PropertyList] = []
        for slot in try order.written(of: entity) {
            guard let attribute = slot.attribute else { continue }
            let isPlain = order.isPlain(attribute, in: object)
            values.append(
                try FileValues.archived(known[attribute.name], of: attribute, isPlain: isPlain, in: &builder))
        }
        for _ in 0..<order.places(after: entity) { values.append(try builder.foundationValue(NSNull())) }
        var fields: [String: PropertyList] = [
            "NSEntityName": builder.string(object.entityName), "NSPrimaryKey64": .integer(object.key),
            "NSAttributeValues": builder.array(values),
        ]
        var related: [(key: PropertyList, value: PropertyList)] = []
        for (name, keys) in object.relationships where !keys.isEmpty {
            let destinations = builder.array(keys.map { builder.scalar(.integer($0)) })
            related.append((builder.string(name), destinations))
        }
        if !related.isEmpty { fields["NSRelatedNodes"] = builder.dictionary(related, isMutable: true) }
        return builder.add(classNames: nodeClasses, fields: fields)
    }

    /// The file with other metadata, and otherwise unchanged.
    static func replacingMetadata(in data: Data, by metadata: [String: Any]) throws -> Data {
        try file(objects: part(of: data, 32), metadata: metadata, lastKey: number(in: data, 48))
    }

    private static func file(objects: Data, metadata: [String: Any], lastKey: UInt64) throws -> Data {
        var builder = KeyedArchiveBuilder()
        let root: PropertyList
        do { root = try builder.foundationValue(metadata) } catch {
            throw FileValues.Failure(reason: "its metadata cannot be archived: \(error.description)")
        }
        let archive = try builder.archive(root: root, key: "metadata").data()
        let numbers = [headerLength + objects.count, archive.count, headerLength, objects.count].map(UInt64.init)
        let fields = (numbers + [lastKey, 0]).flatMap { number in
            (0..<8).reversed().map { UInt8(number >> ($0 * 8) & 255) }
        }
        return start + fields + objects + archive
    }
}

/// The places of an object's values in a binary store of Core Data on macOS: the attributes, inherited ones first and
/// then by name, and after them a place without a value for each other property.
struct PlaceOrder {
    /// Whether transient attributes stand among the others, rather than behind them; `nil` if the file does not show
    /// it.
    var mixesTransients: Bool?
    /// Whether fetched properties have places, as relationships do.
    var countsFetchedProperties = false
    /// The transformable attributes whose values are bytes that a transformer made, in some objects of the file, by
    /// entity and attribute.
    private var bytes: [String: TransformedBytes] = [:]

    /// The objects in which an attribute's value is the bytes that its transformer made.
    private struct TransformedBytes {
        var keys: Set<Int64> = []
        /// Whether other objects have the value itself.
        var hasObjects = false
    }

    /// Remembers the form of a transformable value.
    mutating func note(_ value: ArchivedValue, of attribute: AttributeLayout, in object: StoreDocument.Object) {
        guard attribute.type == .transformableAttributeType else { return }
        let isBytes =
            switch value {
            case .plain(.data): true
            case .object(let object): object.isKind(of: "NSData")
            case .plain, .null: false
            }
        let place = "\(object.entityName).\(attribute.name)"
        if isBytes {
            bytes[place, default: TransformedBytes()].keys.insert(object.key)
        } else {
            bytes[place, default: TransformedBytes()].hasObjects = true
        }
    }

    /// Whether a value is written as bytes: in the form that the file has for it, or for all other objects.
    func isPlain(_ attribute: AttributeLayout, in object: StoreDocument.Object) -> Bool {
        guard let known = bytes["\(object.entityName).\(attribute.name)"], !known.keys.isEmpty,
            !TransformableCoding.archivesValues(of: attribute)
        else { return false }
        return !known.hasObjects || known.keys.contains(object.key)
    }

    /// How many places follow those of the attributes.
    func places(after entity: EntityLayout) -> Int {
        entity.relationships.count + (countsFetchedProperties ? entity.fetchedProperties.count : 0)
    }

    /// The attributes of an entity in the order of their values.
    ///
    /// - Throws: the attribute whose place is not known.
    func written(of entity: EntityLayout) throws(FileValues.Failure) -> [SlotLayout] {
        let slots = Self.slots(of: entity, mixesTransients: mixesTransients ?? false)
        if let composite = slots.lazy.compactMap(\.attribute).first(where: { $0.type == .compositeAttributeType }) {
            throw FileValues.Failure(reason: Self.composite(composite, entity))
        }
        if mixesTransients == nil, let transient = slots.first(where: \.isTransient),
            slots.map(\.name) != Self.slots(of: entity, mixesTransients: true).map(\.name)
        {
            throw FileValues.Failure(
                reason: "the file does not show the place of transient attributes such as "
                    + "“\(entity.name).\(transient.name)”; migrate the store to another type")
        }
        return slots
    }

    static func composite(_ attribute: AttributeLayout, _ entity: EntityLayout) -> String {
        "where binary files of Core Data on macOS have composite attributes such as “\(entity.name).\(attribute.name)” is not "
            + "known"
    }

    static func slots(of entity: EntityLayout, mixesTransients: Bool) -> [SlotLayout] {
        let slots = slotsByName(of: entity)
        return mixesTransients ? slots : slots.filter { !$0.isTransient } + slots.filter(\.isTransient)
    }

    private static func slotsByName(of entity: EntityLayout) -> [SlotLayout] {
        let inherited = entity.superentity.map(slotsByName) ?? []
        let own = entity.slots[(entity.superentity?.slots.count ?? 0)...].filter { $0.attribute != nil }
        return inherited + own.sorted { $0.name < $1.name }
    }

    /// Whether values without names belong to the same attributes in two versions of a model, which may have renamed
    /// them.
    static func isSame(
        in one: NSManagedObjectModel, _ other: NSManagedObjectModel, for entityNames: Set<String>
    ) -> Bool {
        guard let one = try? one.compiledLayout(), let other = try? other.compiledLayout() else { return false }
        return entityNames.allSatisfy { name in
            guard let entity = one.entityByName[name], let counterpart = other.entityByName[name] else { return false }
            let (slots, others) = (slotsByName(of: entity), slotsByName(of: counterpart))
            return zip(slots, others).allSatisfy { slot, other in
                slot.name == other.name
                    || (slot.attribute?.description.renamingIdentifier ?? slot.name)
                        == (other.attribute?.description.renamingIdentifier ?? other.name)
            }
        }
    }
}
