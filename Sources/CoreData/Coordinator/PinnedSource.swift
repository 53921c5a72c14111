import StoreSession

/// A coordinator's stores in the state of a pinned query generation: the source of a pinned context.
///
/// Primary keys for new objects are reserved in the current state of the stores.
final class PinnedSource: WrappedSource {
    private let coordinator: NSPersistentStoreCoordinator
    /// The token of the pinned state, neither `current` nor expired.
    let token: NSQueryGenerationToken

    init(_ coordinator: NSPersistentStoreCoordinator, _ token: NSQueryGenerationToken) {
        self.coordinator = coordinator
        self.token = token
    }

    var source: any RowSource { coordinator }

    func reading<Result>(_ body: () throws -> Result) throws -> Result {
        try coordinator.session.reading(token.state, body)
    }

    /// The generation at the time of pinning: values read here are only known to be current up to then.
    var generation: UInt32 { token.saveCount }

    /// Values read in this state stay correct; those of a former state do if the object was not saved since.
    func isCurrent(_ identity: ObjectIdentity, since stamp: UInt32) -> Bool {
        stamp == token.saveCount || coordinator.isCurrent(identity, since: stamp)
    }
}
