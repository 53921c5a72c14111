import Foundation

/// Which state of the stores a context reads.
enum GenerationPin {
    /// The stores as they are.
    case none
    /// What is current at the next read, and from then on that.
    case next
    /// A certain state.
    case pinned(PinnedSource)
}

extension NSManagedObjectContext {
    /// Guarded by a lock: children ask on their own queues what their parent reads.
    var pin: GenerationPin {
        get { hasPin.load(ordering: .acquiring) ? pinned.withLock { $0 } : .none }
        set {
            // The former pin is let go out here: that may close what it reads.
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

    /// Pins the context to what is current, if that was left to its next read.
    func pinIfNeeded() throws {
        guard case .next = pin, let coordinator else { return }
        pin = .pinned(PinnedSource(coordinator, try coordinator.pinCurrentGeneration()))
    }

    /// Moves a pinned context to what is current at its next read, as saving, merging and resetting do.
    func advancePin() {
        if case .pinned = pin { pin = .next }
    }

    func setPin(_ token: NSQueryGenerationToken?) throws {
        guard let token else { return pin = .none }
        noteUse()
        guard let coordinator else {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreUnsupportedRequestType,
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
}
