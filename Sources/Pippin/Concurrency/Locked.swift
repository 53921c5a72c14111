import Foundation

/// A value that only one thread at a time can access.
package final class Locked<Value>: @unchecked Sendable {
    // @unchecked Sendable: `value` is only accessed with the lock held.
    private var value: Value
    private let lock = NSLock()

    package init(_ value: Value) { self.value = value }

    package func withLock<Result>(_ work: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try work(&value)
    }
}
