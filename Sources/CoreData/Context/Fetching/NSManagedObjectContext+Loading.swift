import Foundation
import Synchronization

// Loads more than was asked for: batches, and the destinations of relationships.
extension NSManagedObjectContext {
    func noteBatches(of objects: [NSManagedObject], size: Int) {
        guard size > 0 else { return }
        batches.removeAll { identifiers in !identifiers.contains { table.contains($0) } }
        for start in stride(from: 0, to: objects.count, by: size) {
            let members = objects[start..<min(start + size, objects.count)].filter {
                $0.state.contains(.fault) && !$0.state.contains(.valuesPending)
            }
            guard !members.isEmpty else { continue }
            let number = batches.add(members.map(\.identifier))
            for member in members {
                member.state.insert(.inBatch)
                member.stamp = number
            }
        }
    }

    /// Loads the values of a batch. Objects that are not found stay faults.
    ///
    /// If a batch cannot be read, its objects stay faults, which read their own rows later and report errors.
    func loadBatch(_ batch: [NSManagedObjectID]) {
        guard let source else { return }
        let stamp = source.generation
        guard let rows = try? source.rows(for: batch.filter { table.contains($0) }) else { return }
        for row in rows { _ = object(for: row, asFault: false, refreshing: false, stamp: stamp) }
    }

    /// Loads the destinations of relationships: one query for the rows of a to-many relationship, for several hundred
    /// objects at a time, and one for those of to-one relationships.
    ///
    /// A key that is not a relationship ends its path. A fetch with such keys returns the same objects, as in Core
    /// Data.
    func prefetch(_ keyPaths: [String], for objects: [NSManagedObject]) throws {
        guard !keyPaths.isEmpty else { return }
        try pinIfNeeded()
        guard let source else { return }
        for keyPath in keyPaths {
            var level = objects
            let keys = keyPath.split(separator: ".")
            for (place, key) in keys.enumerated() {
                guard !level.isEmpty else { break }
                var (last, lastLayout): (RelationshipLayout?, EntityLayout?) = (nil, nil)
                var relationships: [RelationshipLayout] = []
                relationships.reserveCapacity(level.count)
                // Attributes come with their objects, and properties that an entity does not have are skipped.
                level = level.filter { object in
                    if lastLayout !== object.layout {
                        (last, lastLayout) = (object.layout.relationship(named: String(key)), object.layout)
                    }
                    if let last { relationships.append(last) }
                    return last != nil
                }
                let isComplete = try loadMembers(of: relationships, for: level, withRows: true)
                if isComplete, place == keys.count - 1 { break }
                // Many objects may lead to one.
                var seen: IdentitySet = []
                let next = zip(level, relationships).flatMap { object, relationship in
                    let destinations =
                        relationship.isToMany
                        ? object.toManyObjects(relationship) : object.toOne(relationship).map { [$0] } ?? []
                    return destinations.filter { seen.insert($0) }
                }
                let missing = next.filter { $0.isFault && !$0.state.contains(.valuesPending) }.map(\.identifier)
                let stamp = source.generation
                for row in try source.rows(for: missing) {
                    _ = object(for: row, asFault: true, refreshing: false, stamp: stamp)
                }
                level = next
            }
        }
    }

    /// Loads the objects that delete rules look at, for one relationship of all objects at once.
    ///
    /// If this fails, the rows are read again for each object, which reports the error.
    func loadDestinations(ofDeleted objects: ArraySlice<NSManagedObject>) {
        guard !objects.isEmpty, (try? pinIfNeeded()) != nil, let source else { return }
        let stored = objects.filter {
            $0.state.contains(.deleted) && !$0.state.contains(.deletePropagated) && !$0.hasTemporaryID
        }
        let faults = stored.filter { $0.isFault && !$0.state.contains(.valuesPending) }.map(\.identifier)
        if !faults.isEmpty, let rows = try? source.rows(for: faults) {
            let stamp = source.generation
            for row in rows { _ = object(for: row, asFault: true, refreshing: false, stamp: stamp) }
        }
        for group in Dictionary(grouping: stored, by: { ObjectIdentifier($0.layout) }).values {
            let followed = group[0].layout.relationships.filter { relationship in
                switch relationship.deleteRule {
                case .cascadeDeleteRule, .denyDeleteRule: true
                case .nullifyDeleteRule: relationship.inverse != nil
                case .noActionDeleteRule: false
                }
            }
            try? prefetch(followed.map(\.name), for: group)
        }
    }

    /// Loads the ordered relationships to which objects were added from their inverse side before the lists had
    /// been read: added objects come at the end.
    func loadJoinedLists(of objects: [NSManagedObject]) throws {
        var (joined, relationships): ([NSManagedObject], [RelationshipLayout]) = ([], [])
        for object in objects where !object.relations.isEmpty {
            for relationship in object.layout.toManys where relationship.isOrdered && !relationship.isTransient {
                guard let members = object.toManyMembersIfAny(relationship), !members.isLoaded, !members.added.isEmpty
                else { continue }
                joined.append(object)
                relationships.append(relationship)
            }
        }
        if !joined.isEmpty { try loadMembers(of: relationships, for: joined, withRows: false) }
    }

