import Foundation
import PredicateFormat

/// One object of an atomic store: its ID and its values by name.
open class NSAtomicStoreCacheNode: NSObject {
    /// The ID of the object.
    open private(set) var objectID: NSManagedObjectID

    /// The values by property name: attributes as in key-value coding, a to-one relationship as the node of its
    /// destination, a to-many relationship as a set (or an ordered set) of nodes.
    open var propertyCache: NSMutableDictionary?

    /// Increases with every update, so that two contexts do not overwrite each other's changes.
    package var version: Int64 = 1

    /// Creates a node without values.
    ///
    /// - Parameter moid: an ID of the node's store; see `NSAtomicStore.objectID(for:withReferenceObject:)`.
    public init(objectID moid: NSManagedObjectID) {
        objectID = moid
        super.init()
    }

    /// The value of a property; by default the entry of `propertyCache`.
    ///
    /// - Parameter key: the name of the property.
    /// - Returns: the value; `nil` for none.
    open func value(forKey key: String) -> Any? { propertyCache?[key] }

    /// Sets the value of a property; by default the entry of `propertyCache`, which is made if there is none.
    ///
    /// - Parameters:
    ///   - value: the value, `nil` to remove it.
    ///   - key: the name of the property.
    open func setValue(_ value: Any?, forKey key: String) {
        if value == nil, propertyCache == nil { return }
        let cache = propertyCache ?? NSMutableDictionary()
        if let value { cache[key] = value } else { cache.removeObject(forKey: key) }
        propertyCache = cache
    }
}

// Predicates read nodes like managed objects.
extension NSAtomicStoreCacheNode: KeyValueCoding, KeyedOperand {
    package func operand(forKey key: String) -> Value {
        if key == "self" || key == "objectID" { return .object(objectID) }
        guard let place = objectID.layout.propertyByName[key] else {
            if key == "entity" { return Value(objectID.layout.description) }
            // Only objects of a subentity have the property.
            if objectID.layout.root.owner(ofProperty: key) != nil { return .null }
            programmerError("a predicate reads “\(key)”, which entity “\(objectID.layout.name)” does not have")
        }
        if case .toMany = place { return .collection(NodeValues.destinations(value(forKey: key)).map { .object($0) }) }
        let value = value(forKey: key)
        switch value {
        case let archive as OpaqueArchive: return Value(archive.bytes)
        case let composite as CompositeValue: return Value(composite.elements)
        default: return Value(value)
        }
    }

    package func leadsToMany(_ keys: [String]) -> Bool { PredicateKeys.leadsToMany(keys, from: objectID.layout) }

    package func endsToMany(_ keys: [String]) -> Bool { PredicateKeys.endsToMany(keys, from: objectID.layout) }

    package var orderKey: Int64? { objectID.orderKey }

    /// In a predicate, a node equals its object and its object's ID.
    package var operandIdentity: NSObject { objectID }
}

/// Converts between nodes and rows.
enum NodeValues {
    /// The row of a node.
    static func row(of node: NSAtomicStoreCacheNode) -> Row {
        let slots = node.objectID.layout.slots
        let values = slots.map { slot -> StoredValue in
            if slot.isTransient { return .null }
            let value = node.value(forKey: slot.name)
            switch slot.kind {
            case .attribute(let attribute): return StoredValue(nodeValue: value, for: attribute)
            case .toOne: return identifier(of: value).map(StoredValue.identifier) ?? .null
            }
        }
        return Row(objectID: node.objectID, version: node.version, values: ContiguousArray(values))
    }

    /// The ID for a relationship's value.
    static func identifier(of value: Any?) -> NSManagedObjectID? {
        switch value {
        case let node as NSAtomicStoreCacheNode: node.objectID
        case let identifier as NSManagedObjectID: identifier
        case let object as NSManagedObject: object.objectID
        default: nil
        }
    }

    /// The IDs for a to-many relationship's value, in order if it is ordered.
    static func identifiers(of value: Any?, isOrdered: Bool) -> [NSManagedObjectID] {
        let found = elements(of: value).compactMap { identifier(of: $0) }
        return isOrdered ? found : found.sorted { $0.key < $1.key }
    }

    /// The nodes or IDs to which a predicate follows a to-many relationship.
    fileprivate static func destinations(_ value: Any?) -> [any KeyedOperand] {
        elements(of: value).compactMap { $0 as? any KeyedOperand }
    }

    /// The members of a to-many relationship's value.
    static func elements(of value: Any?) -> [Any] {
        switch value {
        case let set as NSOrderedSet: Array(set)
        case let set as NSSet: Array(set)
        case let array as [Any]: array
        case let set as Set<AnyHashable>: set.map(\.base)
        default: []
        }
    }
}

/// The bytes of a transformable value that cannot be read here, since its class or its transformer is Apple's or
/// another program's, as a node's value: the next save writes the same bytes.
final class OpaqueArchive: NSObject {
    let bytes: Data

    init(_ bytes: Data) { self.bytes = bytes }

    override func isEqual(_ object: Any?) -> Bool { (object as? OpaqueArchive)?.bytes == bytes }

    override var hash: Int { bytes.hashValue }
}

extension StoredValue {
    /// The value of a node: as in key-value coding, except that bytes which cannot be read stay distinct from data.
    func nodeValue(for attribute: AttributeLayout) -> Any? { keptValue(for: attribute) ?? objectValue(for: attribute) }

    /// A node's value that says more than the one in key-value coding; nil if that says everything.
    func keptValue(for attribute: AttributeLayout) -> Any? {
        if case .object(let composite as CompositeValue) = self, !composite.kept.isEmpty { return composite }
        if case .data(let bytes) = self, attribute.type == .transformableAttributeType { return OpaqueArchive(bytes) }
        return nil
    }

    /// The stored form of a node's value.
    init(nodeValue value: Any?, for attribute: AttributeLayout) {
        if let archive = value as? OpaqueArchive {
            self = .data(archive.bytes)
        } else if let composite = value as? CompositeValue {
            self = .object(composite)
        } else {
            self = StoredValue(value, for: attribute)
        }
    }
}

/// The nodes of an atomic store by ID, in order of insertion.
struct NodeTable {
    private var positions: [NSManagedObjectID: Int] = [:]
    /// The entry of a removed node is nil.
    private var entries: [NSAtomicStoreCacheNode?] = []

    subscript(identifier: NSManagedObjectID) -> NSAtomicStoreCacheNode? {
        positions[identifier].flatMap { entries[$0] }
    }

    var nodes: [NSAtomicStoreCacheNode] { entries.compactMap { $0 } }

    /// The nodes of some entities.
    func nodes(of entities: [EntityLayout]) -> [NSAtomicStoreCacheNode] {
        let wanted = Set(entities.map(ObjectIdentifier.init))
        return entries.compactMap { $0 }.filter { wanted.contains(ObjectIdentifier($0.objectID.layout)) }
    }

    mutating func insert(_ node: NSAtomicStoreCacheNode) {
        if let position = positions[node.objectID] {
            entries[position] = node
        } else {
            positions[node.objectID] = entries.count
            entries.append(node)
        }
    }

    mutating func remove(_ node: NSAtomicStoreCacheNode) {
        guard let position = positions.removeValue(forKey: node.objectID) else { return }
        entries[position] = nil
        guard entries.count > 64, positions.count * 2 < entries.count else { return }
        let live = entries.compactMap { $0 }
        entries = live
        positions = Dictionary(uniqueKeysWithValues: live.enumerated().map { ($1.objectID, $0) })
    }
}
