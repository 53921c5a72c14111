import Foundation

// Called by generated accessors of relationships.
@_spi(GeneratedCode) extension NSManagedObject {
    // MARK: To-one

    /// The destination of a to-one relationship.
    ///
    /// - Parameter key: the relationship.
    /// - Returns: the object; `nil` for none.
    public final func managedValue<Destination: NSManagedObject>(_ key: ManagedPropertyKey) -> Destination? {
        guard let slot = slot(of: key), let relationship = layout.slots[slot].relationship else {
            return state.contains(.probe) ? KeyPathProbe.destination(key.name, of: self) : otherValue(key)
        }
        if case .object = storedValue(at: slot) { return otherValue(key) }
        guard let object = toOne(relationship) else { return nil }
        return object as? Destination ?? mismatch(object, key)
    }

    /// Sets the destination of a to-one relationship.
    ///
    /// - Parameters:
    ///   - value: the object; `nil` for none.
    ///   - key: the relationship.
    public final func setManagedValue<Destination: NSManagedObject>(_ value: Destination?, _ key: ManagedPropertyKey) {
        setOtherValue(value, key)
    }

    /// The destination of a to-one relationship that is not declared optional. If there is none, the result is an
    /// object without values and context, which behaves like a reference to nil in Objective-C.
    ///
    /// - Parameter key: the relationship.
    /// - Returns: the object.
    public final func managedValue<Destination: NSManagedObject>(_ key: ManagedPropertyKey) -> Destination {
        let destination: Destination? = managedValue(key)
        return destination ?? AbsentObjects.standIn(for: Destination.self) ?? missing(key)
    }

    /// Sets the destination of a to-one relationship.
    ///
    /// - Parameters:
    ///   - value: the object.
    ///   - key: the relationship.
    public final func setManagedValue<Destination: NSManagedObject>(_ value: Destination, _ key: ManagedPropertyKey) {
        setOtherValue(value, key)
    }

    // MARK: To-many

    /// The destinations of a to-many relationship.
    ///
    /// - Parameter key: the relationship.
    /// - Returns: the objects; empty for none.
    @inlinable
    public final func managedValue<Destination: NSManagedObject>(_ key: ManagedPropertyKey) -> Set<Destination> {
        // Inlined into the program's own module, where the class is known: making a set of a generic class takes
        // several times as long.
        guard let members = loadedMembers(of: key) else { return managedAnyValue(key) }
        if let known = members.keptSet(of: Destination.self) { return known }
        let objects = members.all
        var set: Set<Destination> = Set(minimumCapacity: objects.count)
        for object in objects {
            // The general accessor stops the program with the reason.
            guard let member = object as? Destination else { return managedAnyValue(key) }
            set.insert(member)
        }
        members.keep(set)
        return set
    }

    /// The members of a to-many relationship, loaded; `nil` if the key is another property's.
    @usableFromInline
    final func loadedMembers(of key: ManagedPropertyKey) -> ToManyMembers? {
        guard layout.toManyIndex(forInternedKey: key.number) != nil else { return nil }
        let relationship = toManyRelationship(key)
        if state.contains(.fault) { fireFault() }
        return loadedToManyMembers(relationship)
    }

    /// Sets the destinations of a to-many relationship.
    ///
    /// - Parameters:
    ///   - value: the objects.
    ///   - key: the relationship.
    public final func setManagedValue<Destination: NSManagedObject>(
        _ value: Set<Destination>, _ key: ManagedPropertyKey
    ) {
        guard !state.contains(.probe) else { return }
        setToMany(toManyRelationship(key), to: Array(value))
    }

    /// The destinations of a to-many relationship; never `nil` unless the property is of another kind.
    ///
    /// - Parameter key: the relationship.
    /// - Returns: the objects; empty for none.
    public final func managedValue<Destination: NSManagedObject>(_ key: ManagedPropertyKey) -> Set<Destination>? {
        let destinations: Set<Destination> = managedValue(key)
        return destinations
    }

    /// Sets the destinations of a to-many relationship; `nil` for none.
    ///
    /// - Parameters:
    ///   - value: the objects; `nil` for none.
    ///   - key: the relationship.
    public final func setManagedValue<Destination: NSManagedObject>(
        _ value: Set<Destination>?, _ key: ManagedPropertyKey
    ) {
        setManagedValue(value ?? [], key)
    }

