import CoreDataModel

/// Change sets of one store, one after the other, as one change set that leaves the same rows. Each row's version
/// increases by one, however many sets have changed it.
///
/// Each set was made for the rows as the former ones leave them, or changes other rows than they do. IDs of new rows
/// are not those of earlier ones. Where a pair of a many-to-many relationship is added or removed, both ends say so,
/// except for rows that are deleted.
package struct ComposedChanges {
    /// The only set, as long as there is one: most blocks save once.
    private var only: ChangeSet?
    /// New and changed rows, in the order in which they came; nil for a row that was deleted since.
    private var rows: [Entry?] = []
    private var places: [RowKey: Int] = [:]
    private var deletions: [RowDeletion] = []
    /// The deleted rows, and those that were made and deleted.
    private var gone: Set<RowKey> = []
    private var promises: [KeyPromise] = []
    private var contextName: String?
    private var author: String?

    private struct Entry {
        var change: RowChange
        let isNew: Bool
        /// Whether several sets have changed the row.
        var isRepeated = false

        /// Whether later sets have undone what earlier ones changed.
        var isUndone: Bool { isRepeated && change.changedSlots.isEmpty && change.toManyChanges.isEmpty }
    }

    /// An ID as numbers: a class would be hashed and compared by dynamic calls.
    private struct RowKey: Hashable {
        let key: Int64
        let tag: UInt64

        init(_ identifier: NSManagedObjectID) { (key, tag) = (identifier.key, identifier.tableTag) }
    }

    package init() {}

    /// Whether no set has changed anything; changes may also have undone each other.
    package var isEmpty: Bool { only?.isEmpty ?? (places.isEmpty && deletions.isEmpty) }

    // MARK: Adding

    /// Adds what comes after the sets so far.
    package mutating func add(_ set: ChangeSet) {
        if only == nil, places.isEmpty, gone.isEmpty, promises.isEmpty {
            only = set
            return
        }
        index()
        append(set)
    }

    /// Makes the only set one of several.
    private mutating func index() {
        guard let first = only else { return }
        only = nil
        append(first)
    }

    private mutating func append(_ set: ChangeSet) {
        for deletion in set.deleted { delete(deletion) }
        for change in set.updated { update(change) }
        for change in set.inserted {
            places[RowKey(change.objectID)] = rows.count
            rows.append(Entry(change: change, isNew: true))
        }
        for promise in set.promises { add(promise) }
        (contextName, author) = (contextName ?? set.contextName, author ?? set.author)
    }

    private mutating func delete(_ deletion: RowDeletion) {
        let key = RowKey(deletion.objectID)
        gone.insert(key)
        guard let place = places.removeValue(forKey: key), let former = rows[place] else {
            deletions.append(deletion)
            return
        }
        rows[place] = nil
        guard !former.isNew else { return }
        deletions.append(RowDeletion(objectID: deletion.objectID, version: former.change.version))
    }

    private mutating func update(_ change: RowChange) {
        let key = RowKey(change.objectID)
        guard let place = places[key], let former = rows[place] else {
            places[key] = rows.count
            rows.append(Entry(change: change, isNew: false))
            return
        }
        var values = former.change.values
        for slot in change.changedSlots { values[slot] = change.values[slot] }
        let slots =
            former.isNew ? [] : Set(former.change.changedSlots).union(change.changedSlots).sorted()
        rows[place]?.change = RowChange(
            objectID: change.objectID, version: former.change.version, values: values, changedSlots: slots,
            toManyChanges: Self.composed(former.change.toManyChanges, change.toManyChanges))
        rows[place]?.isRepeated = true
    }

    private mutating func add(_ promise: KeyPromise) {
        guard let place = promises.firstIndex(where: { $0.root === promise.root }) else {
            promises.append(promise)
            return
        }
        let known = promises[place]
        promises[place] = KeyPromise(
            root: promise.root, before: min(known.before, promise.before), last: max(known.last, promise.last))
    }

    // MARK: Relationships

    private static func composed(_ first: [ToManyChange], _ second: [ToManyChange]) -> [ToManyChange] {
        guard !first.isEmpty, !second.isEmpty else { return first + second }
        var all: [Int: ToManyChange] = [:]
        for change in first { all[change.relationship.index] = change }
        for change in second {
            let former = all[change.relationship.index]
            all[change.relationship.index] = former.map { composed($0, change) } ?? change
        }
        return all.values.filter { !$0.added.isEmpty || !$0.removed.isEmpty || $0.order != nil }
            .sorted { $0.relationship.index < $1.relationship.index }
    }

    private static func composed(_ first: ToManyChange, _ second: ToManyChange) -> ToManyChange {
        let (firstAdded, firstRemoved) = (Set(first.added), Set(first.removed))
        let (secondAdded, secondRemoved) = (Set(second.added), Set(second.removed))
        let added = firstAdded.subtracting(secondRemoved).union(secondAdded.subtracting(firstRemoved))
        let removed = firstRemoved.subtracting(secondAdded).union(secondRemoved.subtracting(firstAdded))
        return ToManyChange(
            relationship: first.relationship, added: added.sorted { $0.key < $1.key },
            removed: removed.sorted { $0.key < $1.key }, order: order(first, second, secondRemoved),
            pairs: first.pairs == second.pairs ? first.pairs : .eitherEnd)
    }

    /// Members that get no place in the second change come before the others, by their keys.
    private static func order(
        _ first: ToManyChange, _ second: ToManyChange, _ removed: Set<NSManagedObjectID>
    ) -> [NSManagedObjectID]? {
        if let order = second.order { return order }
        guard let order = first.order else { return nil }
        let new = Set(second.added)
        return second.added.sorted { $0.key < $1.key } + order.filter { !removed.contains($0) && !new.contains($0) }
    }

    // MARK: Questions

    /// Whether a row is new, changed or deleted, or was made and deleted.
    package mutating func contains(_ identifier: NSManagedObjectID) -> Bool {
        index()
        let key = RowKey(identifier)
        return places[key] != nil || gone.contains(key)
    }

    /// The change of a stored row that stays; nil for every other row.
    package mutating func update(of identifier: NSManagedObjectID) -> RowChange? {
        index()
        guard let place = places[RowKey(identifier)], let entry = rows[place], !entry.isNew else { return nil }
        return entry.change
    }

    /// The stored rows that several sets have changed: they may be as they were.
    package var repeatedUpdates: [RowChange] {
        rows.compactMap { $0.flatMap { !$0.isNew && $0.isRepeated ? $0.change : nil } }
    }

    /// Leaves out what does not change of a stored row after all.
    ///
    /// - Parameters:
    ///   - stored: the row as it is stored.
    ///   - lists: the members of a relationship of the row as they are stored.
    /// - Throws: what `lists` throws.
    package mutating func leaveOutUnchanged(
        _ stored: Row, lists: (RelationshipLayout) throws -> [NSManagedObjectID]
    ) rethrows {
        guard let place = places[RowKey(stored.objectID)], let change = rows[place]?.change else { return }
        let lists = try change.toManyChanges.filter { list in
            guard list.added.isEmpty, list.removed.isEmpty, let order = list.order else { return true }
            return try lists(list.relationship) != order
        }
        rows[place]?.change = RowChange(
            objectID: change.objectID, version: change.version, values: change.values,
            changedSlots: change.changedSlots.filter { change.values[$0] != stored.values[$0] }, toManyChanges: lists)
    }

    /// The new rows, in order.
    package var inserted: [NSManagedObjectID] { changeSet.inserted.map(\.objectID) }

    // MARK: The result

    /// All sets as one.
    package var changeSet: ChangeSet {
        if let only { return only }
        var set = ChangeSet()
        for entry in rows {
            guard let entry, entry.isNew || !entry.isUndone else { continue }
            let change = gone.isEmpty ? entry.change : withoutGone(entry.change)
            if entry.isNew { set.inserted.append(change) } else { set.updated.append(change) }
        }
        (set.deleted, set.promises, set.contextName, set.author) = (deletions, promises, contextName, author)
        return set
    }

    /// A change without the members that are deleted: a store forgets these with their rows.
    private func withoutGone(_ change: RowChange) -> RowChange {
        func isThere(_ identifier: NSManagedObjectID) -> Bool { !gone.contains(RowKey(identifier)) }
        let isWhole = change.toManyChanges.allSatisfy { list in
            list.added.allSatisfy(isThere) && list.order?.allSatisfy(isThere) ?? true
        }
        if isWhole { return change }
        return RowChange(
            objectID: change.objectID, version: change.version, values: change.values,
            changedSlots: change.changedSlots,
            toManyChanges: change.toManyChanges.map { list in
                ToManyChange(
                    relationship: list.relationship, added: list.added.filter(isThere), removed: list.removed,
                    order: list.order?.filter(isThere), pairs: list.pairs)
            })
    }

    /// Gives back the promised keys of rows that were made and deleted.
    package mutating func closeGaps() {
        guard !gone.isEmpty, !promises.isEmpty else { return }
        let former = inserted
        var next: [ObjectIdentifier: Int64] = [:]
        for promise in promises { next[ObjectIdentifier(promise.root)] = promise.before }
        let new = former.map { identifier -> NSManagedObjectID in
            let root = ObjectIdentifier(identifier.layout.root)
            guard let key = next[root], let store = identifier.storeIdentity else { return identifier }
            next[root] = key + 1
            return NSManagedObjectID(layout: identifier.layout, store: store, key: key + 1)
        }
        let kept = promises.compactMap { promise in
            next[ObjectIdentifier(promise.root)].flatMap { last in
                last > promise.before ? KeyPromise(root: promise.root, before: promise.before, last: last) : nil
            }
        }
        let isWhole = zip(kept, promises).allSatisfy { $0.last == $1.last } && kept.count == promises.count
        if isWhole { return }
        rename(new)
        only?.promises = kept
    }

    /// Gives new rows other IDs, wherever they are named, in place of promised ones.
    ///
    /// - Parameter new: the IDs, in the order of `inserted`.
    package mutating func rename(_ new: [NSManagedObjectID]) {
        var names: [RowKey: NSManagedObjectID] = [:]
        for (former, identifier) in zip(inserted, new) { names[RowKey(former)] = identifier }
        func renamed(_ identifier: NSManagedObjectID) -> NSManagedObjectID { names[RowKey(identifier)] ?? identifier }
        func renamed(_ change: RowChange) -> RowChange {
            RowChange(
                objectID: renamed(change.objectID), version: change.version,
                values: ContiguousArray(
                    change.values.map { value in
                        if case .identifier(let identifier) = value { .identifier(renamed(identifier)) } else { value }
                    }), changedSlots: change.changedSlots,
                toManyChanges: change.toManyChanges.map { list in
                    ToManyChange(
                        relationship: list.relationship, added: list.added.map(renamed),
                        removed: list.removed.map(renamed), order: list.order?.map(renamed), pairs: list.pairs)
                })
        }
        var set = changeSet
        set.inserted = set.inserted.map(renamed)
        set.updated = set.updated.map(renamed)
        set.promises = []
        self = ComposedChanges()
        only = set
    }
}
