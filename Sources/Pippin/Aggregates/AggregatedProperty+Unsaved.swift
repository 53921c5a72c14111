import CoreData

/// What a context has that the store has not seen, for an aggregate: the store computes with the other models, and the
/// changed objects add their part.
struct UnsavedPart {
    /// The changed objects that the filter selects; none of those of a sum.
    var objects: [NSManagedObject] = []
    /// The values of the changed objects, or their sum.
    var values: [Any] = []
    /// How many values there are, the terms of a sum included.
    var count = 0
    /// What selects the models that did not change.
    let others: NSPredicate?

    /// What an aggregate takes of the changed objects.
    enum Wanted {
        case all, inOrder, least, greatest, sum
    }
}

extension AggregatedProperty {
    /// The part that a context's changes have in the result.
    ///
    /// - Returns: the part; `nil` if the result has to be computed from all objects, because values of other models
    ///   than the selected ones take part, or because the context gets its objects from another one.
    func unsavedPart(
        _ predicate: NSPredicate?, taking wanted: UnsavedPart.Wanted = .all, by group: AggregatedProperty? = nil,
        in context: NSManagedObjectContext
    ) throws -> UnsavedPart? {
        guard context.hasChanges else { return UnsavedPart(others: predicate) }
        guard context.parent == nil, try isStored(in: context), try group?.isStored(in: context) ?? true else {
            return nil
        }
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: plan.name)
        request.predicate = predicate
        if wanted == .sum { return try unsavedSum(of: request, predicate, in: context) }
        if wanted != .all {
            request.sortDescriptors = [NSSortDescriptor(key: path, ascending: wanted != .greatest)]
        }
        if wanted == .least || wanted == .greatest {
            request.fetchLimit = 1
            let isPresent = NSPredicate(format: "%K != nil", argumentArray: [path])
            request.predicate =
                predicate.map { NSCompoundPredicate(andPredicateWithSubpredicates: [$0, isPresent]) }
                ?? isPresent
        }
        let changes = try context.unsavedChanges(of: request, reading: [path] + (group.map { [$0.path] } ?? []))
        let values = values(of: changes.selected)
        return UnsavedPart(
            objects: changes.selected, values: values, count: values.count,
            others: Self.predicate(predicate, without: changes.outdated))
    }

    private func unsavedSum(
        of request: NSFetchRequest<any NSFetchRequestResult>, _ predicate: NSPredicate?,
        in context: NSManagedObjectContext
    ) throws -> UnsavedPart {
        let (sum, outdated) = try context.unsavedPart(
            of: request, reading: [path], for: "sum of \(path)",
            { object -> Sum? in object.value(forKeyPath: path).map { self.sum(of: $0) } },
            combine: { left, right in self.sum(left, right) })
        let others = Self.predicate(predicate, without: outdated)
        guard let sum else { return UnsavedPart(others: others) }
        return UnsavedPart(values: [try value(of: sum)], count: sum.count, others: others)
    }

    /// Whether the store has the values of all models that did not change: other models that these lead to did not
    /// change either.
    private func isStored(in context: NSManagedObjectContext) throws -> Bool {
        try related.allSatisfy { try !context.hasOutdatedValues(of: $0.entity, for: $0.key) }
    }

    private static func predicate(_ predicate: NSPredicate?, without outdated: [NSManagedObjectID]) -> NSPredicate? {
        guard !outdated.isEmpty else { return predicate }
        let others = NSPredicate(format: "NOT SELF IN %@", argumentArray: [outdated])
        return predicate.map { NSCompoundPredicate(andPredicateWithSubpredicates: [$0, others]) } ?? others
    }
}
