/// Work on a connection that pauses when somebody else uses the connection.
protocol PausedWork: AnyObject {
    func pause()

    /// Whether it runs outside of a transaction, though the connection looks as if it were in one.
    var isByItself: Bool { get }
}
