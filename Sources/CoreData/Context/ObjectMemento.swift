/// The state of an object before an event, sufficient for undo to restore it.
struct ObjectMemento {
    let object: NSManagedObject
    /// Whether the object was in the context before, rather than inserted by the event.
    let existed: Bool
    let isDeleted: Bool
    private let values: ContiguousArray<StoredValue>
    private let toOnes: [(relationship: RelationshipLayout, destination: NSManagedObject?)]
    private var toManys: [(relationship: RelationshipLayout, members: [NSManagedObject], isReordered: Bool)] = []

    init(_ object: NSManagedObject, existed: Bool) {
        self.object = object
        self.existed = existed
        isDeleted = object.state.contains(.deleted)
        values = object.values
        var toOnes: [(relationship: RelationshipLayout, destination: NSManagedObject?)] = []
        // IDs among the values may become permanent, so registered destinations are kept as objects.
        for relationship in object.layout.toOnes where !object.relations.isEmpty {
            if case .toOne(let destination) = object.relations[relationship.index] {
                toOnes.append((relationship, destination))
            }
        }
        self.toOnes = toOnes
        for relationship in object.layout.toManys {
            guard let members = object.toManyMembersIfAny(relationship), members.isLoaded else { continue }
            toManys.append((relationship, members.all, members.isReordered))
        }
    }

    /// Records the members of relationships that the event loaded in order to change them: their former members were
    /// the committed ones.
    mutating func complete() {
        for relationship in object.layout.toManys {
            guard let members = object.toManyMembersIfAny(relationship), members.hasChanges,
                !toManys.contains(where: { $0.relationship === relationship })
            else { continue }
            let loaded = object.loadedToManyMembers(relationship)
            let committed = loaded.committed
            // The present order as far as possible: nobody recorded the places of removed members.
            let order = loaded.all.filter(committed.contains) + loaded.removed
            toManys.append((relationship, order, false))
        }
    }

    /// Whether a property of the object has another value now.
    func differs(inKey key: String) -> Bool {
        switch object.layout.propertyByName[key] {
        case .slot(let slot):
            return !values.isEmpty && (object.values.isEmpty || values[slot] != object.values[slot])
        case .toMany(let index):
            let relationship = object.layout.relationships[index]
            guard let former = toManys.first(where: { $0.relationship === relationship }) else { return false }
            let members = object.loadedToManyMembers(relationship)
            return relationship.isOrdered
                ? members.all != former.members : members.members != IdentitySet(former.members)
        case .fetched, nil: return false
        }
    }

    /// Restores the object's values and relationships.
    func restoreValues() {
        if !values.isEmpty { object.values = values }
        if !object.relations.isEmpty {
            for relationship in object.layout.toOnes { object.relations[relationship.index] = .unresolved }
        }
        for (relationship, destination) in toOnes {
            object.values[relationship.slot] = destination.map { .identifier($0.identifier) } ?? .null
        }
        for (relationship, members, isReordered) in toManys {
            object.loadedToManyMembers(relationship).replaceAll(by: members, isReordered: isReordered)
        }
    }
}
