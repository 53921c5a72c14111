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
    /// Waits until there is room, without holding a lock that others need to release theirs.
    package let wait: @Sendable () throws -> AnyObject

    package init(wait: @escaping @Sendable () throws -> AnyObject) { self.wait = wait }
}
