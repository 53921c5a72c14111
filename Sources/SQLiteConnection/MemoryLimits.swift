import CSQLite
import Synchronization

/// How much memory SQLite may take, for programs that read stores of unknown origin.
package enum MemoryLimits {
    /// The most bytes that a value, a row or a statement's text may have; 0 for SQLite's own limit.
    private static let value = Atomic<Int32>(0)
    /// The most bytes that all connections of the process take together; 0 for any number.
    private static let heap = Atomic<Int64>(0)

    /// Sets the limits for the process. To be called before a connection is opened. Beyond them statements fail, and
    /// the errors name the limit.
    ///
    /// - Parameters:
    ///   - value: the most bytes of a value.
    ///   - heap: the most bytes of everything together.
    package static func set(value: Int32, heap: Int64) {
        self.value.store(value, ordering: .relaxed)
        self.heap.store(heap, ordering: .relaxed)
        sqlite3_hard_heap_limit64(heap)
    }

    static func apply(to handle: OpaquePointer) {
        let value = value.load(ordering: .relaxed)
        if value > 0 { sqlite3_limit(handle, SQLITE_LIMIT_LENGTH, value) }
    }

    /// What an error says of a limit; nil for other errors, and without limits.
    static func message(of code: Int32) -> String? {
        let (value, heap) = (value.load(ordering: .relaxed), heap.load(ordering: .relaxed))
        switch code & 0xFF {
        case SQLITE_TOOBIG where value > 0:
            return "a value is longer than the \(value / 1_000_000) MB that one may have here"
        case SQLITE_NOMEM where heap > 0:
            return "a statement takes more than the \(heap / 1_000_000) MB of memory that it may take here"
        default: return nil
        }
    }
}
