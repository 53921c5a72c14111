/// The client of a request, which may leave before it is answered.
public protocol HTTPClient: Sendable {
    /// Whether it still waits for the answer.
    var isWaiting: Bool { get }

    /// Does work for the answer, and stops it if the client leaves meanwhile.
    ///
    /// - Parameters:
    ///   - stop: ends the work; called on another thread, perhaps several times, and never after `body` has returned.
    ///   - body: does the work.
    /// - Returns: what `body` returns.
    /// - Throws: what `body` throws.
    func whileWaiting<Result>(
        stop: @escaping @Sendable () -> Void, _ body: () throws -> Result
    ) rethrows -> Result
}
