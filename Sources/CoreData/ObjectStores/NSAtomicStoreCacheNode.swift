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
