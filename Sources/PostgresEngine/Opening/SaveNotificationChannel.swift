/// The channel by which a process is notified of saves to its stores.
protocol SaveNotificationChannel: AnyObject, Sendable {
    /// The number under which the process was the first to listen to a store; nil if it was not the first.
    func identity(_ schema: String) -> Int32?

    /// Notes a save of this process, of which the server sends no notification.
    ///
    /// - Parameters:
    ///   - schema: the store's.
    ///   - sender: the number of the server's process.
    func noteOwnSave(_ schema: String, from sender: Int32)
}
