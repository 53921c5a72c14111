/// The queue to which a context is confined.
public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
    /// The thread that made it. Deprecated by Apple; treated as a private queue that is not checked.
    case confinementConcurrencyType = 0
    /// A private queue of its own.
    case privateQueueConcurrencyType = 1
    /// The main queue.
    case mainQueueConcurrencyType = 2
}