    /// Adds an object to a to-many relationship; at the end of an ordered one.
    ///
    /// - Parameters:
    ///   - object: the object.
    ///   - key: the relationship.
    public final func managedAdd(_ object: NSManagedObject, for key: ManagedPropertyKey) {
        guard !isAbsent else { return }
        addToMany(toManyRelationship(key), object)
    }

    /// Adds objects to a to-many relationship: a set, an ordered set or an array.
    ///
    /// - Parameters:
    ///   - objects: the objects, as `NSSet`, `NSOrderedSet`, `Set` or an array.
    ///   - key: the relationship.
    public final func managedAdd(_ objects: Any, for key: ManagedPropertyKey) {
        guard !isAbsent else { return }
        let relationship = toManyRelationship(key)
        addToMany(relationship, all: members(of: objects, key))
    }

    /// Removes an object from a to-many relationship.
    ///
    /// - Parameters:
    ///   - object: the object.
    ///   - key: the relationship.
    public final func managedRemove(_ object: NSManagedObject, for key: ManagedPropertyKey) {
        guard !isAbsent else { return }
        removeFromToMany(toManyRelationship(key), object)
    }

    /// Removes objects from a to-many relationship: a set, an ordered set or an array.
    ///
    /// - Parameters:
    ///   - objects: the objects, as `NSSet`, `NSOrderedSet`, `Set` or an array.
    ///   - key: the relationship.
    public final func managedRemove(_ objects: Any, for key: ManagedPropertyKey) {
        guard !isAbsent else { return }
        let relationship = toManyRelationship(key)
        removeFromToMany(relationship, all: members(of: objects, key))
    }

    // MARK: Ordered

    /// Inserts an object into an ordered relationship.
    ///
    /// - Parameters:
    ///   - object: the object.
    ///   - index: the position, from 0 to the number of objects.
    ///   - key: the relationship.
    public final func managedInsert(_ object: NSManagedObject, at index: Int, for key: ManagedPropertyKey) {
        let relationship = orderedRelationship(key)
        check(index, within: 0...toManyObjects(relationship).count, key)
        addToMany(relationship, object, at: index)
    }

    /// Inserts objects into an ordered relationship, each at its final position.
    ///
    /// - Parameters:
    ///   - objects: the objects.
    ///   - indexes: one position for each object, ascending.
    ///   - key: the relationship.
    public final func managedInsert(_ objects: [NSManagedObject], at indexes: NSIndexSet, for key: ManagedPropertyKey) {
        let positions = Array(indexes)
        check(objects.count, matches: positions.count, key)
        let change = {
            ObservedChange.members(.insertion, old: nil, new: objects as NSArray, indexes: IndexSet(positions))
        }
        asOneChange(toManyRelationship(key).name, change) {
            for (object, index) in zip(objects, positions) { managedInsert(object, at: index, for: key) }
        }
    }

    /// Inserts objects into an ordered relationship, each at its final position.
    ///
    /// - Parameters:
    ///   - objects: the objects.
    ///   - indexes: one position for each object, ascending.
    ///   - key: the relationship.
    public final func managedInsert(_ objects: [NSManagedObject], at indexes: IndexSet, for key: ManagedPropertyKey) {
        managedInsert(objects, at: indexes as NSIndexSet, for: key)
    }

    /// Removes the object at a position of an ordered relationship.
    ///
    /// - Parameters:
    ///   - index: the position, from 0.
    ///   - key: the relationship.
    public final func managedRemove(at index: Int, for key: ManagedPropertyKey) {
        let relationship = orderedRelationship(key)
        let objects = toManyObjects(relationship)
        check(index, within: objects.indices, key)
        removeFromToMany(relationship, objects[index])
    }

    /// Removes the objects at some positions of an ordered relationship.
    ///
    /// - Parameters:
    ///   - indexes: the positions, from 0.
    ///   - key: the relationship.
    public final func managedRemove(at indexes: NSIndexSet, for key: ManagedPropertyKey) {
        let relationship = orderedRelationship(key)
        let objects = toManyObjects(relationship)
        let positions = Array(indexes)
        for index in positions { check(index, within: objects.indices, key) }
        removeFromToMany(relationship, all: positions.reversed().map { objects[$0] })
    }

