/// Whether what is to be saved can be read again as it is.
struct GraphCheck {
    private let nodes: [ModelGraph.Node]
    private let registry: ModelRegistry

    init(_ nodes: [ModelGraph.Node], _ registry: ModelRegistry) {
        self.nodes = nodes
        self.registry = registry
    }

    /// - Throws: ``PersistenceError/Code/unwritable``
    func check() throws {
        try checkOwners()
        // As many levels take as many models.
        if nodes.count > AssemblyLimits.depth { try checkDepth() }
    }

    /// What belongs to one model can be in no other one.
    private func checkOwners() throws {
        var owners: [FieldTarget: Int] = [:]
        // By index: going through the nodes would copy each.
        for index in nodes.indices where !nodes[index].plan.exclusive.isEmpty {
            let node = nodes[index]
            for link in node.links where node.plan.exclusive.contains(link.field) {
                for target in link.targets {
                    let key = FieldTarget(plan: node.plan.id, field: link.field, target: target)
                    guard let other = owners.updateValue(index, forKey: key), other != index else { continue }
                    let (field, model) = (node.plan.fields[link.field], nodes[target])
                    throw PersistenceError.unwritable(
                        entity: node.plan.name, uid: node.key.text, key: field.name,
                        reason:
                            "the \(model.plan.name) '\(model.key.text)' is in that of '\(nodes[other].key.text)' as well, and belongs "
                            + "to one only. Leave it to one, or take the rule off: what is shared may be in many.")
                }
            }
        }
    }

    private struct FieldTarget: Hashable {
        let plan: ObjectIdentifier
        let field: Int
        let target: Int
    }

    private func members(of node: Int) -> [Int] {
        nodes[node].links.lazy
            .filter { !(nodes[node].plan.fields[$0.field].related?.isReference ?? true) }.flatMap(\.targets)
    }

    /// What is too deep to be read is not written.
    private func checkDepth() throws {
        let order = ComponentOrder(count: nodes.count, roots: nodes.indices, successors: members)
        var depths = ContiguousArray(repeating: 1, count: nodes.count)
        for component in order.components {
            for node in component {
                for member in members(of: node) { depths[node] = max(depths[node], depths[member] + 1) }
                guard depths[node] > AssemblyLimits.depth else { continue }
                throw PersistenceError.unwritable(
                    entity: nodes[node].plan.name, uid: nodes[node].key.text, key: nil,
                    reason:
                        "models are in it more than \(AssemblyLimits.depth) levels deep. Make the property that leads on a Reference, "
                        + "or an array of them.")
            }
        }
    }
}
