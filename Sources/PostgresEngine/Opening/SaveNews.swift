/// The channel on which a process hears of saves to its stores.
protocol SaveNews: AnyObject, Sendable {
    /// The number under which the process was the first to listen to a store; nil if it was not the first.
    func identity(_ schema: String) -> Int32?

    /// Takes news of this process's own saves, which do not come from the server.
    ///
    /// - Parameters:
    ///   - schema: the store's.
    ///   - sender: the number of the server's process.
    func hear(_ schema: String, from sender: Int32)
}
