extension NSManagedObjectContext {
    /// Creates a context.
    ///
    /// - Parameter type: `.privateQueue` or `.mainQueue`.
    public convenience init(_ type: ConcurrencyType) { self.init(concurrencyType: type.rawValue) }

    /// The queue to which a context is confined, with Swift's names.
    public struct ConcurrencyType: RawRepresentable, Hashable, Sendable {
        /// The type with the Objective-C names.
        public typealias RawValue = NSManagedObjectContextConcurrencyType
        /// The value with the Objective-C name.
        public let rawValue: NSManagedObjectContextConcurrencyType
        /// Makes the type from the value with the Objective-C name.
        ///
        /// - Parameter rawValue: the value with the Objective-C name.
        public init(rawValue: NSManagedObjectContextConcurrencyType) { self.rawValue = rawValue }
        /// A private queue.
        public static let privateQueue = ConcurrencyType(rawValue: .privateQueueConcurrencyType)
        /// The main queue.
        public static let mainQueue = ConcurrencyType(rawValue: .mainQueueConcurrencyType)
    }

    /// When `perform` runs its block.
    public enum ScheduledTaskType: Sendable {
        /// Immediately if the caller is on the context's queue already, otherwise after the blocks that are waiting
        /// there.
        case immediate
        /// After the blocks that are waiting on the queue.
        case enqueued
    }
}