    /// Removes the objects at some positions of an ordered relationship.
    ///
    /// - Parameters:
    ///   - indexes: the positions, from 0.
    ///   - key: the relationship.
    public final func managedRemove(at indexes: IndexSet, for key: ManagedPropertyKey) {
        managedRemove(at: indexes as NSIndexSet, for: key)
    }

    /// Replaces the object at a position of an ordered relationship.
    ///
    /// - Parameters:
    ///   - index: the position, from 0.
    ///   - object: the new object.
    ///   - key: the relationship.
    public final func managedReplace(at index: Int, with object: NSManagedObject, for key: ManagedPropertyKey) {
        let relationship = orderedRelationship(key)
        var objects = toManyObjects(relationship)
        check(index, within: objects.indices, key)
        objects[index] = object
        setToMany(relationship, to: objects)
    }

    /// Replaces the objects at some positions of an ordered relationship.
    ///
    /// - Parameters:
    ///   - indexes: the positions, from 0.
    ///   - objects: one object for each position.
    ///   - key: the relationship.
    public final func managedReplace(
        at indexes: NSIndexSet, with objects: [NSManagedObject], for key: ManagedPropertyKey
    ) {
        let relationship = orderedRelationship(key)
        let positions = Array(indexes)
        check(objects.count, matches: positions.count, key)
        // All at once: members that trade places would be there twice between two steps, and the next one be lost.
        var members = toManyObjects(relationship)
        for (index, object) in zip(positions, objects) {
            check(index, within: members.indices, key)
            members[index] = object
        }
        setToMany(relationship, to: members)
    }

    /// Replaces the objects at some positions of an ordered relationship.
    ///
    /// - Parameters:
    ///   - indexes: the positions, from 0.
    ///   - objects: one object for each position.
    ///   - key: the relationship.
    public final func managedReplace(at indexes: IndexSet, with objects: [NSManagedObject], for key: ManagedPropertyKey)
    {
        managedReplace(at: indexes as NSIndexSet, with: objects, for: key)
    }

    // MARK: Checks

    private final func members(of objects: Any, _ key: ManagedPropertyKey) -> [NSManagedObject] {
        if let members = Self.objects(in: objects) { return members }
        programmerError("“\(layout.name).\(key.name)” takes managed objects in a set or an array, not \(objects)")
    }

    private final func orderedRelationship(_ key: ManagedPropertyKey) -> RelationshipLayout {
        let relationship = toManyRelationship(key)
        guard relationship.isOrdered else {
            programmerError("“\(layout.name).\(key.name)” is not ordered: its objects have no positions")
        }
        return relationship
    }

    private final func check(
        _ index: Int, within bounds: some RangeExpression<Int> & Sendable, _ key: ManagedPropertyKey
    ) {
        guard !bounds.contains(index) else { return }
        programmerError("“\(layout.name).\(key.name)”: position \(index) is out of bounds \(bounds)")
    }

    private final func check(_ count: Int, matches positions: Int, _ key: ManagedPropertyKey) {
        guard count != positions else { return }
        programmerError("“\(layout.name).\(key.name)”: \(count) objects for \(positions) positions")
    }
}

/// Stand-ins for missing objects, for classes that declare a to-one relationship as not optional.
///
/// With the Objective-C runtime such a property is a reference to nil, which returns nothing from messages and ignores
/// them; `willSave()` of many programs reads the other side of a relationship like this while both objects are being
/// deleted. Here it is a probe (see `KeyPathProbe`) without a recorder, an entity of the model, or a context; there is
/// one for each class.
enum AbsentObjects {
    /// The stand-in for an object of a class.
    static func standIn<Object: NSManagedObject>(for type: Object.Type) -> Object? {
        made.withLock { made in
            if let known = made.objects[ObjectIdentifier(type)] { return known as? Object }
            let object = KeyPathProbe.makeProbe(type)
            object.setContext(nil)
            made.objects[ObjectIdentifier(type)] = object
            return object as? Object
        }
    }

    private static let made = Made()

    private final class Made: @unchecked Sendable {
        // @unchecked Sendable: `objects` is only accessed with the lock held.
        private let lock = NSRecursiveLock()
        var objects: [ObjectIdentifier: NSManagedObject] = [:]

        func withLock<Result>(_ body: (Made) -> Result) -> Result {
            lock.lock()
            defer { lock.unlock() }
            return body(self)
        }
    }
}

extension NSManagedObject {
    /// Whether this is a stand-in for a missing object.
    final var isAbsent: Bool { state.contains(.probe) }
}
