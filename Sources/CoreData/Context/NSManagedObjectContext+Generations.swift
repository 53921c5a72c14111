import Foundation
import StoreSession
import Synchronization

/// The state of the stores that a context reads.
enum GenerationPin {
    /// The current state.
    case none
    /// The state at the next read, which is then kept.
    case next
    /// A pinned state.
    case pinned(PinnedSource)
}

extension NSManagedObjectContext {
    /// Guarded by a lock: children ask on their own queues what their parent reads.
    var pin: GenerationPin {
        get { hasPin.load(ordering: .acquiring) ? pinned.withLock { $0 } : .none }
        set {
            // The former pin is released outside the lock, since that may close what it reads.
            let former = pinned.withLock { pin in
                defer { pin = newValue }
                return pin
            }
            if case .none = newValue {
                hasPin.store(false, ordering: .releasing)
            } else {
                hasPin.store(true, ordering: .releasing)
            }
            withExtendedLifetime(former) {}
        }
    }

    /// Pins the context to the current state, if that was left to its next read. What a save reads does not count: the
    /// state before the save would be kept.
    func pinIfNeeded() throws {
        guard case .next = pin, !saving.isActive, let coordinator else { return }
        pin = .pinned(PinnedSource(coordinator, try coordinator.pinCurrentGeneration()))
    }

    /// Lets a pinned context move to the current state at its next read, as saving, merging and resetting do.
    func advancePin() {
        if case .pinned = pin { pin = .next }
    }

    func setPin(_ token: NSQueryGenerationToken?) throws {
        guard let token else { return pin = .none }
        noteUse()
        guard let coordinator else {
            throw StoreError.make(
                parent == nil ? CoreDataErrorCode.coreData : CoreDataErrorCode.persistentStoreUnsupportedRequestType,
                parent == nil
                    ? "The context has no coordinator whose stores it could be pinned to."
                    : "A child context reads its parent; pin the context at the top instead.")
        }
        if token.isCurrent { return pin = .next }
        guard !token.isExpired else {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreOperation,
                "The query generation cannot be read any more: nobody has kept its token. Use NSQueryGenerationToken.current."
            )
        }
        pin = .pinned(PinnedSource(coordinator, token))
    }

    var pinnedToken: NSQueryGenerationToken? {
        switch pin {
        case .none: return nil
        case .next: return .current
        case .pinned(let source): return source.token
        }
    }

    /// Makes a new context read in a given state.
    package func read(in scope: ReadScope) throws {
        switch scope {
        case .now: break
        case .pinned(let generation): try setQueryGenerationFrom(NSQueryGenerationToken(generation))
        case .transaction(let transaction): join(transaction)
        }
    }
}
