import Foundation

// What is loaded along with what was asked for: batches, and what relationships lead to.
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

    /// Loads the values of a batch; what could not be found stays a fault.
    ///
    /// A batch that cannot be read leaves its objects faults, which read their own rows, and report for themselves.
    func loadBatch(_ batch: [NSManagedObjectID]) {
        guard let source else { return }
        let stamp = source.generation
        guard let rows = try? source.rows(for: batch.filter { table.contains($0) }) else { return }
        for row in rows { _ = object(for: row, asFault: false, refreshing: false, stamp: stamp) }
    }

    /// Loads what relationships lead to: a query for the rows at the end of a to-many relationship, for some hundred objects at a time,
    /// and one for those of to-one relationships.
    ///
    /// Keys without a relationship end their paths: a fetch with them gives the same objects, in Core Data, too.
    func prefetch(_ keyPaths: [String], for objects: [NSManagedObject]) throws {
        guard !keyPaths.isEmpty, let source else { return }
        for keyPath in keyPaths {
            var level = objects
            let keys = keyPath.split(separator: ".")
            for (place, key) in keys.enumerated() {
                guard !level.isEmpty else { break }
                var (last, lastLayout): (RelationshipLayout?, EntityLayout?) = (nil, nil)
                var relationships: [RelationshipLayout] = []
                relationships.reserveCapacity(level.count)
                // An attribute comes with its object, and what an entity does not have is passed over.
                level = level.filter { object in
                    if lastLayout !== object.layout {
                        (last, lastLayout) = (object.layout.relationship(named: String(key)), object.layout)
                    }
                    if let last { relationships.append(last) }
                    return last != nil
                }
                let isComplete = try loadMembers(of: relationships, for: level, withRows: true)
                if isComplete, place == keys.count - 1 { break }
                let next = zip(level, relationships).flatMap { object, relationship in
                    relationship.isToMany
                        ? object.toManyObjects(relationship) : object.toOne(relationship).map { [$0] } ?? []
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

    /// Loads what the delete rules of objects look at, what one relationship of all of them leads to at once.
    ///
    /// What cannot be read is read again for each object, and reported for that.
    func loadDestinations(ofDeleted objects: ArraySlice<NSManagedObject>) {
        guard objects.count > 1, let source else { return }
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

    /// Loads the lists that objects joined by their own sides, before anybody had read them: who joins comes at the end.
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

    /// Loads the members of to-many relationships, those of one for all objects at once.
    ///
    /// - Parameters:
    ///   - relationships: a relationship of each object; those that are not to-many, or loaded already, are left out.
    ///   - objects: the objects.
    ///   - withRows: whether the members get their values, too, where the source gives them along.
    /// - Returns: whether all that the relationships lead to was read, values and all.
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
            // The same object may be there twice.
            guard seen.insert(MemberKey(ObjectIdentifier(object), relationship.index)).inserted else { continue }
            groups[ObjectIdentifier(relationship), default: (relationship, [])].objects.append(object)
        }
        for (relationship, objects) in groups.values {
            let read = withRows ? try readMembers(of: relationship, for: objects, from: source) : nil
            if read == nil { isComplete = false }
            let lists = try read ?? members(of: relationship, for: objects, from: source)
            // A row points at one object: those that are read as rows of the destination are there once.
            let areDistinct = read != nil && relationship.inverse?.isToMany == false
            for (object, list) in zip(objects, lists) {
                object.toManyMembers(relationship).load(list, areDistinct: areDistinct)
            }
        }
        return isComplete
    }

    /// The members of a to-many relationship of each object, as faults with the values of their rows; `nil` where the source does not give rows
    /// along.
    private func readMembers(
        of relationship: RelationshipLayout, for objects: [NSManagedObject], from source: any RowSource
    ) throws -> [[NSManagedObject]]? {
        let stamp = source.generation
        // Where no member can be known, or come twice, nothing is looked for, and all are registered at once.
        let areNew =
            relationship.inverse?.isToMany == false
            && objects.first.map { ObjectPlace.tag(.passUnretained(relationship.destination), $0.unretainedStore) }
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
                            place: row.place, values: row.values, version: row.version,
                            state: [.fault, .valuesPending], stamp: stamp))
                    : fault(for: row, stamp: stamp))
            if areNew, unregistered.note(members.count - 1) { register(&unregistered, among: &members) }
        }
        guard isRead else { return nil }
        register(&unregistered, among: &members)
        var lists: [[NSManagedObject]] = Array(repeating: [], count: objects.count)
        for (place, member) in zip(places, members) { lists[place].append(member) }
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
        guard !object.hasTemporaryID || parent != nil, let source else { return members.load([]) }
        do {
            let identifiers = try source.destinations(of: relationship, for: object.identifier)
            takePromotions()
            members.load(identifiers.map { objectOrFault($0) })
        } catch {
            // A property cannot throw. The members stay unloaded, so that they are read again, and no save takes the
            // destinations away.
            report("the relationship “\(object.layout.name).\(relationship.name)” has no members", error)
        }
    }

    /// The objects that a fetched property finds; nil where they cannot be read, which is reported.
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
