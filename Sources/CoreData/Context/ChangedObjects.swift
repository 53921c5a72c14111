/// The objects of a save, in the order of their first changes.
struct ChangedObjects {
    var inserted: [NSManagedObject] = []
    var updated: [NSManagedObject] = []
    var deleted: [NSManagedObject] = []
    /// Objects that were inserted and deleted without ever being saved.
    var neverSaved: [NSManagedObject] = []

    /// Whether there is nothing to report to others.
    var isEmpty: Bool { inserted.isEmpty && updated.isEmpty && deleted.isEmpty }

    /// The names of the objects' entities.
    var entityNames: Set<String> {
        var names: Set<String> = []
        var last: ObjectIdentifier?
        func note(_ objects: [NSManagedObject]) {
            for object in objects where ObjectIdentifier(object.layout) != last {
                last = ObjectIdentifier(object.layout)
                names.insert(object.layout.name)
            }
        }
        note(inserted)
        note(updated)
        note(deleted)
        return names
    }

    init(_ changed: ContiguousArray<NSManagedObject>) {
        if changed.first?.state.contains(.inserted) ?? false {
            inserted.reserveCapacity(changed.count)
        } else {
            updated.reserveCapacity(changed.count)
        }
        for object in changed {
            let state = object.state
            if state.contains(.deleted) {
                if state.contains(.inserted) { neverSaved.append(object) } else { deleted.append(object) }
            } else if state.contains(.inserted) {
                inserted.append(object)
            } else if state.contains(.updated) {
                updated.append(object)
            }
        }
    }
}
