import Foundation

/// The main queue. The main thread does not always serve it: in a Linux program with an asynchronous `main`, other
/// threads take turns at it.
package enum MainQueue {
    private static let key: DispatchSpecificKey<Void> = {
        let key = DispatchSpecificKey<Void>()
        DispatchQueue.main.setSpecific(key: key, value: ())
        return key
    }()

    /// Whether the caller runs on the main queue, or on the main thread before the main queue is served.
    package static var isCurrent: Bool { Thread.isMainThread || DispatchQueue.getSpecific(key: key) != nil }
}
