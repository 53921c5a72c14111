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
