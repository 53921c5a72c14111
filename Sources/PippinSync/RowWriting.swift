import Foundation
import StoreSession
import SyncPlanning

/// Makes the change set that brings rows of a store to what they are to be, with both ends of their relationships.
struct RowWriting {
    private let mapping: SyncMapping
    private let session: StoreSession
    private let store: SessionStore
    private let reading: RowReading
    private let countsKeys: Bool
    private let transaction: OptimisticTransaction?
    private var entries: [RowID: Entry] = [:]
    private var idsByRow: [NSManagedObjectID: RowID] = [:]

    /// A row on its way to what it is to be.
    private struct Entry {
        let identifier: NSManagedObjectID
        /// What the store has; nil for a new row.
        let found: FoundRow?
        var values: ContiguousArray<StoredValue>
        var isDeleted = false
        /// The members that lists are to have, by the relationships' names.
        var lists: [String: [NSManagedObjectID]] = [:]
    }

    /// - Parameters:
    ///   - mapping: the model as the planner has it.
    ///   - session: the store's session.
    ///   - store: the store.
    ///   - countsKeys: whether keys of new rows are reserved before.
    ///   - transaction: the transaction in which the rows are saved; nil for the store's long one.
    init(
        _ mapping: SyncMapping, _ session: StoreSession, _ store: SessionStore, countsKeys: Bool,
        _ transaction: OptimisticTransaction?
    ) {
        (self.mapping, self.session, self.store) = (mapping, session, store)
        (self.countsKeys, self.transaction) = (countsKeys, transaction)
        reading = RowReading(mapping, session, store)
    }

    /// - Parameter targets: what rows are to be; nil for those that are to be gone. Properties without a value stay as
    ///   they are.
    /// - Returns: the changes; an empty set if all is as it is to be.
    /// - Throws: the errors of the store.
    mutating func changes(to targets: [RowID: PlannedRow?]) throws -> ChangeSet {
        var changes = ChangeSet()
        try load(targets.keys)
        try makeRows(targets, &changes)
        try load(
            targets.values.flatMap { row in row?.values.values.flatMap(\.references) ?? [] })
        for (id, target) in targets.sorted(by: { $0.key < $1.key }) {
            if let target { set(id, target) } else { entries[id]?.isDeleted = true }
        }
        try followOwners(targets)
        collect(&changes)
        return changes
    }

    // MARK: Rows

    private mutating func load(_ ids: some Sequence<RowID>) throws {
        let missing = Set(ids).filter { entries[$0] == nil }
        if missing.isEmpty { return }
        for (id, item) in try reading.find(missing) { add(id, item) }
    }

    private mutating func add(_ id: RowID, _ item: FoundRow) {
        entries[id] = Entry(identifier: item.row.objectID, found: item, values: item.row.values)
        idsByRow[item.row.objectID] = id
    }

    /// Adds rows that are known by what leads to them.
    private mutating func load(rows: some Sequence<NSManagedObjectID>) throws {
        let missing = Set(rows).filter { idsByRow[$0] == nil }
        if missing.isEmpty { return }
        try reading.lookUp(missing)
        try load(missing.compactMap { reading.id(of: $0) })
    }

    private mutating func makeRows(_ targets: [RowID: PlannedRow?], _ changes: inout ChangeSet) throws {
        let new = targets.filter { $0.value != nil && entries[$0.key] == nil && mapping[$0.key.entity] != nil }
            .map(\.key).sorted()
        let made = try session.makeIdentifiers(
            for: new.compactMap { mapping[$0.entity]?.layout }, in: store, countsKeys: countsKeys, transaction)
        changes.promises = made.promises
        for (id, identifier) in zip(new, made.identifiers) {
            guard let entity = mapping[id.entity], let key = SyncValues.key(id.key.string, entity.key) else { continue }
            var entry = Entry(identifier: identifier, found: nil, values: entity.layout.defaultValues)
            entry.values[entity.keySlot] = key
            entries[id] = entry
            idsByRow[identifier] = id
        }
    }

    private mutating func set(_ id: RowID, _ target: PlannedRow) {
        guard let entity = mapping[id.entity], var entry = entries[id] else { return }
        for property in entity.properties {
            guard let value = target.values[property.name] else { continue }
            switch property.place {
            case .attribute(let slot, let attribute): entry.values[slot] = SyncValues.stored(value, attribute)
            case .element(let slot, let path, let attribute):
                guard let composite = entity.layout.slots[slot].attribute else { continue }
                entry.values[slot] = Self.setting(
                    SyncValues.stored(value, attribute), at: path[...], of: entry.values[slot], composite)
            case .reference(let relationship):
                entry.values[relationship.slot] = reference(value)
            case .list(let relationship):
                entry.lists[relationship.name] = members(value)
            }
        }
        entries[id] = entry
    }

    private func reference(_ value: SyncValue) -> StoredValue {
        guard case .reference(let id) = value, let end = entries[id] else { return .null }
        return .identifier(end.identifier)
    }

    private func members(_ value: SyncValue) -> [NSManagedObjectID] {
        switch value {
        case .list(let ids): ids.compactMap { entries[$0]?.identifier }
        case .set: value.references.sorted().compactMap { entries[$0]?.identifier }
        default: []
        }
    }

    /// A nested value with another value of one of its elements.
    static func setting(
        _ value: StoredValue, at path: ArraySlice<String>, of composite: StoredValue, _ attribute: AttributeLayout
    ) -> StoredValue {
        var former: CompositeValue?
        if case .object(let object) = composite { former = object as? CompositeValue }
        return .composite(
            attribute.elements.map { element in
                let present = former?.stored(element) ?? .null
                guard element.name == path.first else { return (element, present) }
                let rest = path.dropFirst()
                return (element, rest.isEmpty ? value : setting(value, at: rest, of: present, element))
            })
    }

