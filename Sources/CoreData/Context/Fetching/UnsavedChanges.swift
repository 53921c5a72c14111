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
        var plan = plan(for: request, try entity(of: request))
        plan.offset = 0
        processDeletions()
        let new = newObjects(for: plan)
        if new == nil, let first = try firstChanges(for: plan, reading: keys) {
            return UnsavedChanges(selected: first.selected, outdated: first.outdated)
        }
        let affected = new ?? changedObjects(of: plan, reading: keys)
        let outdated = affected.filter { !$0.state.contains(.inserted) }.map(\.objectID)
        let selected = try StoreError.evaluating {
            let matches = Self.test(plan.predicate)
            let selected = affected.filter { !$0.isDeleted && matches($0) }
            guard !plan.sortDescriptors.isEmpty else { return Array(selected) }
            return Self.sorted(Array(selected), by: plan.sortDescriptors, first: plan.limit > 0 ? plan.limit : .max)
        }
        return UnsavedChanges(selected: selected, outdated: outdated)
    }

    /// What stores compute of the stored objects that a predicate selects.
    ///
    /// - Parameters:
    ///   - name: the name of the objects' entity.
    ///   - predicate: what the objects meet; nil for all.
    ///   - complete: sets the columns, the groups and the order.
    /// - Returns: the dictionaries.
    /// - Throws: the errors that fetching them throws.
    package func computed(
        of name: String, _ predicate: NSPredicate?, _ complete: (inout FetchPlan) -> Void
    ) throws -> [[String: Any]] {
        let request = NSFetchRequest<any NSFetchRequestResult>(entityName: name)
        request.predicate = predicate
        var plan = plan(for: request, try entity(of: request))
        complete(&plan)
        return try source?.fetchDictionaries(plan, stores: nil) ?? []
    }

    /// The part that unsaved changes have in a result that is put together from parts of objects, such as a sum.
    ///
    /// If the same is asked again and again, only the objects that have changed meanwhile are looked at.
    ///
    /// - Parameters:
    ///   - request: what selects the objects, without order and limit.
    ///   - keys: what the result is computed from.
    ///   - purpose: what is computed of these: equal purposes have equal functions `part` and `combine`.
    ///   - part: the part of an object; nil for none.
    ///   - combine: the parts of two lots of objects, put together.
    /// - Returns: the part of all changed objects that the request selects, nil if there is none; and the IDs of
    ///   changed and deleted objects whose rows no longer hold.
    /// - Throws: the errors that fetching the request throws.
    package func unsavedPart<Part>(
        of request: NSFetchRequest<any NSFetchRequestResult>, reading keys: [String], for purpose: String,
        _ part: @escaping (NSManagedObject) -> Part?, combine: @escaping (Part, Part) -> Part
    ) throws -> (part: Part?, outdated: [NSManagedObjectID]) {
        let plan = plan(for: request, try entity(of: request))
        processDeletions()
        if newObjects(for: plan) == nil,
            let summary = try summary(for: plan, keys, "\(purpose) \(Part.self)", part, combine)
        {
            return (summary.total as? Part, summary.outdated)
        }
        let changes = try unsavedChanges(of: request, reading: keys)
        let parts = changes.selected.compactMap(part)
        guard let first = parts.first else { return (nil, changes.outdated) }
        return (parts.dropFirst().reduce(first, combine), changes.outdated)
    }

    /// The objects with unsaved changes that a plan is about, without those for which the attributes that decide, and
    /// those of some more keys, have the stores' values.
    private func changedObjects(of plan: FetchPlan, reading keys: [String]) -> ContiguousArray<NSManagedObject> {
        var read = plan
        read.sortDescriptors += keys.map { NSSortDescriptor(key: $0, ascending: true) }
        return ContiguousArray(changedObjects(of: read))
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

/// The attributes that determine what a fetch finds, and in what order.
///
/// If only other attributes of an object were changed, the store's row still determines whether it is found.
struct DecidingAttributes {
    private let names: [String]
    // The slots of the attributes in the entity checked last.
    private var layout: EntityLayout?
    private var slots: [Int]?

    /// Nil if anything but attributes of the objects themselves matters.
    ///
    /// - Parameter plan: the fetch.
    init?(of plan: FetchPlan) {
        var names: [String] = []
        for descriptor in plan.sortDescriptors {
            guard let key = descriptor.key else { return nil }
            names.append(key)
        }
        if let predicate = plan.predicate {
            guard let tree = try? predicateTree(of: predicate), let keys = Self.keys(of: tree) else { return nil }
            names += keys
        }
        self.names = names
    }

    /// The keys that a predicate compares with constants or with each other; nil for any other predicate.
    static func keys(of tree: PredicateTree) -> [String]? {
        switch tree {
        case .constant: return []
        case .not(let part): return keys(of: part)
        case .and(let parts), .or(let parts):
            var all: [String] = []
            for part in parts {
                guard let keys = keys(of: part) else { return nil }
                all += keys
            }
            return all
        case .comparison(let comparison):
            guard comparison.modifier == .direct, let left = keys(of: comparison.left),
                let right = keys(of: comparison.right)
            else { return nil }
            return left + right
        }
    }

    private static func keys(of expression: ExpressionTree) -> [String]? {
        switch expression {
        case .constant, .evaluatedObject: []
        case .keyPath(let keys) where keys.count == 1: keys
        default: nil
        }
    }

    /// Whether all of them are stored attributes of an entity.
    func areStored(in layout: EntityLayout) -> Bool { slots(in: layout) != nil }

    /// Whether a changed object that is stored still has the store's values of these attributes.
    mutating func areUnchanged(in object: NSManagedObject) -> Bool {
        guard object.state.isDisjoint(with: [.inserted, .deleted, .fault]) else { return false }
        if layout !== object.layout {
            layout = object.layout
            slots = slots(in: object.layout)
        }
        guard let slots, object.values.count == object.snapshot.count else { return false }
        for slot in slots where object.values[slot] != object.snapshot[slot] { return false }
        return true
    }

    private func slots(in layout: EntityLayout) -> [Int]? {
        var slots: [Int] = []
        for name in names {
            guard let slot = layout.slotIndex(forName: name), layout.slots[slot].attribute != nil,
                !layout.slots[slot].isTransient
            else { return nil }
            slots.append(slot)
        }
        return slots
    }
}
