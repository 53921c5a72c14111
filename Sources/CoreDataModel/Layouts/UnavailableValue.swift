import Foundation

/// Stands for the value of a property whose place in an existing store is not known: it says so when it is asked for.
package final class UnavailableValue: NSObject, @unchecked Sendable {
    // @unchecked Sendable: `isTold` is guarded by the lock.

    /// Why there is no value, as a sentence that names store, entity and property.
    package let reason: String
    private let lock = NSLock()
    private var isTold = false

    package init(_ reason: String) { self.reason = reason }

    package override var description: String { reason }

    /// Writes the reason to the standard error output, once: a property cannot throw.
    package func tell() {
        lock.lock()
        defer { lock.unlock() }
        guard !isTold else { return }
        isTold = true
        try? FileHandle.standardError.write(contentsOf: Data("CoreData: error: \(reason)\n".utf8))
    }
}
