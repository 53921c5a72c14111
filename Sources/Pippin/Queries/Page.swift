import StoreSession

/// A total order, and the models that come after a given one in it.
struct Page {
    fileprivate struct Key {
        let field: Int
        /// The names that lead on from the field, into nested values.
        let nested: [String]
        let name: String
        let kind: AttributeKind
        let ascending: Bool
    }

    /// At least one: the last one is the identifier, which no two models share.
    private let keys: [Key]

    /// - Throws: ``PersistenceError/Code/unknownProperty`` for an order by anything but single values of the model,
    ///   ``PersistenceError/Code/notComparable`` for an order of texts that is not the default one.
    init<Model>(_ order: Order<Model>, _ plan: EntityPlan, _ registry: ModelRegistry) throws {
        var keys: [Key] = []
        if let term = order.terms.first(where: { $0.texts != .lexical }) {
            throw PersistenceError.notPaged(term.property.spelling, entity: plan.name, order: "\(term.texts)")
        }
        let reason =
            "What comes after a model is found by single values of the model itself, also of its nested structs: "
            + "order by these, or take pages by offset."
        for term in order.terms where keys.last?.name != plan.uidKey {
            let (path, kind) = try registry.singleValue(term.property, of: plan, reason)
            guard try registry.relationships(of: path, in: plan) == nil,
                let key = Key(path, kind, ascending: term.ascending, plan)
            else {
                throw PersistenceError.noSingleValue(
                    term.property.spelling, entity: plan.name, known: plan.propertyNames, reason)
            }
            keys.append(key)
        }
        if keys.last?.name != plan.uidKey, let kind = plan.record.attributeKinds[plan.uidField],
            let key = Key(plan.uidKey, kind, ascending: true, plan)
        {
            keys.append(key)
        }
        self.keys = keys
    }

    var sortDescriptors: [NSSortDescriptor] { keys.map { NSSortDescriptor(key: $0.name, ascending: $0.ascending) } }

    /// The predicate for the models after the one with these values.
    func predicate(after values: ContiguousArray<StoredValue>) -> NSPredicate {
        let rest = alternatives(values) { Self.beyond(keys[0], $0) }
        guard keys.count > 1, keys[0].ascending, let value = value(of: keys[0], values) else { return rest }
        // A database searches an index by this, but not by alternatives.
        return Self.and([Self.predicate(keys[0].name, ">=", value), rest])
    }

    /// The predicate for the first ones after the one with these values, which a database finds by searching an index;
    /// the others are those from where values of the first key begin, or end.
    ///
    /// - Returns: `nil` if the predicate for all of them can be answered by searching an index.
    func nearestPredicate(after values: ContiguousArray<StoredValue>) -> NSPredicate? {
        let name = keys[0].name
        switch (value(of: keys[0], values), keys[0].ascending) {
        case (_?, true), (nil, false): return nil
        case (nil, true): return alternatives(values) { _ in nil }
        case (let value?, false):
            let rest = alternatives(values) { _ in Self.predicate(name, "<", value) }
            return Self.and([Self.predicate(name, "<=", value), rest])
        }
    }

    /// Beyond the first key, or equal by it and beyond the second one, and so on.
    private func alternatives(
        _ values: ContiguousArray<StoredValue>, beyondFirst: (Any?) -> NSPredicate?
    ) -> NSPredicate {
        var alternatives: [NSPredicate] = []
        var equal: [NSPredicate] = []
        for (number, key) in keys.enumerated() {
            let value = value(of: key, values)
            if let beyond = number == 0 ? beyondFirst(value) : Self.beyond(key, value) {
                alternatives.append(Self.and(equal + [beyond]))
            }
            equal.append(Self.predicate(key.name, "==", value))
        }
        return NSCompoundPredicate(orPredicateWithSubpredicates: alternatives)
    }

    private func value(of key: Key, _ values: ContiguousArray<StoredValue>) -> Any? {
        let value = values[key.field]
        guard !key.nested.isEmpty else { return value.attributeValue(key.kind) }
        return key.nested.reduce(value.composite?.elements as Any?) { ($0 as? [String: Any])?[$1] }
    }

    private static func and(_ predicates: [NSPredicate]) -> NSPredicate {
        NSCompoundPredicate(andPredicateWithSubpredicates: predicates)
    }

    /// No value counts as less than any value: it comes first in an ascending order, last in a descending one.
    private static func beyond(_ key: Key, _ value: Any?) -> NSPredicate? {
        guard let value else { return key.ascending ? predicate(key.name, "!=", nil) : nil }
        guard !key.ascending else { return predicate(key.name, ">", value) }
        return NSCompoundPredicate(orPredicateWithSubpredicates: [
            predicate(key.name, "<", value), predicate(key.name, "==", nil),
        ])
    }

    private static func predicate(_ name: String, _ comparison: String, _ value: Any?) -> NSPredicate {
        guard let value else { return NSPredicate(format: "%K \(comparison) nil", argumentArray: [name]) }
        return NSPredicate(format: "%K \(comparison) %@", argumentArray: [name, value])
    }
}

extension Page.Key {
    /// The key for a path of the model, maybe through nested values; nil if it leads elsewhere.
    fileprivate init?(_ path: String, _ kind: AttributeKind, ascending: Bool, _ plan: EntityPlan) {
        let names = path.split(separator: ".").map(String.init)
        guard let field = plan.fields.firstIndex(where: { $0.name == names.first }) else { return nil }
        self.init(
            field: field, nested: Array(names.dropFirst()), name: path, kind: kind, ascending: ascending)
    }
}