    // MARK: The other ends

    /// Gives the other ends of references what follows from them: the reference back, or a place in a list.
    private mutating func followOwners(_ targets: [RowID: PlannedRow?]) throws {
        // The members that owners of ordered lists win and lose, and the owners whose order is given.
        var owners: [OwnedList: RelationshipLayout] = [:]
        var gained: [OwnedList: Set<NSManagedObjectID>] = [:]
        var lost: [OwnedList: Set<NSManagedObjectID>] = [:]
        var backs: [(end: NSManagedObjectID, slot: Int, former: NSManagedObjectID?, new: NSManagedObjectID?)] = []
        for id in targets.keys.sorted() {
            guard let entity = mapping[id.entity], let entry = entries[id] else { continue }
            for property in entity.properties {
                if case .list(let relationship) = property.place, relationship.inverse?.isToMany == false,
                    entry.lists[relationship.name] != nil, !entry.isDeleted
                {
                    owners[OwnedList(entry.identifier, relationship)] = relationship
                }
                guard case .reference(let relationship) = property.place, let inverse = relationship.inverse else {
                    continue
                }
                let former = entry.found.flatMap { Self.end($0.row.values[relationship.slot]) }
                let new = entry.isDeleted ? nil : Self.end(entry.values[relationship.slot])
                if former == new { continue }
                if inverse.isToMany {
                    guard inverse.isOrdered else { continue }
                    if let former {
                        owners[OwnedList(former, inverse)] = inverse
                        lost[OwnedList(former, inverse), default: []].insert(entry.identifier)
                    }
                    if let new {
                        owners[OwnedList(new, inverse)] = inverse
                        gained[OwnedList(new, inverse), default: []].insert(entry.identifier)
                    }
                } else {
                    if let former { backs.append((former, inverse.slot, entry.identifier, nil)) }
                    if let new { backs.append((new, inverse.slot, nil, entry.identifier)) }
                }
            }
        }
        try load(rows: owners.keys.map(\.owner) + backs.map(\.end))
        // What is lost comes first, as another row may have won the place.
        for back in backs.filter({ $0.new == nil }) + backs.filter({ $0.new != nil }) {
            guard let id = idsByRow[back.end], let entry = entries[id] else { continue }
            if let new = back.new {
                entries[id]?.values[back.slot] = .identifier(new)
            } else if Self.end(entry.values[back.slot]) == back.former {
                entries[id]?.values[back.slot] = .null
            }
        }
        for (list, relationship) in owners {
            guard let id = idsByRow[list.owner], let entry = entries[id], !entry.isDeleted else { continue }
            let present = entry.found?.lists[relationship.name] ?? []
            let members = Set(present).subtracting(lost[list] ?? []).union(gained[list] ?? [])
            let order = (entry.lists[relationship.name] ?? present).filter { members.contains($0) }
            let others = members.subtracting(order).sorted { left, right in
                guard let left = idsByRow[left] ?? reading.id(of: left),
                    let right = idsByRow[right] ?? reading.id(of: right)
                else { return left.key < right.key }
                return left < right
            }
            entries[id]?.lists[relationship.name] = order + others
        }
    }

    private struct OwnedList: Hashable {
        let owner: NSManagedObjectID
        let name: String

        init(_ owner: NSManagedObjectID, _ relationship: RelationshipLayout) {
            (self.owner, name) = (owner, relationship.name)
        }
    }

    private static func end(_ value: StoredValue) -> NSManagedObjectID? {
        if case .identifier(let end) = value { end } else { nil }
    }

    // MARK: The change set

    private func collect(_ changes: inout ChangeSet) {
        for (_, entry) in entries.sorted(by: { $0.key < $1.key }) {
            if entry.isDeleted {
                guard let row = entry.found?.row else { continue }
                changes.deleted.append(RowDeletion(objectID: row.objectID, version: row.version))
                continue
            }
            let layout = entry.identifier.layout
            let lists = toManyChanges(of: entry)
            guard let row = entry.found?.row else {
                changes.inserted.append(
                    StoredChange(
                        objectID: entry.identifier, version: 0, values: entry.values, changedSlots: [],
                        toManyChanges: lists))
                continue
            }
            let slots = layout.slots.indices.filter { row.values[$0] != entry.values[$0] }
            if slots.isEmpty && lists.isEmpty { continue }
            changes.updated.append(
                StoredChange(
                    objectID: row.objectID, version: row.version, values: entry.values, changedSlots: slots,
                    toManyChanges: lists))
        }
    }

    private func toManyChanges(of entry: Entry) -> [ToManyChange] {
        var all: [ToManyChange] = []
        for relationship in entry.identifier.layout.toManys {
            guard let members = entry.lists[relationship.name] else { continue }
            let present = entry.found?.lists[relationship.name] ?? []
            let (former, new) = (Set(present), Set(members))
            if relationship.isOrdered ? present == members : former == new { continue }
            all.append(
                ToManyChange(
                    relationship: relationship, added: new.subtracting(former).sorted { $0.key < $1.key },
                    removed: former.subtracting(new).sorted { $0.key < $1.key },
                    order: relationship.isOrdered ? members : nil,
                    pairs: relationship.isManyToMany ? .thisEnd : .eitherEnd))
        }
        return all
    }
}
