/// Work on a connection that pauses while other work uses the connection.
protocol PausedWork: AnyObject {
    func pause()

    /// Whether it runs outside of a transaction, although the connection appears to be in one.
    var isByItself: Bool { get }
}
