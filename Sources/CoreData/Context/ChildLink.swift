import Synchronization

/// A parent context's record of a child, which is on another queue: the child's table, and news that the child has not
/// taken yet.
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

    /// Leaves news for the child, which takes it the next time it works, and for its descendants, which may work before
    /// that.
    func leave(_ news: [Promotion]) {
        promotions.withLock { $0 += news }
        table.context?.tellChildren(news)
    }

    /// Leaves the new versions of saved objects that the child may have read. The child's next changes are based on
    /// these.
    func leave(_ news: [Renewal]) {
        let known = news.filter { table.contains($0.identifier) }
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
        table.context?.tellChildren(of: news)
    }

    /// The versions since the last call.
    func takeRenewals() -> [NSManagedObjectID: [Renewal]] {
        renewals.withLock { waiting in
            defer { waiting = [:] }
            return waiting
        }
    }

    /// Leaves the pending news of another link: for a grandchild that was created after the news came.
    func leave(whatWaitsAt link: ChildLink) {
        let news = link.promotions.withLock { $0 }
        if !news.isEmpty { leave(news) }
    }

    /// Whether there is news that the child has not taken.
    var hasNews: Bool { promotions.withLock { !$0.isEmpty } }

    /// The news since the last call.
    func take() -> [Promotion] {
        promotions.withLock { news in
            defer { news = [] }
            return news
        }
    }
}
