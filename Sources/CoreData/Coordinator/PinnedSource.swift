/// A coordinator's stores as they were when a query generation was pinned: the source of a pinned context.
///
/// Primary keys for new objects are handed out by the stores as they are now.
final class PinnedSource: WrappedSource {
    private let coordinator: NSPersistentStoreCoordinator
    /// What is read: neither `current` nor expired.
    let token: NSQueryGenerationToken

    init(_ coordinator: NSPersistentStoreCoordinator, _ token: NSQueryGenerationToken) {
        self.coordinator = coordinator
        self.token = token
    }

    var source: any RowSource { coordinator }

    func reading<Result>(_ body: () throws -> Result) throws -> Result { try coordinator.reading(token, body) }

    /// That of the time of pinning: what is read now is known to be right only up to then.
    var generation: UInt32 { token.saveCount }

    /// What was read of a generation stays right.
    func isCurrent(_ place: ObjectPlace, since stamp: UInt32) -> Bool { true }
}
