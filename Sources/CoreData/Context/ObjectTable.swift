import CPippinRuntime
import Synchronization

/// The state that a context shares with its objects: the context finds objects here without keeping them alive, and an
/// object finds its context and removes itself when it is released.
///
/// Weak references would work too, but an object that has one counts its references in a side table from then on, which
/// took a third of the time of a large save.
final class ObjectTable: Sendable {
    private let registry = Mutex(ObjectRegistry())
    private let owner = Mutex<ObjectIdentifier?>(nil)
    private let kept = Mutex<[ObjectIdentifier: any AnyObject & Sendable]>([:])

    /// The context; `nil` if it has been released.
    var context: NSManagedObjectContext? {
        owner.withLock { $0.flatMap { Self.retained($0) } }
    }

    /// Sets the context, which calls `leave` when it is released.
    func join(_ context: NSManagedObjectContext) {
        let address = ObjectIdentifier(context)
        owner.withLock { $0 = address }
    }

    /// Clears the context when it is released.
    func leave() { owner.withLock { $0 = nil } }

    /// Whether no object is registered.
    var isEmpty: Bool { registry.withLock { $0.isUnused } }

    /// The object that is registered under an ID.
    func object(for identifier: NSManagedObjectID) -> NSManagedObject? { object(at: ObjectIdentity(identifier)) }

    /// The object that is registered under an identity.
    func object(at identity: ObjectIdentity) -> NSManagedObject? {
        // An object that was rejected may be deallocated when it is released, and its `deinit` takes the lock, so it is
        // released outside the lock.
        let search = registry.withLock { registry in
            var passedOver: [NSManagedObject] = []
            let found = registry.object(at: identity, passingOver: &passedOver) { Self.retained($0) }
            return Transferred((found: found, passedOver: passedOver))
        }
        return search.value.found
    }

    /// Whether an object is registered under an ID; it may be about to be deallocated.
    func contains(_ identifier: NSManagedObjectID) -> Bool { object(for: identifier) != nil }
    func contains(_ identity: ObjectIdentity) -> Bool { object(at: identity) != nil }

    /// Whether no object has been registered yet.
    var isUnused: Bool { registry.withLock { $0.isUnused } }

    /// Registers many objects under their IDs.
    ///
    /// - Parameters:
    ///   - objects: the objects, among others.
    ///   - places: where they are.
    /// - Returns: the indexes of objects that were left out, because another object has an entry with the key.
    func insertIfNew(_ objects: [NSManagedObject], at places: [Int]) -> [Int] {
        // Each object is accessed once: with many, each access takes as long as memory does.
        var isObserved = false
        let leftOut = registry.withLock { registry in
            registry.makeRoom(for: places.count, areSpaced: Self.areSpaced(objects, places))
            var leftOut: [Int] = []
            var lastTag: UInt64?
            for place in places {
                let object = objects[place]
                let tag = object.tableTag
                if tag != lastTag {
                    lastTag = tag
                    isObserved = isObserved || object.storeObserver != nil
                }
                if !registry.insertIfNew(ObjectIdentifier(object), object.key, tag) { leftOut.append(place) }
            }
            return leftOut
        }
        if isObserved {
            for place in places where !leftOut.contains(place) { notifyObserver(of: objects[place], isKnown: true) }
        }
        return leftOut
    }

    /// Whether the keys of objects are multiples of 32 apart, judged by a few of them; nil for too few objects.
    private static func areSpaced(_ objects: [NSManagedObject], _ places: [Int]) -> Bool? {
        guard places.count >= 16 else { return nil }
        let some = [places[1], places[places.count / 2], places[places.count - 1]]
        return some.allSatisfy { (objects[$0].key ^ objects[places[0]].key) & 31 == 0 }
    }

