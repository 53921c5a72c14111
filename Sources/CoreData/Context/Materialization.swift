import Synchronization

/// The properties of the next object to be made; see `NSManagedObject.init(entity:insertInto:)`.
struct Materialization {
    /// `nil` while no object is made.
    var identity: ObjectIdentity?
    var values: ContiguousArray<StoredValue>
    var version: Int64
    var state: ObjectState
    var stamp: UInt32

    static var none: Materialization { Materialization(identity: nil, values: [], version: 0, state: [], stamp: 0) }

    /// Returns the values without copying them, and ends the materialization.
    @inline(__always)
    mutating func finish() -> ContiguousArray<StoredValue> {
        identity = nil
        var handedOver: ContiguousArray<StoredValue> = []
        swap(&handedOver, &values)
        return handedOver
    }
}

/// The objects of a list that were made and not yet registered.
struct Unregistered {
    var places: [Int] = []

    static let portion = 128

    /// Adds an object, and returns whether there are enough to register them.
    @inline(__always)
    mutating func note(_ place: Int) -> Bool {
        places.append(place)
        return places.count == Self.portion
    }
}

// Makes the objects of rows, of the classes that their entities name.
extension NSManagedObjectContext {
    /// Makes the object of an ID, of the class that its entity names, and registers it.
    func materialize(_ what: consuming Materialization) -> NSManagedObject {
        let object = makeUnregistered(what)
        table.insert(object)
        retained.insert(object)
        return object
    }

    /// Registers objects that were made without registration. If the ID of one is registered already, the object that
    /// has it replaces it.
    ///
    /// They are registered together, since each registration takes a lock; and in portions while reading, since
    /// recently made objects are in the processor's cache.
    func register(_ unregistered: inout Unregistered, among objects: inout [NSManagedObject]) {
        for place in table.insertIfNew(objects, at: unregistered.places) {
            let object = objects[place]
            if let known = table.object(at: object.identity) { objects[place] = known } else { table.insert(object) }
        }
        if retained.isActive { for place in unregistered.places { retained.insert(objects[place]) } }
        unregistered.places.removeAll(keepingCapacity: true)
    }

    func makeUnregistered(_ what: consuming Materialization) -> NSManagedObject {
        guard let identity = what.identity else { programmerError("an object is made without an identity") }
        keep(identity.layout, identity.store)
        let type = objectType(for: identity.layout)
        let state = what.state
        materialization = consume what
        let object = type.init(materializedIn: self)
        // A subclass may have set properties in its initializer. The store's values replace them.
        if object.state != state {
            changed.remove(object)
            event.remove(object)
            object.values = object.snapshot
            object.state = object.state.intersection(.observed).union(state)
        }
        if checksQueues { object.state.insert(.checked) }
        return object
    }

    /// Makes an object that records which keys are read from it, without registering it; see `KeyPathProbe`.
    func makeProbe(_ type: NSManagedObject.Type, _ layout: EntityLayout) -> NSManagedObject {
        make(type, layout, values: [], state: .probe)
    }

    /// Makes a new object of a class for an entity, without a context.
    static func makeUninsertedObject(of type: NSManagedObject.Type, entity: EntityLayout) -> NSManagedObject {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        let object = context.make(type, entity, values: entity.defaultValues, state: [])
        object.setContext(nil)
        return object
    }

    /// Makes an object without registering it.
    private func make(
        _ type: NSManagedObject.Type, _ layout: EntityLayout, values: ContiguousArray<StoredValue>, state: ObjectState
    ) -> NSManagedObject {
        keep(.passUnretained(layout), nil)
        classCache.lastEntity = nil
        classCache.lastDescription = nil
        materialization = Materialization(
            identity: ObjectIdentity(layout: .passUnretained(layout), store: nil, key: Self.makeTemporaryNumber()),
            values: values, version: 0, state: state, stamp: 0)
        defer { materialization = .none }
        return type.init(materializedIn: self)
    }

    private static let temporaryNumber = Atomic<Int64>(0)

    package static func makeTemporaryNumber() -> Int64 { temporaryNumber.add(1, ordering: .relaxed).newValue }

    /// Keeps an entity and a store alive for the objects that refer to them. Consecutive objects usually refer to the
    /// same ones.
    @inline(__always)
    final func keep(_ layout: Unmanaged<EntityLayout>, _ store: Unmanaged<StoreIdentity>?) {
        if lastKeptLayout == layout.toOpaque(), lastKeptStore == store?.toOpaque() { return }
        table.keep(layout.takeUnretainedValue(), store?.takeUnretainedValue())
        lastKeptLayout = layout.toOpaque()
        lastKeptStore = store?.toOpaque()
    }
}
