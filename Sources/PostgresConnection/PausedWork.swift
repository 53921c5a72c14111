/// Work on a connection that pauses when somebody else uses the connection.
protocol PausedWork: AnyObject {
    func pause()
}
