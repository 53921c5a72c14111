/// An engine that is notified of other programs' writes.
package protocol ChangeNotifyingEngine: StoreEngine {
    /// Begins to observe changes.
    ///
    /// - Parameters:
    ///   - whileIdle: runs a check while no other thread uses the engine, without waiting: returns `nil` if one does,
    ///     `false` if there is no observer any more.
    ///   - handler: called after others have changed the store.
    func observeChanges(
        whileIdle: @escaping @Sendable (() -> Bool) -> Bool?, handler: @escaping @Sendable () -> Void)
}
