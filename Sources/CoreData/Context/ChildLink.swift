import Synchronization

/// What a parent context knows of a child, which is on another queue: its table, and what it has yet to be told.
final class ChildLink: Sendable {
    /// The temporary ID by which the child may know an object, and its permanent one.
    struct Promotion: Sendable {
        let temporary: NSManagedObjectID
        let permanent: NSManagedObjectID
    }

    /// An object that was saved above the child, with the version that it had before and the one that it has now.
    struct Renewal: Sendable {
        let identifier: NSManagedObjectID
        let former: Int64
        var version: Int64
    }

    let table: ObjectTable
    private let promotions = Mutex<[Promotion]>([])
    /// In order, each following the one before it; mostly one for an object.
    private let renewals = Mutex<[NSManagedObjectID: [Renewal]]>([:])

    init(_ table: ObjectTable) { self.table = table }

    /// Leaves news for the child, which takes it when it is next at work, and for those below it, which may be at work before.
    func leave(_ news: [Promotion]) {
        promotions.withLock { $0 += news }
        table.context?.tellChildren(news)
    }

    /// Leaves the versions that objects were saved with, of which the child has some: what it changes next is a change of these.
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

    /// The versions since the last time.
    func takeRenewals() -> [NSManagedObjectID: [Renewal]] {
        renewals.withLock { waiting in
            defer { waiting = [:] }
            return waiting
        }
    }

    /// Leaves what another link has, for a child of that link's child that came after the news.
    func leave(whatWaitsAt link: ChildLink) {
        let news = link.promotions.withLock { $0 }
        if !news.isEmpty { leave(news) }
    }

    /// Whether there is news that the child has not taken.
    var hasNews: Bool { promotions.withLock { !$0.isEmpty } }

    /// The news since the last time.
    func take() -> [Promotion] {
        promotions.withLock { news in
            defer { news = [] }
            return news
        }
    }
}
