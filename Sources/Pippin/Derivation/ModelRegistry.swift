import StoreSession

/// The entities of a manager for models, by the models' types.
package final class ModelRegistry: Sendable {
    let plans: [EntityPlan]
    /// Whether the manager has no structs: its model is a file's, or a store's own.
    package var isEmpty: Bool { plans.isEmpty }
    /// What other modules have added to the rules of schemas, by the entities' names.
    package var attachments: [String: [any Sendable]] {
        Dictionary(
            plans.map { plan in
                (
                    plan.name,
                    plan.facts.compactMap { if case .attached(let attachment) = $0 { attachment } else { nil } }
                )
            }, uniquingKeysWith: { first, _ in first })
    }
    private let byType: [ObjectIdentifier: EntityPlan]
    /// The models that are read in sets.
    private let trees: Set<ObjectIdentifier>
    /// The models that lead back to themselves.
    private let cyclic: Set<ObjectIdentifier>

    /// - Parameter types: the models. Models within them are found automatically.
    /// - Throws: ``PersistenceError/Code/notDerivable``
    init(_ types: [any CoreModel.Type]) throws {
        var plans: [EntityPlan] = []
        var seen: Set<ObjectIdentifier> = []
        var queue = types
        while !queue.isEmpty {
            let type = queue.removeFirst()
            guard seen.insert(ObjectIdentifier(type)).inserted else { continue }
            let plan = try EntityDerivation.plan(of: type)
            // Their tables would have the same name.
            if let other = plans.first(where: { $0.name.lowercased() == plan.name.lowercased() }) {
                throw PersistenceError.notDerivable(
                    type: plan.record.name, property: "",
                    reason:
                        "\(String(reflecting: type)) and \(String(reflecting: other.type)) would both be the entity "
                        + "'\(plan.name)'. Give one another name: Schema(…, name: \"…\").")
            }
            plans.append(plan)
            queue += plan.fields.compactMap(\.related?.type)
        }
        for plan in plans {
            for case .entityRemoved(let name) in plan.facts where plans.contains(where: { $0.name == name }) {
                throw PersistenceError.notDerivable(
                    type: plan.record.name, property: "",
                    reason: "its schema says that the entity '\(name)' is removed, and that is one of the models.")
            }
        }
        self.plans = plans
        byType = Dictionary(uniqueKeysWithValues: plans.map { ($0.id, $0) })
        trees = Self.trees(plans, byType)
        cyclic = Self.cyclic(plans)
    }

    package init() {
        plans = []
        byType = [:]
        trees = []
        cyclic = []
    }

    /// Whether a model never contains one of its own type, at any depth, and has sets only of models that lead to no
    /// others.
    func isTree(_ plan: EntityPlan) -> Bool { trees.contains(plan.id) }

    /// Whether a model may contain one of its own type, at any depth.
    func mayContainItself(_ plan: EntityPlan) -> Bool { cyclic.contains(plan.id) }

    /// Whether any model may.
    var hasCycles: Bool { !cyclic.isEmpty }

    private static func cyclic(_ plans: [EntityPlan]) -> Set<ObjectIdentifier> {
        let numbers = Dictionary(uniqueKeysWithValues: plans.enumerated().map { ($1.id, $0) })
        let members = plans.map { plan in
            plan.fields.compactMap(\.related).filter { !$0.isReference }.compactMap { numbers[$0.id] }
        }
        let order = ComponentOrder(count: plans.count, roots: plans.indices) { members[$0] }
        return Set(
            order.components.lazy
                .filter { $0.count > 1 || members[$0[0]].contains($0[0]) }
                .flatMap { $0.map { plans[$0].id } })
    }

    private static func trees(
        _ plans: [EntityPlan], _ byType: [ObjectIdentifier: EntityPlan]
    ) -> Set<ObjectIdentifier> {
        models(of: plans) { field, member, trees in
            if case .toMany(_, isOrdered: false) = field.kind {
                return byType[member.id]?.relationships.isEmpty ?? false
            }
            return trees.contains(member.id)
        }
    }

    /// The models whose members are all acceptable. Each round adds those whose members were added, so that models on a
    /// cycle never are.
    private static func models(
        of plans: [EntityPlan], whereMembers accept: (FieldPlan, RelatedModel, Set<ObjectIdentifier>) -> Bool
    ) -> Set<ObjectIdentifier> {
        var added: Set<ObjectIdentifier> = []
        while true {
            let found = plans.filter { plan in
                !added.contains(plan.id)
                    && plan.fields.allSatisfy { field in
                        guard let member = field.related, !member.isReference else { return true }
                        return accept(field, member, added)
                    }
            }
            if found.isEmpty { return added }
            added.formUnion(found.map(\.id))
        }
    }

    /// - Throws: ``PersistenceError/Code/unknownModel``
    func plan(of type: Any.Type) throws -> EntityPlan {
        if let plan = byType[ObjectIdentifier(type)] { return plan }
        throw PersistenceError.unknownModel("\(type)", known: plans.map(\.record.name))
    }

    func plan(_ model: RelatedModel) throws -> EntityPlan { try plan(of: model.type) }
}
