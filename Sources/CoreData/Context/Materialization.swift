import Synchronization

/// What the next object that is made is to be; see `NSManagedObject.init(entity:insertInto:)`.
struct Materialization {
    let identifier: NSManagedObjectID
    let values: ContiguousArray<StoredValue>
    let version: Int64
    let state: ObjectState
    let stamp: UInt32
}

// Objects of rows, which are made of the class that their entity names.
extension NSManagedObjectContext {
    func takeMaterialization() -> Materialization? { materialization.take() }

    /// Makes the object of an ID, of the class that its entity names, and registers it.
    func materialize(_ what: consuming Materialization) -> NSManagedObject {
        let object = makeUnregistered(what)
        table.insert(object)
        if retainsRegisteredObjects { retained.insert(object) }
        return object
    }

    /// The same where the ID is probably not registered: looked up only when it proves to be.
    ///
    /// - Returns: nil when another object is registered under the ID.
    func materializeIfNew(_ what: consuming Materialization) -> NSManagedObject? {
        let object = makeUnregistered(what)
        guard table.insertIfNew(object) else { return nil }
        if retainsRegisteredObjects { retained.insert(object) }
        return object
    }

    private func makeUnregistered(_ what: consuming Materialization) -> NSManagedObject {
        let type = objectType(for: what.identifier.layout)
        let state = what.state
        materialization = consume what
        let object = type.init(materializedIn: self)
        // A subclass may have set properties while it was made; what the store has wins.
        if object.state != state {
            changed.removeAll { $0 === object }
            event.removeAll { $0 === object }
            object.values = object.snapshot
            object.state = state
        }
        if ConcurrencyDebug.isOn { object.state.insert(.checked) }
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
        classCache.lastEntity = nil
        classCache.lastDescription = nil
        materialization = Materialization(
            identifier: Self.makeTemporaryIdentifier(for: layout), values: values, version: 0, state: state, stamp: 0)
        defer { materialization = nil }
        return type.init(materializedIn: self)
    }

    private static let temporaryNumber = Atomic<Int64>(0)

    static func makeTemporaryIdentifier(for layout: EntityLayout) -> NSManagedObjectID {
        NSManagedObjectID(
            temporaryFor: layout, number: temporaryNumber.add(1, ordering: .relaxed).newValue)
    }
}
