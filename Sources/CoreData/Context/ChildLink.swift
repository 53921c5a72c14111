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

    /// Leaves news for the child, which takes it when it is next at work.
    func leave(_ news: [Promotion]) { promotions.withLock { $0 += news } }

    /// The news since the last time.
    func take() -> [Promotion] {
        promotions.withLock { news in
            defer { news = [] }
            return news
        }
    }
}
