import CLibPQ

/// Stops what a connection is doing, from any thread.
package final class Cancellation: @unchecked Sendable {
    // @unchecked Sendable: what it points to never changes, and the library allows its use from any thread.
    private let pointer: OpaquePointer?

    init(_ pointer: OpaquePointer?) { self.pointer = pointer }

    deinit { PQfreeCancel(pointer) }

    /// Asks the server to stop the statement that is running; it then throws an error that is ``PostgresError/isCancelled``.
    package func cancel() {
        var text = [CChar](repeating: 0, count: 256)
        PQcancel(pointer, &text, Int32(text.count))
    }
}

extension PostgresConnection {
    /// What stops a statement of this connection.
    package func cancellation() -> Cancellation { Cancellation(PQgetCancel(handle)) }
}
