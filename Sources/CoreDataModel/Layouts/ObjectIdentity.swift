/// The identity of an object: the content of its ID, without making the ID.
///
/// Layout and store are not retained: an identity is passed from a store that retains both to a context, which keeps
/// them alive for its objects.
package struct ObjectIdentity {
    package let layout: Unmanaged<EntityLayout>
    /// `nil` for an object that was never saved.
    package let store: Unmanaged<StoreIdentity>?
    /// The primary key (`Z_PK`), or the number of a temporary ID.
    package let key: Int64
    /// The ID, if it exists already: the reference of a developer's store is not part of the other properties.
    package let identifier: NSManagedObjectID?

    @inlinable
    package init(layout: Unmanaged<EntityLayout>, store: Unmanaged<StoreIdentity>?, key: Int64) {
        self.layout = layout
        self.store = store
        self.key = key
        identifier = nil
    }

    package init(_ identifier: NSManagedObjectID) {
        layout = .passUnretained(identifier.layout)
        store = identifier.storeIdentity.map { .passUnretained($0) }
        key = identifier.key
        self.identifier = identifier
    }

    /// The ID, made if it does not exist yet.
    package var objectID: NSManagedObjectID {
        if let identifier { return identifier }
        let layout = layout.takeUnretainedValue()
        guard let store = store?.takeUnretainedValue() else {
            return NSManagedObjectID(temporaryFor: layout, number: key)
        }
        return NSManagedObjectID(layout: layout, store: store, key: key)
    }

    /// See `NSManagedObjectID.tableTag`.
    package var tag: UInt64 { Self.tag(layout, store) }

    @inline(__always)
    package static func tag(_ layout: Unmanaged<EntityLayout>, _ store: Unmanaged<StoreIdentity>?) -> UInt64 {
        guard let store else { return 0 }
        return store._withUnsafeGuaranteedRef { UInt64($0.number) } << 24
            | layout._withUnsafeGuaranteedRef { UInt64($0.rootNumber) }
    }
}
