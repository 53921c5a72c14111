import PredicateFormat

extension NSManagedObjectContext {
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
