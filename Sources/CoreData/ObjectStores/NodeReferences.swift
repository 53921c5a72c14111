import Foundation

/// A relationship of a node that leads to removed nodes, with the value that it has without them.
struct NodeReference {
    let node: NSAtomicStoreCacheNode
    let key: String
    let value: Any?

    func clear() { node.setValue(value, forKey: key) }

    /// The relationships that lead to removed objects although delete rules were followed: those without an inverse,
    /// and those whose inverse has the rule “no action”. A file that kept them would lead to objects that it lacks.
    ///
    /// - Parameters:
    ///   - removed: the IDs of the removed objects.
    ///   - nodes: the nodes that stay.
    /// - Returns: these relationships, node by node.
    static func leading(
        to removed: Set<NSManagedObjectID>, from nodes: [NSAtomicStoreCacheNode]
    ) -> [NodeReference] {
        guard !removed.isEmpty else { return [] }
        let layouts = removed.map(\.layout)
        var kept: [ObjectIdentifier: [RelationshipLayout]] = [:]
        var found: [NodeReference] = []
        for node in nodes {
            let layout = node.objectID.layout
            if kept[ObjectIdentifier(layout)] == nil {
                kept[ObjectIdentifier(layout)] = layout.relationships.filter { relationship in
                    let rule = relationship.inverse?.deleteRule ?? .noActionDeleteRule
                    return !relationship.isTransient && rule == .noActionDeleteRule
                        && layouts.contains { $0.isKind(of: relationship.destination) }
                }
            }
            for relationship in kept[ObjectIdentifier(layout)] ?? [] {
                if let reference = leading(to: removed, from: node, relationship) { found.append(reference) }
            }
        }
        return found
    }

    private static func leading(
        to removed: Set<NSManagedObjectID>, from node: NSAtomicStoreCacheNode, _ relationship: RelationshipLayout
    ) -> NodeReference? {
        let key = relationship.name
        guard let value = node.value(forKey: key) else { return nil }
        func isRemoved(_ element: Any) -> Bool { NodeValues.identifier(of: element).map(removed.contains) ?? false }
        guard relationship.isToMany else {
            return isRemoved(value) ? NodeReference(node: node, key: key, value: nil) : nil
        }
        let members = NodeValues.elements(of: value)
        let left = members.filter { !isRemoved($0) }
        guard left.count < members.count else { return nil }
        return NodeReference(
            node: node, key: key, value: relationship.isOrdered ? NSOrderedSet(array: left) : NSSet(array: left))
    }
}
