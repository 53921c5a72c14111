import CompactCollections

/// The properties that a file has values for. Stored models keep their values of all others.
struct GivenFields: Sendable {
    /// The fields by entity. An entity that is not among them has values for all.
    private var fields: [ObjectIdentifier: Set<Int>] = [:]

    /// Nil if each model in the file has all of its values.
    ///
    /// - Parameters:
    ///   - columns: the names of a file's columns, which the model has.
    ///   - plan: the model.
    ///   - registry: the models that are known.
    /// - Throws: ``PersistenceError/Code/unknownModel``
    init?(_ columns: [String], of plan: EntityPlan, in registry: ModelRegistry) throws {
        var plans: [ObjectIdentifier: EntityPlan] = [plan.id: plan]
        var whole: Set<ObjectIdentifier> = []
        for column in columns {
            var owner = plan
            var keys = column.split(separator: ".", omittingEmptySubsequences: false)[...]
            while let key = keys.popFirst(), let field = owner.fields.firstIndex(where: { $0.key == key }) {
                fields[owner.id, default: []].insert(field)
                guard let related = owner.fields[field].related, !related.isReference else { break }
                owner = try registry.plan(related)
                plans[owner.id] = owner
                // The column has such models as JSON.
                if keys.isEmpty { whole.insert(owner.id) }
            }
        }
        for (id, plan) in plans {
            for (index, field) in plan.fields.enumerated() {
                guard case .isEmpty(let list)? = field.mark, fields[id]?.contains(list) ?? false else { continue }
                fields[id]?.insert(index)
            }
        }
        fields = fields.filter { id, given in !whole.contains(id) && given.count < plans[id]?.fields.count ?? 0 }
        if fields.isEmpty { return nil }
    }

    func has(_ field: Int, of plan: EntityPlan) -> Bool { fields[plan.id]?.contains(field) ?? true }
}
