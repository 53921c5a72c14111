import Synchronization

/// What the next object that is made is to be; see `NSManagedObject.init(entity:insertInto:)`.
struct Materialization {
    /// `nil` while no object is made.
    var place: ObjectPlace?
    var values: ContiguousArray<StoredValue>
    var version: Int64
    var state: ObjectState
    var stamp: UInt32

    static var none: Materialization { Materialization(place: nil, values: [], version: 0, state: [], stamp: 0) }

    /// The values, which are handed over, and not copied: nothing is under way any more.
    @inline(__always)
    mutating func finish() -> ContiguousArray<StoredValue> {
        place = nil
        var handedOver: ContiguousArray<StoredValue> = []
        swap(&handedOver, &values)
        return handedOver
    }
}

/// Which objects of a list were made and not yet registered.
struct Unregistered {
    var places: [Int] = []

    static let portion = 128

    /// Notes an object, and says whether they are enough to be registered.
    @inline(__always)
    mutating func note(_ place: Int) -> Bool {
        places.append(place)
        return places.count == Self.portion
    }
}

// Objects of rows, which are made of the class that their entity names.
extension NSManagedObjectContext {
    /// Makes the object of an ID, of the class that its entity names, and registers it.
    func materialize(_ what: consuming Materialization) -> NSManagedObject {
        let object = makeUnregistered(what)
        table.insert(object)
        if isRetaining { retained.insert(object) }
        return object
    }

    /// Registers objects that were made without; one whose ID proves to be registered gives way to the object that has it.
    ///
    /// Together: an object at a time costs a lock each. In portions while they are read: objects that were just made are at hand.
    func register(_ unregistered: inout Unregistered, among objects: inout [NSManagedObject]) {
        for place in table.insertIfNew(objects, at: unregistered.places) {
            let object = objects[place]
            if let known = table.object(at: object.place) { objects[place] = known } else { table.insert(object) }
        }
        if isRetaining { for place in unregistered.places { retained.insert(objects[place]) } }
        unregistered.places.removeAll(keepingCapacity: true)
    }

    func makeUnregistered(_ what: consuming Materialization) -> NSManagedObject {
        guard let place = what.place else { programmerError("an object is made that lies nowhere") }
        keep(place.layout, place.store)
        let type = objectType(for: place.layout)
        let state = what.state
        materialization = consume what
        let object = type.init(materializedIn: self)
        // A subclass may have set properties while it was made; what the store has wins.
        if object.state != state {
            changed.removeAll { $0 === object }
            dropIndex()
            event.removeAll { $0 === object }
            object.values = object.snapshot
            object.state = object.state.intersection(.observed).union(state)
        }
        if checksQueues { object.state.insert(.checked) }
        return object
    }

    /// Makes an object that records the keys that are read from it, and that no context knows; see `KeyPathProbe`.
    func makeProbe(_ type: NSManagedObject.Type, _ layout: EntityLayout) -> NSManagedObject {
        make(type, layout, values: [], state: .probe)
    }

    /// Makes a new object of a class for an entity, in no context.
    static func makeUninsertedObject(of type: NSManagedObject.Type, entity: EntityLayout) -> NSManagedObject {
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        let object = context.make(type, entity, values: entity.defaultValues, state: [])
        object.setContext(nil)
        return object
    }

    /// Makes an object that this context does not register.
    private func make(
        _ type: NSManagedObject.Type, _ layout: EntityLayout, values: ContiguousArray<StoredValue>, state: ObjectState
    ) -> NSManagedObject {
        keep(.passUnretained(layout), nil)
        classCache.lastEntity = nil
        classCache.lastDescription = nil
        materialization = Materialization(
            place: ObjectPlace(layout: .passUnretained(layout), store: nil, key: Self.makeTemporaryNumber()),
            values: values, version: 0, state: state, stamp: 0)
        defer { materialization = .none }
        return type.init(materializedIn: self)
    }

    private static let temporaryNumber = Atomic<Int64>(0)

    static func makeTemporaryNumber() -> Int64 { temporaryNumber.add(1, ordering: .relaxed).newValue }

    /// Keeps an entity and a store alive for the objects that refer to them: neighbours refer to the same.
    @inline(__always)
    final func keep(_ layout: Unmanaged<EntityLayout>, _ store: Unmanaged<StoreIdentity>?) {
        if lastKeptLayout == layout.toOpaque(), lastKeptStore == store?.toOpaque() { return }
        table.keep(layout.takeUnretainedValue(), store?.takeUnretainedValue())
        lastKeptLayout = layout.toOpaque()
        lastKeptStore = store?.toOpaque()
    }
}
