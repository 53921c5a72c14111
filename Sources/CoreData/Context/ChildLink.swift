import Synchronization

/// What a parent context knows of a child, which is on another queue: its table, and what it has yet to be told.
final class ChildLink: Sendable {
    /// The temporary ID by which the child may know an object, and its permanent one.
    struct Promotion: Sendable {
        let temporary: NSManagedObjectID
        let permanent: NSManagedObjectID
    }

    let table: ObjectTable
    private let promotions = Mutex<[Promotion]>([])

    init(_ table: ObjectTable) { self.table = table }

    /// Leaves news for the child, which takes it when it is next at work, and for those below it, which may be at work before.
    func leave(_ news: [Promotion]) {
        promotions.withLock { $0 += news }
        table.context?.tellChildren(news)
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
