import Foundation

/// Takes the place of a property whose place in an existing store is unknown. It reports that when the value is read.
package final class UnavailableValue: NSObject, @unchecked Sendable {
    // @unchecked Sendable: `isReported` is guarded by the lock.

    /// The reason, as a sentence that names the store, the entity and the property.
    package let reason: String
    private let lock = NSLock()
    private var isReported = false

    package init(_ reason: String) { self.reason = reason }

    package override var description: String { reason }

    /// Writes the reason to standard error, once, since a property cannot throw.
    package func report() {
        lock.lock()
        defer { lock.unlock() }
        guard !isReported else { return }
        isReported = true
        try? FileHandle.standardError.write(contentsOf: Data("CoreData: error: \(reason)\n".utf8))
    }
}
