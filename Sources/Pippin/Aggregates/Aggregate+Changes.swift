import CoreData

// The same results if a context has changes that the store has not seen: computed from the objects.
extension Aggregate {
    /// The values of the property in ascending order, without missing ones.
    private func values(_ predicate: NSPredicate?, in context: NSManagedObjectContext) throws -> [Any] {
        try objects(predicate, sortedBy: path, in: context).compactMap { $0.value(forKeyPath: path) }
    }

    private func objects(
        _ predicate: NSPredicate?, sortedBy key: String, in context: NSManagedObjectContext
    ) throws -> [NSManagedObject] {
        var selection = RecordSelection(predicate: predicate)
        selection.sortDescriptors = [NSSortDescriptor(key: key, ascending: true)]
        return try plan.objects(selection, in: context)
    }

    /// The function's result for the property's values; `nil` if there are none.
    func changedValue(
        _ function: Function, _ predicate: NSPredicate?, in context: NSManagedObjectContext
    ) throws -> Any? { try result(function, try values(predicate, in: context)) }

    /// The function's result for some values of the property.
    ///
    /// - Throws: ``PersistenceError/Code/readFailed`` for a sum of whole numbers that overflows, as stores do.
    func result(_ function: Function, _ values: [Any]) throws -> Any? {
        guard !values.isEmpty else { return nil }
        switch function {
        case .count: return values.count
        case .minimum: return values.first
        case .maximum: return values.last
        case .sum where [.integer16, .integer32, .integer64].contains(kind): return NSNumber(value: try sum(values))
        case .sum, .average:
            let expression = NSExpression(
                forFunction: function.rawValue, arguments: [NSExpression(forConstantValue: values)])
            return expression.expressionValue(with: nil, context: nil)
        }
    }

    private func sum(_ values: [Any]) throws -> Int64 {
        try values.reduce(into: 0) { sum, value in
            guard case .integer(let number) = stored(value) else { return }
            let (next, isOver) = sum.addingReportingOverflow(number)
            if isOver {
                throw PersistenceError(
                    .readFailed, entity: plan.name, property: path,
                    "The sum of '\(path)' of '\(plan.name)' is more than 64 bits hold: integer overflow.")
            }
            sum = next
        }
    }

    /// The distinct values in ascending order; `nil` first if a model has none.
    func changedDistinct(_ predicate: NSPredicate?, in context: NSManagedObjectContext) throws -> [Any?] {
        var distinct: [Any?] = []
        var last: StoredValue?
        for object in try objects(predicate, sortedBy: path, in: context) {
            let value = object.value(forKeyPath: path)
            let stored = stored(value)
            if distinct.isEmpty || last != stored { distinct.append(value) }
            last = stored
        }
        return distinct
    }

    /// How many models there are for each value, `nil` among them.
    func changedCounts(
        _ predicate: NSPredicate?, in context: NSManagedObjectContext
    ) throws -> [(group: Any?, count: Int)] {
        try changedGroups(by: self, predicate, in: context).map { ($0.group, $0.objects.count) }
    }

    /// The sum of the property's values for each value of another property; `nil` if there are no values.
    func changedSums(
        by group: Aggregate, _ predicate: NSPredicate?, in context: NSManagedObjectContext
    ) throws -> [(group: Any?, sum: Any?)] {
        try changedGroups(by: group, predicate, in: context).map {
            ($0.group, try result(.sum, $0.objects.compactMap { $0.value(forKeyPath: path) }))
        }
    }

    private func changedGroups(
        by group: Aggregate, _ predicate: NSPredicate?, in context: NSManagedObjectContext
    ) throws -> [(group: Any?, objects: [NSManagedObject])] {
        var groups: [(group: Any?, objects: [NSManagedObject])] = []
        var last: StoredValue?
        for object in try objects(predicate, sortedBy: group.path, in: context) {
            let value = object.value(forKeyPath: group.path)
            let stored = group.stored(value)
            if groups.isEmpty || last != stored { groups.append((value, [])) }
            last = stored
            groups[groups.count - 1].objects.append(object)
        }
        return groups
    }

    /// A value as the store distinguishes it, which is not always as Swift does: texts by their bytes.
    private func stored(_ value: Any?) -> StoredValue { StoredValue(value, kind) ?? .null }
}
