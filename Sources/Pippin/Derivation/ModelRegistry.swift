import CoreData

/// The entities of a manager that was made for models, by the models' types.
package final class ModelRegistry: Sendable {
    let plans: [EntityPlan]
    private let byType: [ObjectIdentifier: EntityPlan]

    /// - Parameter types: the models. Those within them are found by themselves.
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
    }

    package init() {
        plans = []
        byType = [:]
    }

    /// - Throws: ``PersistenceError/Code/unknownModel``
    func plan(of type: Any.Type) throws -> EntityPlan {
        if let plan = byType[ObjectIdentifier(type)] { return plan }
        throw PersistenceError.unknownModel("\(type)", known: plans.map(\.record.name))
    }

    func plan(_ model: RelatedModel) throws -> EntityPlan { try plan(of: model.type) }
}
