import CLibPQ

/// Stops what a connection is doing, from any thread.
package final class Cancellation: @unchecked Sendable {
    // @unchecked Sendable: the pointer never changes, and the library allows its use from any thread.
    private let pointer: OpaquePointer?

    init(_ pointer: OpaquePointer?) { self.pointer = pointer }

    deinit { PQfreeCancel(pointer) }

    /// Asks the server to stop the running statement, which then throws an error with ``PostgresError/isCancelled``.
    package func cancel() {
        var text = [CChar](repeating: 0, count: 256)
        PQcancel(pointer, &text, Int32(text.count))
    }
}

extension PostgresConnection {
    /// The cancellation for statements of this connection.
    package func cancellation() -> Cancellation { Cancellation(PQgetCancel(handle)) }
}
