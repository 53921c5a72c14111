import CSwiftRuntime
import Synchronization

/// What a context and its objects share: the context finds objects here without keeping them alive, and an object finds
/// its context, and leaves when it goes.
///
/// Weak references would do the same at a price: an object that has one counts its references in a side table from then
/// on, which made up a third of the time of a large save.
final class ObjectTable: Sendable {
    private let registry = Mutex(ObjectRegistry())
    private let owner = Mutex<ObjectIdentifier?>(nil)

    /// The context, `nil` when it is gone.
    var context: NSManagedObjectContext? {
        owner.withLock { $0.flatMap { Self.retained($0) } }
    }

    /// Sets the context; it calls `leave` when it goes.
    func join(_ context: NSManagedObjectContext) {
        let address = ObjectIdentifier(context)
        owner.withLock { $0 = address }
    }

    /// The context goes.
    func leave() { owner.withLock { $0 = nil } }

    /// Whether no object is registered.
    var isEmpty: Bool { registry.withLock { $0.isUnused } }

    /// The object that is registered under an ID.
    func object(for identifier: NSManagedObjectID) -> NSManagedObject? {
        // An object that was looked at in vain may go when it is released, and its `deinit` takes the lock: it is
        // released out here.
        let search = registry.withLock { registry in
            var passedOver: [NSManagedObject] = []
            let found = registry.object(for: identifier, passingOver: &passedOver) { Self.retained($0) }
            return Transferred((found: found, passedOver: passedOver))
        }
        return search.value.found
    }

    /// Whether an object is registered under an ID; it may be about to go.
    func contains(_ identifier: NSManagedObjectID) -> Bool { object(for: identifier) != nil }

    /// Whether no object has been registered yet.
    var isUnused: Bool { registry.withLock { $0.isUnused } }

    /// Registers an object under its ID, unless another one is.
    func insertIfNew(_ object: NSManagedObject) -> Bool {
        let (address, identifier) = (ObjectIdentifier(object), object.identifier)
        guard registry.withLock({ $0.insertIfNew(address, identifier) }) else { return false }
        identifier.storeIdentity?.observer?(identifier, true)
        return true
    }

    /// Registers an object under its ID, which must not be registered.
    func insert(_ object: NSManagedObject) {
        let (address, identifier) = (ObjectIdentifier(object), object.identifier)
        registry.withLock { $0.insert(address, identifier) }
        identifier.storeIdentity?.observer?(identifier, true)
    }

    /// Forgets an object. Its `deinit` calls this, too, on any thread.
    func remove(_ object: NSManagedObject, registeredAs identifier: NSManagedObjectID) {
        let address = ObjectIdentifier(object)
        registry.withLock { $0.remove(address, identifier) }
        identifier.storeIdentity?.observer?(identifier, false)
    }

    func makeRoom(for count: Int) { registry.withLock { $0.makeRoom(for: count) } }

    /// Whether an object of a store is registered.
    func holdsObjects(of store: StoreIdentity) -> Bool {
        registry.withLock { $0.holdsObjects(ofStore: store.number) }
    }

    /// All objects that are still there.
    var all: [NSManagedObject] { registry.withLock { $0.all.compactMap { Self.retained($0) } } }

    func removeAll() {
        let observed = all.map(\.identifier).filter { $0.storeIdentity?.observer != nil }
        registry.withLock { $0.removeAll() }
        for identifier in observed { identifier.storeIdentity?.observer?(identifier, false) }
    }

    /// Gets hold of an object that may be about to go.
    ///
    /// Called with the lock held: an object whose `deinit` has begun waits for the lock before its memory goes, so the
    /// address is good, and the runtime says whether it can still be retained.
    private static func retained<Object: AnyObject>(_ address: ObjectIdentifier) -> Object? {
        guard let pointer = UnsafeMutableRawPointer(bitPattern: UInt(bitPattern: address)),
            let object = swift_tryRetain(pointer)
        else { return nil }
        return Unmanaged<Object>.fromOpaque(object).takeRetainedValue()
    }
}
