import CoreData

/// A total order, and the models that come after a given one in it.
struct Page {
    private struct Key {
        let field: Int
        let name: String
        let kind: AttributeKind
        let ascending: Bool
    }

    private let keys: [Key]

    /// - Throws: ``PersistenceError/Code/unknownProperty`` for an order by anything but an attribute of the model,
    ///   ``PersistenceError/Code/notComparable`` for an order of texts that is not the default one.
    init<Model>(_ order: Order<Model>, _ plan: EntityPlan, _ registry: ModelRegistry) throws {
        var keys: [Key] = []
        if let term = order.terms.first(where: { $0.texts != .lexical }) {
            throw PersistenceError.notPaged(term.property.spelling, entity: plan.name, order: "\(term.texts)")
        }
        let terms = order.terms.map { ($0.property.path, $0.property.spelling, $0.ascending) }
        for (path, spelling, ascending) in terms + [(plan.uidKey, plan.uidKey, true)] {
            guard let field = plan.fields.firstIndex(where: { $0.name == path }),
                let kind = plan.record.attributeKinds[field]
            else {
                // This throws first for a property that is not stored at all.
                _ = try order.sortDescriptors(plan, registry)
                throw PersistenceError.noSingleValue(
                    spelling, entity: plan.name, known: plan.propertyNames,
                    "What comes after a model is found by plain properties of the model itself: order by these, or take pages by offset."
                )
            }
            keys.append(Key(field: field, name: plan.fields[field].name, kind: kind, ascending: ascending))
        }
        self.keys = keys
    }

    var sortDescriptors: [NSSortDescriptor] { keys.map { NSSortDescriptor(key: $0.name, ascending: $0.ascending) } }

    /// The predicate for the models after the one with these values.
    func predicate(after values: ContiguousArray<StoredValue>) throws -> NSPredicate {
        var alternatives: [NSPredicate] = []
        var equal: [NSPredicate] = []
        for key in keys {
            let value = values[key.field].attributeValue(key.kind)
            if let beyond = Self.beyond(key, value) {
                alternatives.append(NSCompoundPredicate(andPredicateWithSubpredicates: equal + [beyond]))
            }
            equal.append(Self.predicate(key.name, "==", value))
        }
        return NSCompoundPredicate(orPredicateWithSubpredicates: alternatives)
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
