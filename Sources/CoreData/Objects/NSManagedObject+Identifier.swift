import Synchronization

// An object's ID, and what it is made of: nobody else sets that.
extension NSManagedObject {
    /// The object's ID, which is made when it is first asked for.
    package final var identifier: NSManagedObjectID {
        get { madeIdentifier.load(ordering: .acquiring)?.takeUnretainedValue() ?? makeIdentifier() }
        set {
            let former = madeIdentifier.exchange(.passRetained(newValue), ordering: .acquiringAndReleasing)
            let place = ObjectPlace(newValue)
            (unretainedLayout, unretainedStore, key) = (place.layout, place.store, place.key)
            former?.release()
        }
    }

    /// Two threads may make one each: the first is kept.
    @inline(never)
    private final func makeIdentifier() -> NSManagedObjectID {
        let made = ObjectPlace(layout: unretainedLayout, store: unretainedStore, key: key).objectID
        let kept = Unmanaged.passRetained(made)
        let (isFirst, other) = madeIdentifier.compareExchange(
            expected: nil, desired: kept, ordering: .acquiringAndReleasing)
        if isFirst { return made }
        kept.release()
        return other?.takeUnretainedValue() ?? made
    }

    /// Where the object lies, without an ID unless one was asked for: it may be in the table of a store that has references.
    final var place: ObjectPlace {
        if let made = madeIdentifier.load(ordering: .acquiring) { return ObjectPlace(made.takeUnretainedValue()) }
        return ObjectPlace(layout: unretainedLayout, store: unretainedStore, key: key)
    }

    final var storeIdentity: StoreIdentity? { unretainedStore?.takeUnretainedValue() }

    /// Whether the object has no permanent ID yet.
    final var hasTemporaryID: Bool { unretainedStore == nil }

    /// Takes a temporary ID back, after a save that failed.
    final func becomeTemporary(_ number: Int64) {
        let former = madeIdentifier.exchange(nil, ordering: .acquiringAndReleasing)
        (unretainedStore, key) = (nil, number)
        // The table may never have heard of the layout: what retained it was the ID.
        if table == nil { _ = identifier }
        former?.release()
    }

    /// What tells the object in a table; see `NSManagedObjectID.tableTag`.
    final var tableTag: UInt64 { ObjectPlace.tag(unretainedLayout, unretainedStore) }

    /// What the object's store wants to be told of objects that contexts know.
    final var storeObserver: (@Sendable (NSManagedObjectID, Bool) -> Void)? {
        unretainedStore?._withUnsafeGuaranteedRef { $0.observer }
    }
}
