/// Checks that everything to be saved can be read back unchanged.
struct GraphCheck {
    private let nodes: ContiguousArray<ModelGraph.Node>
    private let registry: ModelRegistry

    init(_ nodes: ContiguousArray<ModelGraph.Node>, _ registry: ModelRegistry) {
        self.nodes = nodes
        self.registry = registry
    }

    /// - Throws: ``PersistenceError/Code/unwritable``
    func check() throws {
        try checkOwners()
        // Exceeding the depth takes at least that many models, and a type that contains itself.
        guard nodes.count > AssemblyLimits.depth, let first = nodes.first, !registry.isTree(first.plan) else { return }
        try checkDepth()
    }

    /// Checks that a model owned by one model is in no other one.
    private func checkOwners() throws {
        // By relationship, the owner of each node; -1 for none.
        var owners: [Relationship: ContiguousArray<Int>] = [:]
        // By index: going through the nodes would copy each.
        for index in nodes.indices where !nodes[index].plan.exclusive.isEmpty {
            let plan = nodes[index].plan
            for link in nodes[index].links where plan.exclusive.contains(link.field) {
                let relationship = Relationship(plan: plan.id, field: link.field)
                try take(
                    link, of: index,
                    &owners[relationship, default: ContiguousArray(repeating: -1, count: nodes.count)])
            }
        }
    }

    private func take(_ link: ModelGraph.Link, of index: Int, _ owners: inout ContiguousArray<Int>) throws {
        for target in link.targets {
            let other = owners[target]
            owners[target] = index
            guard other >= 0, other != index else { continue }
            let (plan, model) = (nodes[index].plan, nodes[target])
            throw PersistenceError.unwritable(
                entity: plan.name, uid: nodes[index].key.text, key: plan.fields[link.field].name,
                reason:
                    "the \(model.plan.name) '\(model.key.text)' is in that of '\(nodes[other].key.text)' as well, and belongs "
                    + "to one only. Leave it to one, or take the rule off: what is shared may be in many.")
        }
    }

    private struct Relationship: Hashable {
        let plan: ObjectIdentifier
        let field: Int
    }

    private func members(of node: Int) -> [Int] {
        nodes[node].links.lazy
            .filter { !(nodes[node].plan.fields[$0.field].related?.isReference ?? true) }.flatMap(\.targets)
    }

    /// Refuses models that nest too deep to be read.
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
