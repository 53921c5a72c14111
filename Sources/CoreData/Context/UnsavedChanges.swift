import PredicateFormat

/// The effect of a context's unsaved changes on a result that stores compute, such as a sum.
///
/// The stores compute it without the rows that no longer hold, and the changed objects add their part.
package struct UnsavedChanges {
    /// The changed objects that the request selects as they are now, in its order, and no more than its limit.
    package let selected: [NSManagedObject]
    /// The IDs of changed and deleted objects whose rows stores may have.
    package let outdated: [NSManagedObjectID]
}

extension NSManagedObjectContext {
    /// The unsaved changes that affect what stores compute.
    ///
    /// - Parameters:
    ///   - request: what selects the objects; its offset is not used.
    ///   - keys: what the result is computed from. A changed object is left out if the attributes of that name, and
    ///     those of the request, have the values that the store has.
    /// - Returns: the changed objects that the request selects, and the IDs of those whose rows no longer hold.
    /// - Throws: the errors that fetching the request throws.
    package func unsavedChanges(
        of request: NSFetchRequest<any NSFetchRequestResult>, reading keys: [String]
    ) throws -> UnsavedChanges {
        let plan = plan(for: request, try entity(of: request))
        processDeletions()
        var read = plan
        read.sortDescriptors += keys.map { NSSortDescriptor(key: $0, ascending: true) }
        let affected = changedObjects(of: read)
        let outdated = affected.filter { !$0.state.contains(.inserted) }.map(\.objectID)
        let selected = try StoreError.evaluating {
            let matches = Self.test(plan.predicate)
            let selected = affected.filter { !$0.isDeleted && matches($0) }
            guard !plan.sortDescriptors.isEmpty else { return Array(selected) }
            return Self.sorted(Array(selected), by: plan.sortDescriptors, first: plan.limit > 0 ? plan.limit : .max)
        }
        return UnsavedChanges(selected: selected, outdated: outdated)
    }

    /// The objects with unsaved changes that a plan is about, without those for which the attributes that decide have
    /// the stores' values.
    func changedObjects(of plan: FetchPlan) -> [NSManagedObject] {
        var deciding = DecidingAttributes(of: plan)
        return changed.objects.filter {
            plan.includes($0.layout) && $0.hasChanges && !(deciding?.areUnchanged(in: $0) ?? false)
        }
    }
}
