import CoreDataModel
import StoreEngine

/// How one graph became another, as the change set that a context would hand to a store. Pure.
struct GraphChanges {
    let editor: GraphEditor
    /// Objects that are written as if they had been read before their latest change.
    let stale: Set<Int>
    /// Whether orders of relationships are said.
    var saysOrders = true
    /// The ID of an object.
    let identifier: (Int) -> NSManagedObjectID?

    func changeSet() -> ChangeSet {
        var changes = ChangeSet()
        for (number, object) in editor.graph.objects.sorted(by: { $0.key < $1.key }) {
            guard let identifier = identifier(number) else { continue }
            let former = editor.former.objects[number]
            // What was made and deleted again is nothing.
            if editor.deleted.contains(number) {
                guard let former else { continue }
                let version = former.version - (stale.contains(number) ? 1 : 0)
                changes.deleted.append(RowDeletion(objectID: identifier, version: version))
                continue
            }
            let slots = object.values.indices.filter { slot in
                !object.entity.slots[slot].isTransient && object.values[slot] != former?.values[slot]
            }
            let toManys = object.entity.toManys.compactMap { change($0, from: former, to: object) }
            guard let former else {
                changes.inserted.append(
                    RowChange(
                        objectID: identifier, version: 0, values: stored(object), changedSlots: [],
                        toManyChanges: toManys))
                continue
            }
            guard !slots.isEmpty || !toManys.isEmpty || stale.contains(number) else { continue }
            changes.updated.append(
                RowChange(
                    objectID: identifier, version: former.version - (stale.contains(number) ? 1 : 0),
                    values: stored(object), changedSlots: slots, toManyChanges: toManys))
        }
        // Objects that somebody has deleted since.
        for number in stale.sorted() where editor.graph.objects[number] == nil {
            guard let identifier = identifier(number) else { continue }
            changes.updated.append(
                RowChange(
                    objectID: identifier, version: 1, values: identifier.layout.defaultValues, changedSlots: [],
                    toManyChanges: []))
        }
        return changes
    }

    private func change(
        _ relationship: RelationshipLayout, from former: Graph.Object?, to object: Graph.Object
    ) -> ToManyChange? {
        let old = former?.toManys[relationship.index] ?? []
        let new = object.toManys[relationship.index].filter { !editor.deleted.contains($0) }
        let added = new.filter { !old.contains($0) }
        let removed = old.filter { !object.toManys[relationship.index].contains($0) }
        // The rows of the destinations have it all but the order.
        if !saysOrders, relationship.isOrdered, relationship.inverse?.isToMany == false { return nil }
        let isOrdered = relationship.isOrdered && saysOrders
        let moves = isOrdered && old != object.toManys[relationship.index]
        guard !added.isEmpty || !removed.isEmpty || moves else { return nil }
        return ToManyChange(
            relationship: relationship, added: added.sorted().compactMap(identifier),
            removed: removed.sorted().compactMap(identifier),
            order: isOrdered ? new.compactMap(identifier) : nil)
    }

    /// The values with IDs for objects.
    private func stored(_ object: Graph.Object) -> ContiguousArray<StoredValue> {
        var values = object.values
        for relationship in object.entity.toOnes {
            guard let number = object.toOne(relationship) else { continue }
            values[relationship.slot] = identifier(number).map { .identifier($0) } ?? .null
        }
        return values
    }
}
