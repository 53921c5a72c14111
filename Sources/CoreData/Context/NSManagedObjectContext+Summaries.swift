import PredicateFormat

// Summaries of unsaved changes, for questions that are asked in turn with changes.
extension NSManagedObjectContext {
    /// The largest number of first objects that is kept: parts of a summary have up to as many.
    private static var firstLimit: Int { 32 }

    /// The changed objects that are among the first ones of a plan with a limit.
    ///
    /// - Parameters:
    ///   - plan: what is fetched.
    ///   - keys: what is read of the objects, apart from the attributes that decide.
    /// - Returns: as many as the plan's limit and offset ask for, in the plan's order, and the IDs of those whose rows
    ///   no longer hold; nil if all changed objects have to be looked at.
    /// - Throws: an error of the predicate's evaluation.
    func firstChanges(
        for plan: FetchPlan, reading keys: [String]
    ) throws -> (selected: [NSManagedObject], outdated: [NSManagedObjectID])? {
        let (count, isTooLarge) = plan.limit.addingReportingOverflow(max(plan.offset, 0))
        guard plan.limit > 0, !isTooLarge, count <= Self.firstLimit,
            let terms = try? sortTerms(of: plan.sortDescriptors)
        else { return nil }
        func first(_ objects: [NSManagedObject]) -> [NSManagedObject] {
            terms.isEmpty ? Array(objects.prefix(count)) : objects.sorted(by: terms, first: count)
        }
        return try summary(for: plan, keys, "first \(count)", { [$0] }, { first($0 + $1) }).map {
            ($0.total as? [NSManagedObject] ?? [], $0.outdated)
        }
    }

    /// The number of changed objects that a plan selects, if the stores have none of these.
    ///
    /// - Returns: nil if the changed objects have to be looked at.
    /// - Throws: an error of the predicate's evaluation.
    func countOfNew(_ plan: FetchPlan) throws -> Int? {
        guard !changed.isEmpty else { return nil }
        processDeletions()
        var unordered = plan
        unordered.sortDescriptors = []
        guard newObjects(for: plan) == nil, let summary = try summary(for: unordered, [], "count", { _ in 1 }, +),
            summary.outdated.isEmpty
        else { return nil }
        return summary.total as? Int ?? 0
    }

    /// The changed objects that a plan may select, found by a value that the predicate asks for.
    ///
    /// - Returns: nil if there is none, if all changed objects have to be looked at, and if stores may have some: those
    ///   that no longer match are not found by their values.
    func newObjects(for plan: FetchPlan) -> ContiguousArray<NSManagedObject>? {
        guard event.objects.isEmpty, case .candidates(let found, storedCount: 0)? = changed.indexed(for: plan) else {
            return nil
        }
        return found.filter { $0.hasChanges && $0.managedObjectContext === self }
    }

    /// What all changes add to the answer of a question about the objects that a plan selects.
    ///
    /// - Returns: nil if all changed objects have to be looked at: there are few, or the question is a new one, or more
    ///   than stored attributes of the objects themselves decides.
    func summary<Part>(
        for plan: FetchPlan, _ keys: [String], _ purpose: String, _ part: @escaping (NSManagedObject) -> Part?,
        _ combine: @escaping (Part, Part) -> Part
    ) throws -> ChangeSummary? {
        guard changed.count >= ChangeList.indexingCount, event.objects.isEmpty,
            let order = try? sortTerms(of: plan.sortDescriptors)
        else { return nil }
        var tree: PredicateTree?
        if let predicate = plan.predicate {
            guard let known = try? predicateTree(of: predicate) else { return nil }
            tree = known
        }
        var read = plan
        read.sortDescriptors += keys.map { NSSortDescriptor(key: $0, ascending: true) }
        guard var deciding = DecidingAttributes(of: read), deciding.areStored(in: plan.entity) else { return nil }
        let question = ChangeSummary.Question(
            entity: ObjectIdentifier(plan.entity), includesSubentities: plan.includesSubentities, predicate: tree,
            order: order, keys: keys, purpose: purpose)
        guard var summaries = changed.takeSummaries() else { return nil }
        let summary = try StoreError.evaluating {
            let matches = Self.test(plan.predicate)
            let rule = ChangeSummary.Rule(
                isAffected: {
                    plan.includes($0.layout) && $0.managedObjectContext === self && !deciding.areUnchanged(in: $0)
                },
                part: { matches($0) ? part($0) : nil },
                combine: { left, right in
                    guard let left = left as? Part, let right = right as? Part else { return left }
                    return combine(left, right)
                })
            return summaries.summary(for: question, of: changed.objects, rule)
        }
        // Not after an error: objects that could not be evaluated are to be looked at again.
        changed.keep(summaries)
        return summary
    }
}
