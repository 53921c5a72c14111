import CoreData

/// An atomic store in a property list, written as the Atomic Store Programming Topics do.
final class ListStore: NSAtomicStore, @unchecked Sendable {
    // @unchecked Sendable: confined to the coordinator's queue, like its superclass.
    static let type = NSPersistentStore.StoreType(rawValue: "List")
    var calls: [String] = []
    var failure: (any Error)?

    override var type: String { Self.type.rawValue }

    override class func metadataForPersistentStore(with url: URL) throws -> [String: Any] {
        let list = try PropertyListSerialization.propertyList(from: Data(contentsOf: url), format: nil)
        return (list as? [String: Any])?["metadata"] as? [String: Any] ?? [:]
    }

    override func loadMetadata() throws {
        guard let url, FileManager.default.fileExists(atPath: url.path) else {
            metadata = [NSStoreTypeKey: type, NSStoreUUIDKey: UUID().uuidString]
            return
        }
        metadata = try Self.metadataForPersistentStore(with: url)
    }

    override func load() throws {
        calls.append("load")
        guard let url, let data = try? Data(contentsOf: url), let model = persistentStoreCoordinator?.managedObjectModel
        else { return }
        let list = try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
        let objects = list?["objects"] as? [[String: Any]] ?? []
        var nodes: [String: NSAtomicStoreCacheNode] = [:]
        for object in objects {
            guard let entity = model.entitiesByName[object["entity"] as? String ?? ""],
                let key = object["id"] as? String
            else { continue }
            let node = NSAtomicStoreCacheNode(objectID: objectID(for: entity, withReferenceObject: key))
            node.propertyCache = NSMutableDictionary(dictionary: object["values"] as? [String: Any] ?? [:])
            nodes[key] = node
        }
        for object in objects {
            guard let node = nodes[object["id"] as? String ?? ""] else { continue }
            for (name, keys) in object["links"] as? [String: [String]] ?? [:] {
                let destinations = keys.compactMap { nodes[$0] }
                if node.objectID.entity.relationshipsByName[name]?.isToMany == true {
                    node.setValue(Set(destinations), forKey: name)
                } else {
                    node.setValue(destinations.first, forKey: name)
                }
            }
        }
        addCacheNodes(Set(nodes.values))
    }

    override func newReferenceObject(for managedObject: NSManagedObject) -> Any {
        calls.append("reference")
        return UUID().uuidString
    }

    override func newCacheNode(for managedObject: NSManagedObject) -> NSAtomicStoreCacheNode {
        calls.append("new node")
        return super.newCacheNode(for: managedObject)
    }

    override func updateCacheNode(_ node: NSAtomicStoreCacheNode, from managedObject: NSManagedObject) {
        calls.append("update node")
        super.updateCacheNode(node, from: managedObject)
    }

    override func willRemoveCacheNodes(_ cacheNodes: Set<NSAtomicStoreCacheNode>) {
        calls.append("remove \(cacheNodes.count)")
    }

    override func save() throws {
        calls.append("save")
        if let failure { throw failure }
        guard let url else { return }
        let objects: [[String: Any]] = cacheNodes().map { node in
            var values: [String: Any] = [:]
            for (name, _) in node.objectID.entity.attributesByName { values[name] = node.value(forKey: name) }
            var links: [String: [String]] = [:]
            for (name, relationship) in node.objectID.entity.relationshipsByName {
                let value = node.value(forKey: name)
                let nodes =
                    relationship.isToMany
                    ? Array(value as? Set<NSAtomicStoreCacheNode> ?? [])
                    : [value as? NSAtomicStoreCacheNode].compactMap { $0 }
                links[name] = nodes.compactMap { referenceObject(for: $0.objectID) as? String }
            }
            return [
                "entity": node.objectID.entity.name ?? "", "id": referenceObject(for: node.objectID), "values": values,
                "links": links,
            ]
        }
        let list: [String: Any] = ["metadata": metadata ?? [:], "objects": objects]
        try PropertyListSerialization.data(fromPropertyList: list, format: .xml, options: 0).write(to: url)
    }
}
