import Foundation

/// Takes the place of a property whose place in an existing store is unknown. It reports that when the value is read.
package final class UnavailableValue: NSObject, @unchecked Sendable {
    // @unchecked Sendable: `isTold` is guarded by the lock.

    /// The reason, as a sentence that names the store, the entity and the property.
    package let reason: String
    private let lock = NSLock()
    private var isTold = false

    package init(_ reason: String) { self.reason = reason }

    package override var description: String { reason }

    /// Writes the reason to standard error, once, since a property cannot throw.
    package func tell() {
        lock.lock()
        defer { lock.unlock() }
        guard !isTold else { return }
        isTold = true
        try? FileHandle.standardError.write(contentsOf: Data("CoreData: error: \(reason)\n".utf8))
    }
}
