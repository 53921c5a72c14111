#if canImport(ObjectiveC)
    import Foundation

    /// The main queue, which the main thread serves.
    package enum MainQueue {
        /// Whether the caller runs on the main queue.
        package static var isCurrent: Bool { Thread.isMainThread }

        /// Waits for work on another queue.
        package static func waiting<Result>(
            for queue: DispatchQueue, _ work: () throws -> Result
        ) rethrows -> Result {
            try queue.sync(execute: work)
        }
    }
#endif
