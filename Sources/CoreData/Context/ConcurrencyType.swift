/// How a context is tied to a queue.
public enum NSManagedObjectContextConcurrencyType: UInt, Sendable {
    /// To the thread that made it. Deprecated by Apple; treated as a private queue that is not checked.
    case confinementConcurrencyType = 0
    /// To a private queue of its own.
    case privateQueueConcurrencyType = 1
    /// To the main queue.
    case mainQueueConcurrencyType = 2
}

extension NSManagedObjectContext {
    /// Creates a context.
    ///
    /// - Parameter type: `.privateQueue` or `.mainQueue`.
    public convenience init(_ type: ConcurrencyType) { self.init(concurrencyType: type.rawValue) }

    /// How the context is tied to a queue, in the form that reads well in Swift.
    public struct ConcurrencyType: RawRepresentable, Hashable, Sendable {
        /// The Objective-C form's type.
        public typealias RawValue = NSManagedObjectContextConcurrencyType
        /// The Objective-C form.
        public let rawValue: NSManagedObjectContextConcurrencyType
        /// Makes the type from its Objective-C form.
        ///
        /// - Parameter rawValue: the type as Objective-C code names it.
        public init(rawValue: NSManagedObjectContextConcurrencyType) { self.rawValue = rawValue }
        /// A private queue.
        public static let privateQueue = ConcurrencyType(rawValue: .privateQueueConcurrencyType)
        /// The main queue.
        public static let mainQueue = ConcurrencyType(rawValue: .mainQueueConcurrencyType)
    }

    /// When `perform` runs its block.
    public enum ScheduledTaskType: Sendable {
        /// At once when already on the context's queue, else after what is waiting there.
        case immediate
        /// After what is waiting on the queue.
        case enqueued
    }
}
