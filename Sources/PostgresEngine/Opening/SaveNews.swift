/// Where a process hears of what is saved to its stores.
protocol SaveNews: AnyObject, Sendable {
    /// The number under which the process was the first one to listen to a store; nil where it was not.
    func identity(_ schema: String) -> Int32?

    /// Takes news of this process's own, which come without the server.
    ///
    /// - Parameters:
    ///   - schema: the store's.
    ///   - sender: the number of the server's process.
    func hear(_ schema: String, from sender: Int32)
}
