import CoreData
import Synchronization

/// The identifiers of what a context saved.
struct SavedIdentifiers: Sendable {
    var inserted: [NSManagedObjectID] = []
    var updated: [NSManagedObjectID] = []
    var deleted: [NSManagedObjectID] = []

    var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

    /// As the user info of a notification of Core Data's.
    var userInfo: [AnyHashable: Any] {
        [
            NSInsertedObjectIDsKey: Set(inserted), NSUpdatedObjectIDsKey: Set(updated),
            NSDeletedObjectIDsKey: Set(deleted),
        ]
    }
}

/// What other contexts have saved, until a context takes it over on the thread that uses it.
final class ContextMailbox: Sendable {
    private let changes = Mutex<[SavedIdentifiers]>([])
    /// Called after changes were put in, on any thread.
    private let wake: (@Sendable () -> Void)?

    init() { wake = nil }

    /// A mailbox that the main context empties as soon as the main actor is free.
    init(ofMainContextIn core: ContainerCore) {
        wake = { [weak core] in
            Task { @MainActor [weak core] in core?.mainContext?.takeOver() }
        }
    }

    func put(_ saved: SavedIdentifiers) {
        changes.withLock { $0.append(saved) }
        wake?()
    }

    func take() -> [SavedIdentifiers] {
        changes.withLock { changes in
            guard !changes.isEmpty else { return [] }
            defer { changes = [] }
            return changes
        }
    }
}
