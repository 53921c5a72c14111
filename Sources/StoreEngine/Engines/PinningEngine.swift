/// An engine that can keep a state readable while others write.
package protocol PinningEngine: StoreEngine {
    /// Keeps the store's present content readable, as long as the result exists; `nil` if that is impossible.
    func pinGeneration() throws -> AnyObject?

    /// The same for a caller that can wait until others release theirs.
    ///
    /// - Parameter place: the result of waiting; `nil` for a caller that has not waited.
    /// - Returns: the object that keeps the content readable.
    /// - Throws: ``GenerationsInUse`` if waiting helps.
    func pinGeneration(holding place: AnyObject?) throws -> AnyObject?

    /// A result of `pinGeneration()` while its content is read; `nil` to read the store as it is.
    var readGeneration: AnyObject? { get set }

    /// Lets go of what generations keep on a server, where destroying the store would wait for them. Reading them is an
    /// error from then on.
    func endGenerations()
}

extension PinningEngine {
    package func endGenerations() {}

    package func pinGeneration(holding place: AnyObject?) throws -> AnyObject? { try pinGeneration() }
}

/// Thrown if no more generations can be pinned.
package struct GenerationsInUse: Error {
    private let waits: @Sendable ((any EndableWait)?) throws -> AnyObject

    package init(wait: @escaping @Sendable ((any EndableWait)?) throws -> AnyObject) { waits = wait }

    /// Waits until there is room, without holding a lock that others need to release theirs.
    ///
    /// - Parameter end: ends the wait early; nil for a caller that waits in any case.
    /// - Returns: the place, for ``PinningEngine/pinGeneration(holding:)``.
    /// - Throws: `CancellationError` if the wait was ended early, and an `NSError` if there was no room in time.
    package func wait(_ end: (any EndableWait)? = nil) throws -> AnyObject { try waits(end) }
}

/// Ends a wait when nobody needs its result any more.
package protocol EndableWait: Sendable {
    /// Begins the wait.
    ///
    /// - Parameter leave: is called, by any thread, if the wait is to end early.
    /// - Returns: false if it is not to begin at all.
    func waits(orLeaves leave: @escaping @Sendable () -> Void) -> Bool

    /// Notes that the wait is over.
    ///
    /// - Returns: false if it was to end early.
    func hasWaited() -> Bool
}
