import Synchronization

// An object's ID, and its parts. No other code sets them.
extension NSManagedObject {
    /// The object's ID, which is made when it is first needed.
    package final var identifier: NSManagedObjectID {
        get { madeIdentifier.load(ordering: .acquiring)?.takeUnretainedValue() ?? makeIdentifier() }
        set {
            let former = madeIdentifier.exchange(.passRetained(newValue), ordering: .acquiringAndReleasing)
            let identity = ObjectIdentity(newValue)
            (unretainedLayout, unretainedStore, key) = (identity.layout, identity.store, identity.key)
            former?.release()
        }
    }

    /// Two threads may each make one: the first is kept.
    @inline(never)
    private final func makeIdentifier() -> NSManagedObjectID {
        let made = ObjectIdentity(layout: unretainedLayout, store: unretainedStore, key: key).objectID
        let kept = Unmanaged.passRetained(made)
        let (isFirst, other) = madeIdentifier.compareExchange(
            expected: nil, desired: kept, ordering: .acquiringAndReleasing)
        if isFirst { return made }
        kept.release()
        return other?.takeUnretainedValue() ?? made
    }

    /// The object's identity: from its ID if one was made, since the object may be in the table of a store with
    /// references; otherwise without making one.
    final var identity: ObjectIdentity {
        if let made = madeIdentifier.load(ordering: .acquiring) { return ObjectIdentity(made.takeUnretainedValue()) }
        return ObjectIdentity(layout: unretainedLayout, store: unretainedStore, key: key)
    }

    final var storeIdentity: StoreIdentity? { unretainedStore?.takeUnretainedValue() }

    /// Whether the object has no permanent ID yet.
    final var hasTemporaryID: Bool { unretainedStore == nil }

    /// Restores a temporary ID after a failed save.
    final func becomeTemporary(_ number: Int64) {
        let former = madeIdentifier.exchange(nil, ordering: .acquiringAndReleasing)
        (unretainedStore, key) = (nil, number)
        // The table may not retain the layout, which the released ID did.
        if table == nil { _ = identifier }
        former?.release()
    }

    /// The tag that distinguishes the object in a table; see `NSManagedObjectID.tableTag`.
    final var tableTag: UInt64 { ObjectIdentity.tag(unretainedLayout, unretainedStore) }

    /// The store's observer of objects that contexts register.
    final var storeObserver: (@Sendable (NSManagedObjectID, Bool) -> Void)? {
        unretainedStore?._withUnsafeGuaranteedRef { $0.observer }
    }
}
