/// An engine whose long readings another thread can end.
package protocol InterruptibleEngine: StoreEngine {
    /// Ends the reading that is under way, which then throws; called from whatever thread. Nil if no store is open.
    var interrupter: (@Sendable () -> Void)? { get }
}