    /// Loads the members of to-many relationships, one relationship for all objects at once.
    ///
    /// - Parameters:
    ///   - relationships: a relationship of each object. Those that are to-one, or loaded already, are left out.
    ///   - objects: the objects.
    ///   - withRows: whether the members also get their values, if the source provides them.
    /// - Returns: whether all destinations were read, with their values.
    /// - Throws: the errors of the stores.
    @discardableResult
    private func loadMembers(
        of relationships: [RelationshipLayout], for objects: [NSManagedObject], withRows: Bool
    ) throws -> Bool {
        guard let source else { return true }
        var isComplete = true
        var seen: Set<MemberKey> = []
        var groups: [ObjectIdentifier: (relationship: RelationshipLayout, objects: [NSManagedObject])] = [:]
        for (object, relationship) in zip(objects, relationships) {
            guard relationship.isToMany, !object.hasTemporaryID else {
                isComplete = false
                continue
            }
            if object.state.contains(.fault) { object.fireFault() }
            if object.toManyMembersIfAny(relationship)?.isLoaded ?? false {
                isComplete = false
                continue
            }
            // The same object may occur twice.
            guard seen.insert(MemberKey(ObjectIdentifier(object), relationship.index)).inserted else { continue }
            groups[ObjectIdentifier(relationship), default: (relationship, [])].objects.append(object)
        }
        for (relationship, objects) in groups.values {
            let read = withRows ? try readMembers(of: relationship, for: objects, from: source) : nil
            if read == nil { isComplete = false }
            let lists = try read ?? members(of: relationship, for: objects, from: source)
            // A destination's row points at one object, so each destination read as a row occurs once.
            let areDistinct = read != nil && relationship.inverse?.isToMany == false
            for (object, list) in zip(objects, lists) {
                object.toManyMembers(relationship).load(list, areDistinct: areDistinct)
            }
        }
        return isComplete
    }

    /// The members of a to-many relationship of each object, as faults with the values of their rows; `nil` if the
    /// source does not provide rows.
    private func readMembers(
        of relationship: RelationshipLayout, for objects: [NSManagedObject], from source: any RowSource
    ) throws -> [[NSManagedObject]]? {
        let stamp = source.generation
        // If no member can be registered, or occur twice, no look-up is needed, and all are registered at once.
        let areNew =
            relationship.inverse?.isToMany == false
            && objects.first.map { ObjectIdentity.tag(.passUnretained(relationship.destination), $0.unretainedStore) }
                .map { table.holdsNone($0, amongAtMost: 16 * objects.count) } ?? false
        var members: [NSManagedObject] = []
        var places: [Int] = []
        var unregistered = Unregistered()
        let isRead = try source.readDestinations(of: relationship, for: objects.map(\.identifier)) { place, row in
            places.append(place)
            members.append(
                areNew
                    ? makeUnregistered(
                        Materialization(
                            identity: row.identity, values: row.values, version: row.version,
                            state: [.fault, .valuesPending], stamp: stamp))
                    : fault(for: row, stamp: stamp))
            if areNew, unregistered.note(members.count - 1) { register(&unregistered, among: &members) }
        }
        guard isRead else { return nil }
        register(&unregistered, among: &members)
        var lists: [[NSManagedObject]] = Array(repeating: [], count: objects.count)
        // The members of one object are usually consecutive.
        var start = 0
        while start < places.count {
            let place = places[start]
            let end = places[start...].firstIndex { $0 != place } ?? places.count
            lists[place] += members[start..<end]
            start = end
        }
        return lists
    }

    /// The members of a to-many relationship of each object, by their IDs.
    private func members(
        of relationship: RelationshipLayout, for objects: [NSManagedObject], from source: any RowSource
    ) throws -> [[NSManagedObject]] {
        let found = try source.destinations(of: relationship, for: objects.map(\.identifier))
        takePromotions()
        return found.map { list in list.map { objectOrFault($0) } }
    }

    /// A relationship of an object.
    private struct MemberKey: Hashable {
        let object: ObjectIdentifier
        let relationship: Int

        init(_ object: ObjectIdentifier, _ relationship: Int) {
            (self.object, self.relationship) = (object, relationship)
        }
    }

    /// Loads the members of a to-many relationship.
    func load(_ members: ToManyMembers, of relationship: RelationshipLayout, for object: NSManagedObject) {
        guard !object.hasTemporaryID || parent != nil, source != nil else { return members.load([]) }
        do {
            try pinIfNeeded()
            let identifiers = try source?.destinations(of: relationship, for: object.identifier) ?? []
            takePromotions()
            members.load(identifiers.map { objectOrFault($0) })
        } catch {
            // A property cannot throw. The members stay unloaded, so that they are read again later, and no save
            // removes the destinations.
            report("the relationship “\(object.layout.name).\(relationship.name)” has no members", error)
        }
    }

    /// The objects that a fetched property finds; nil if they cannot be read, which is reported.
    func fetchedPropertyValue(_ property: NSPropertyDescription, of object: NSManagedObject) -> [Any]? {
        guard let description = property as? NSFetchedPropertyDescription, let template = description.fetchRequest,
            let request = template.copy() as? NSFetchRequest<any NSFetchRequestResult>
        else { return nil }
        request.predicate = template.predicate.map { $0.of(description, of: object) }
        do { return try results(of: request) } catch {
            report("fetched property “\(object.layout.name).\(property.name)” cannot be read", error)
            return nil
        }
    }
}

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
