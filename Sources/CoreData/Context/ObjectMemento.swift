/// What an object was before an event: enough for undo to make it so again.
struct ObjectMemento {
    let object: NSManagedObject
    /// Whether the object was in the context, and not only inserted by the event.
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
        // IDs in the values may become permanent: objects that are known are kept themselves.
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

    /// Notes the members of relationships that the event loaded in order to change them: they had been as committed.
    mutating func complete() {
        for relationship in object.layout.toManys {
            guard let members = object.toManyMembersIfAny(relationship), members.hasChanges,
                !toManys.contains(where: { $0.relationship === relationship })
            else { continue }
            let loaded = object.loadedToManyMembers(relationship)
            let committed = loaded.committed
            // In the present order as far as that goes: what was removed had a place that nobody noted.
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

    /// Gives the object its values and relationships again.
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
