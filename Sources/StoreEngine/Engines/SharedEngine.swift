/// An engine of a store that other coordinators and programs may write to.
package protocol SharedEngine: StoreEngine {
    /// A number that changes when others save to the store.
    func changeCount() throws -> Int64

    /// The value that `changeCount()` must have for the next write; `nil` if any value will do.
    var expectedChanges: Int64? { get set }

    /// Keeps others from saving to the store, until something is saved here or `readmitWriters()` is called.
    func lockOutWriters() throws

    /// Keeps others from saving, as `lockOutWriters()` does, unless the caller would have to wait: for another
    /// program's lock, for readers of the file, or for a server.
    ///
    /// - Returns: whether others are kept out.
    func lockOutWritersUnlessBusy() throws -> Bool

    /// Lets others save again.
    func readmitWriters()

    /// Whether reading does not block: it waits neither for a server, nor for another program that writes.
    var readsWithoutWaiting: Bool { get }
}

/// Thrown if others have changed a store unexpectedly.
package struct UnexpectedChange: Error {
    package init() {}
}
