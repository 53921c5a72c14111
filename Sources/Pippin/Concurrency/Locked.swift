import Foundation

/// A value that one thread at a time gets at.
package final class Locked<Value>: @unchecked Sendable {
    // @unchecked Sendable: `value` is touched with the lock held only. (`Mutex` needs newer Apple systems than Pippin.)
    private var value: Value
    private let lock = NSLock()

    package init(_ value: Value) { self.value = value }

    package func withLock<Result>(_ work: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try work(&value)
    }
}
