import CompactCollections
import Ordering

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
    ///   - path: the file's path, for errors.
    /// - Throws: ``PersistenceError/Code/fileNotReadable`` if models of one type have other columns at one place than
    ///   at another, since the values of these would be set to nil where they are missing.
    init?(_ columns: [String], of plan: EntityPlan, in registry: ModelRegistry, path: String) throws {
        var places: [String: (plan: EntityPlan, fields: Set<Int>)] = [:]
        var plans: [ObjectIdentifier: EntityPlan] = [plan.id: plan]
        var whole: Set<ObjectIdentifier> = []
        for column in columns {
            var (owner, place) = (plan, "")
            var keys = column.split(separator: ".", omittingEmptySubsequences: false)[...]
            while let key = keys.popFirst(), let field = owner.fields.firstIndex(where: { $0.key == key }) {
                fields[owner.id, default: []].insert(field)
                places[place, default: (owner, [])].fields.insert(field)
                guard let related = owner.fields[field].related, !related.isReference else { break }
                owner = try registry.plan(related)
                place += "\(key)."
                plans[owner.id] = owner
                // The column has such models as JSON.
                if keys.isEmpty { whole.insert(owner.id) }
            }
        }
        for (place, known) in places.ordered(by: { $0.key < $1.key }) where !whole.contains(known.plan.id) {
            guard let missing = fields[known.plan.id]?.subtracting(known.fields).min() else { continue }
            let column = place + known.plan.fields[missing].key
            throw PersistenceError.fileNotReadable(
                path: path,
                reason:
                    "It has a column for '\(known.plan.fields[missing].name)' of '\(known.plan.name)' at another place, and "
                    + "none named “\(column)”, so that the value would be lost there. Add it, or leave the other one out."
            )
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
