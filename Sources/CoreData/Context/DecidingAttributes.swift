import PredicateFormat

/// The attributes that decide what a fetch finds, and in what order.
///
/// An object of which others were changed is found, or not, by what the store has of it.
struct DecidingAttributes {
    private let names: [String]
    // The attributes' slots in the latest entity.
    private var layout: EntityLayout?
    private var slots: [Int]?

    /// Nil where more than attributes of the objects themselves decides.
    ///
    /// - Parameter plan: what to find.
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

    /// The keys that a predicate compares with constants or with one another; nil for any other predicate.
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

    /// Whether an object that the store has, and that was changed, has the values in these attributes that the store has.
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