    /// Registers an object under its ID, which must be free.
    func insert(_ object: NSManagedObject) {
        let (address, key, tag) = (ObjectIdentifier(object), object.key, object.tableTag)
        registry.withLock { $0.insert(address, key, tag) }
        notifyObserver(of: object, isKnown: true)
    }

    /// Removes an object. Its `deinit` calls this too, on any thread.
    func remove(_ object: NSManagedObject) {
        let (address, key, tag) = (ObjectIdentifier(object), object.key, object.tableTag)
        registry.withLock { $0.remove(address, key, tag) }
        notifyObserver(of: object, isKnown: false)
    }

    /// Registers an object under its permanent ID, after it was registered under a temporary one.
    func promote(_ object: NSManagedObject, from number: Int64) {
        let (address, key, tag) = (ObjectIdentifier(object), object.key, object.tableTag)
        registry.withLock {
            $0.remove(address, number, 0)
            $0.insert(address, key, tag)
        }
        notifyObserver(of: object, isKnown: true)
    }

    private func notifyObserver(of object: NSManagedObject, isKnown: Bool) {
        guard let observer = object.storeObserver else { return }
        observer(object.identifier, isKnown)
    }

    /// Keeps alive what objects refer to without retaining.
    func keep(_ layout: EntityLayout, _ store: StoreIdentity?) {
        kept.withLock { kept in
            kept[ObjectIdentifier(layout)] = layout
            if let store { kept[ObjectIdentifier(store)] = store }
        }
    }

    func makeRoom(for count: Int) { registry.withLock { $0.makeRoom(for: count) } }

    /// Whether an object of a store is registered.
    func holdsObjects(of store: StoreIdentity) -> Bool {
        registry.withLock { $0.holdsObjects(ofStore: store.number) }
    }

    /// Whether no object of a store's table is registered, as far as can be determined by looking at a limited number
    /// of entries.
    func holdsNone(_ tag: UInt64, amongAtMost limit: Int) -> Bool {
        registry.withLock { $0.holdsNone(tag, amongAtMost: limit) }
    }

    /// All objects that still exist.
    var all: [NSManagedObject] { registry.withLock { $0.all.compactMap { Self.retained($0) } } }

    func removeAll() {
        let observed = all.map(\.identifier).filter { $0.storeIdentity?.observer != nil }
        registry.withLock { $0.removeAll() }
        for identifier in observed { identifier.storeIdentity?.observer?(identifier, false) }
    }

    /// Retains an object that may be about to be deallocated.
    ///
    /// Called with the lock held: an object whose `deinit` has begun waits for the lock before its memory is freed, so
    /// the address is valid, and the runtime says whether it can still be retained.
    private static func retained<Object: AnyObject>(_ address: ObjectIdentifier) -> Object? {
        guard let pointer = UnsafeMutableRawPointer(bitPattern: UInt(bitPattern: address)),
            let object = swift_tryRetain(pointer)
        else { return nil }
        return Unmanaged<Object>.fromOpaque(object).takeRetainedValue()
    }
}

/// The stores to which objects are assigned until they are saved.
///
/// An assignment ends with its object: another one may get its address.
struct AssignedStores {
    private struct Assignment {
        weak var object: NSManagedObject?
        let store: NSPersistentStore
    }

    private var assignments: [ObjectIdentifier: Assignment] = [:]

    var isEmpty: Bool { assignments.isEmpty }

    subscript(object: NSManagedObject) -> NSPersistentStore? {
        get {
            guard !assignments.isEmpty, let found = assignments[ObjectIdentifier(object)], found.object === object
            else { return nil }
            return found.store
        }
        set { assignments[ObjectIdentifier(object)] = newValue.map { Assignment(object: object, store: $0) } }
    }

    /// The stores by object, of objects that there are. The caller holds those that it asks for.
    var stores: [ObjectIdentifier: NSPersistentStore] {
        assignments.isEmpty ? [:] : assignments.filter { $0.value.object != nil }.mapValues(\.store)
    }
}
