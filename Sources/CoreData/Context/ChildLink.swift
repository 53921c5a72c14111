import Synchronization

/// A parent context's record of a child, which is on another queue: the child's table, and the changes of IDs and
/// versions that the child has not taken yet.
final class ChildLink: Sendable {
    /// The temporary ID under which the child may know an object, and its permanent one.
    struct Promotion: Sendable {
        let temporary: NSManagedObjectID
        let permanent: NSManagedObjectID
    }

    /// An object that was saved above the child, with its versions before and after.
    struct Renewal: Sendable {
        let identifier: NSManagedObjectID
        let former: Int64
        var version: Int64
    }

    let table: ObjectTable
    private let promotions = Mutex<[Promotion]>([])
    /// In order, each following the one before; usually one per object.
    private let renewals = Mutex<[NSManagedObjectID: [Renewal]]>([:])

    init(_ table: ObjectTable) { self.table = table }

    /// Adds permanent IDs for the child, which takes them the next time it works, and for its descendants, which may
    /// work before that.
    func add(_ new: [Promotion]) {
        promotions.withLock { $0 += new }
        table.context?.notifyChildren(new)
    }

    /// Adds the new versions of saved objects that the child may have read. The child's next changes are based on
    /// these.
    func add(_ new: [Renewal]) {
        let known = new.filter { table.contains($0.identifier) }
        if !known.isEmpty {
            renewals.withLock { waiting in
                for renewal in known {
                    if let last = waiting[renewal.identifier]?.indices.last,
                        waiting[renewal.identifier]?[last].version == renewal.former
                    {
                        waiting[renewal.identifier]?[last].version = renewal.version
                    } else {
                        waiting[renewal.identifier, default: []].append(renewal)
                    }
                }
            }
        }
        table.context?.notifyChildren(of: new)
    }

    /// The versions since the last call.
    func takeRenewals() -> [NSManagedObjectID: [Renewal]] {
        renewals.withLock { waiting in
            defer { waiting = [:] }
            return waiting
        }
    }

    /// Adds the pending permanent IDs of another link: for a grandchild that was created after they were added.
    func add(pendingAt link: ChildLink) {
        let pending = link.promotions.withLock { $0 }
        if !pending.isEmpty { add(pending) }
    }

    /// Whether there are permanent IDs that the child has not taken.
    var hasPromotions: Bool { promotions.withLock { !$0.isEmpty } }

    /// The permanent IDs since the last call.
    func take() -> [Promotion] {
        promotions.withLock { pending in
            defer { pending = [] }
            return pending
        }
    }
}
