import CoreData

extension NSManagedObjectContext {
    /// Deletes objects, and what they own, except for objects that stay: these leave owners that are deleted.
    ///
    /// - Parameters:
    ///   - objects: the objects, of which those that stay are left out.
    ///   - kept: the objects that stay.
    ///   - owned: those of them that others may own.
    func delete(_ objects: [NSManagedObject], keeping kept: Set<NSManagedObject>, owned: [NSManagedObject]) {
        let going = Set(objects).subtracting(kept)
        guard !going.isEmpty else { return }
        let owners = OwnerRelationships(of: going)
        var ends = OwnerEnds(going: going, kept: kept, owners: owners)
        for object in owned {
            for back in owners[object] {
                let present = object.destinations(of: back.name, isToMany: back.isToMany)
                let staying = present.filter { !ends.goes($0) }
                if staying.count == present.count { continue }
                let set = back.isOrdered ? NSOrderedSet(array: staying) as Any : NSSet(array: staying)
                object.setValue(back.isToMany ? set : nil, forKey: back.name)
            }
        }
        for object in objects where going.contains(object) { delete(object) }
    }
}

/// The relationships to owners, by entity, of everything that is deleted along with some objects.
private struct OwnerRelationships {
    private var byEntity: [String: [NSRelationshipDescription]] = [:]

    init(of objects: Set<NSManagedObject>) {
        var entities = Array(Set(objects.map(\.entity)))
        var seen = Set(entities)
        while let entity = entities.popLast() {
            for relationship in entity.relationshipsByName.values where relationship.deleteRule == .cascadeDeleteRule {
                guard let owned = relationship.destinationEntity, let back = relationship.inverseRelationship else {
                    continue
                }
                byEntity[owned.name ?? "", default: []].append(back)
                if seen.insert(owned).inserted { entities.append(owned) }
            }
        }
    }

    subscript(object: NSManagedObject) -> [NSRelationshipDescription] {
        byEntity.isEmpty ? [] : byEntity[object.entity.name ?? ""] ?? []
    }
}

/// Which owners are deleted.
private struct OwnerEnds {
    let going: Set<NSManagedObject>
    let kept: Set<NSManagedObject>
    let owners: OwnerRelationships
    /// The owners that were found: many objects may have the same ones above them.
    private var known: [NSManagedObject: Bool] = [:]

    init(going: Set<NSManagedObject>, kept: Set<NSManagedObject>, owners: OwnerRelationships) {
        (self.going, self.kept, self.owners) = (going, kept, owners)
    }

    /// Whether an owner is deleted, by itself or with what owns it.
    mutating func goes(_ owner: NSManagedObject) -> Bool {
        var queue = [owner]
        var seen = Set(queue)
        var origins: [NSManagedObject: NSManagedObject] = [:]
        while let next = queue.popLast() {
            if known[next] ?? going.contains(next) {
                var end: NSManagedObject? = next
                while let one = end {
                    known[one] = true
                    end = origins[one]
                }
                return true
            }
            if known[next] == false || kept.contains(next) { continue }
            for back in owners[next] {
                for end in next.destinations(of: back.name, isToMany: back.isToMany) where seen.insert(end).inserted {
                    origins[end] = next
                    queue.append(end)
                }
            }
        }
        for end in seen { known[end] = false }
        return false
    }
}

extension NSManagedObject {
    /// The objects that a relationship leads to.
    func destinations(of name: String, isToMany: Bool) -> [NSManagedObject] {
        isToMany ? members(of: name) : (value(forKey: name) as? NSManagedObject).map { [$0] } ?? []
    }
}
