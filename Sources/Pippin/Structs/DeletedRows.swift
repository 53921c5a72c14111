import StoreSession

/// Rows that are deleted with all that their delete rules take along, and what becomes of the rows that stay: the
/// outcome is that of deleting objects.
///
/// Where objects have a say (custom classes, validation), it throws `NeedsObjects`.
struct DeletedRows {
    /// The deleted rows: those that were given, and those that are deleted along with them.
    private(set) var deletions: [RowDeletion] = []
    private var identifiers: Set<NSManagedObjectID> = []
    /// By the row that leads to the deleted ones.
    private var links: [NSManagedObjectID: [Link]] = [:]
    /// The relationships of deleted rows that deny it, unless their ends are deleted, too.
    private var denials: [(row: Row, relationship: RelationshipLayout, ends: [NSManagedObjectID])] = []
    private let rows: StoreRows

    /// A deleted row at the end of a relationship of a row that stays, unless that is deleted, too.
    private struct Link {
        /// The relationship that leads to the deleted row.
        let relationship: RelationshipLayout
        let deleted: NSManagedObjectID
    }

    /// - Parameter rows: the store's rows, in the transaction's state.
    init(_ rows: StoreRows) { self.rows = rows }

    /// Whether a row is deleted.
    func contains(_ identifier: NSManagedObjectID) -> Bool { identifiers.contains(identifier) }

    /// Whether other changes of the block concern the deleted rows, or those that lead to them.
    func meets(_ unsaved: UnsavedChanges) -> Bool {
        identifiers.contains(where: unsaved.contains) || links.keys.contains(where: unsaved.contains)
    }

    /// Deletes rows.
    ///
    /// - Parameter new: the rows; those that are deleted already are left out.
    /// - Throws: `NeedsObjects`, and what reading throws.
    mutating func add(_ new: [NSManagedObjectID]) throws {
        var level = new.filter { identifiers.insert($0).inserted }
        while !level.isEmpty {
            var next: [NSManagedObjectID] = []
            for (_, group) in Dictionary(grouping: level, by: { ObjectIdentifier($0.layout) }) {
                next += try add(group, of: group[0].layout)
            }
            level = next
        }
    }

    /// Deletes rows that have been read already. Those of entities without relationships are not read again.
    ///
    /// - Parameter new: the rows; those that are deleted already are left out.
    /// - Returns: how many there are.
    /// - Throws: `NeedsObjects`, and what reading throws.
    mutating func add(_ new: [RowDeletion]) throws -> Int {
        var count = 0
        var others: [NSManagedObjectID] = []
        var checked: EntityLayout?
        for deletion in new {
            let layout = deletion.objectID.layout
            guard layout.relationships.isEmpty else {
                if !identifiers.contains(deletion.objectID) { others.append(deletion.objectID) }
                continue
            }
            guard identifiers.insert(deletion.objectID).inserted else { continue }
            count += 1
            if layout !== checked {
                try layout.checkIsPlain()
                checked = layout
            }
            deletions.append(deletion)
        }
        if !others.isEmpty { try add(others) }
        return count + others.count
    }

    /// Deletes rows of an entity.
    ///
    /// - Returns: the rows that are deleted along with them.
    private mutating func add(_ group: [NSManagedObjectID], of layout: EntityLayout) throws -> [NSManagedObjectID] {
        let found = try rows.rows(for: group)
        try layout.checkIsPlain()
        for row in found { deletions.append(RowDeletion(objectID: row.objectID, version: row.version)) }
        var next: [NSManagedObjectID] = []
        for relationship in layout.relationships {
            guard !relationship.isTransient else { throw NeedsObjects(entity: layout.name) }
            for (row, ends) in zip(found, try ends(of: relationship, for: found)) where !ends.isEmpty {
                switch relationship.deleteRule {
                case .cascadeDeleteRule: next += ends.filter { identifiers.insert($0).inserted }
                case .nullifyDeleteRule:
                    guard let inverse = relationship.inverse else { continue }
                    for end in ends {
                        links[end, default: []].append(Link(relationship: inverse, deleted: row.objectID))
                    }
                case .denyDeleteRule: denials.append((row, relationship, ends))
                case .noActionDeleteRule: continue
                }
            }
        }
        return next
    }

    private func ends(
        of relationship: RelationshipLayout, for found: ContiguousArray<Row>
    ) throws -> [[NSManagedObjectID]] {
        if relationship.isToMany {
            return try rows.destinations(of: relationship, for: found.map(\.objectID))
        }
        return found.map { row in
            guard case .identifier(let end) = row.values[relationship.slot] else { return [] }
            return [end]
        }
    }

    /// The changes of the rows that stay.
    ///
    /// - Parameter isKnown: whether the changes of a row are known otherwise, with those of `lists(of:)`.
    /// - Returns: the changes, in the order of the keys.
    /// - Throws: `NeedsObjects`, and what reading throws.
    func changes(except isKnown: (NSManagedObjectID) -> Bool = { _ in false }) throws -> [RowChange] {
        let places = links.keys.filter { !identifiers.contains($0) && !isKnown($0) }.sorted { $0.key < $1.key }
        guard !places.isEmpty else { return [] }
        let staying = try rows.rows(for: places)
        return try staying.map { try change(of: $0, links[$0.objectID] ?? []) }
    }

    /// The changes of the relationships to many of a row that stays.
    ///
    /// - Throws: `DirectSave.NotDirect` where a relationship to one leads to a deleted row.
    func lists(of row: NSManagedObjectID) throws -> [ToManyChange] {
        let links = links[row] ?? []
        guard links.allSatisfy(\.relationship.isToMany) else { throw DirectSave.NotDirect() }
        return Self.lists(links)
    }

    private static func lists(_ links: [Link]) -> [ToManyChange] {
        var lists: [Int: (relationship: RelationshipLayout, removed: [NSManagedObjectID])] = [:]
        for link in links where link.relationship.isToMany {
            lists[link.relationship.index, default: (link.relationship, [])].removed.append(link.deleted)
        }
        return lists.values.sorted { $0.relationship.index < $1.relationship.index }.map { list in
            ToManyChange(
                relationship: list.relationship, added: [], removed: list.removed.sorted { $0.key < $1.key },
                order: nil, pairs: .otherEnd)
        }
    }

    private func change(of row: Row, _ links: [Link]) throws -> RowChange {
        try row.objectID.layout.checkIsPlain()
        var values = row.values
        var slots: Set<Int> = []
        for link in links where !link.relationship.isToMany {
            guard case .identifier(link.deleted) = values[link.relationship.slot] else { continue }
            values[link.relationship.slot] = .null
            slots.insert(link.relationship.slot)
        }
        return RowChange(
            objectID: row.objectID, version: row.version, values: values, changedSlots: slots.sorted(),
            toManyChanges: Self.lists(links))
    }

    /// What is written.
    ///
    /// - Returns: the change set; nil for nothing.
    /// - Throws: `NeedsObjects`, ``PersistenceError/Code/invalid`` for a rule that denies a deletion, and what reading
    ///   throws.
    func changeSet() throws -> ChangeSet? {
        guard !deletions.isEmpty else { return nil }
        for (row, relationship, ends) in denials {
            let staying = ends.filter { !identifiers.contains($0) }
            if !staying.isEmpty { throw PersistenceError.denied(row.objectID.layout, relationship, staying.count) }
        }
        var changes = ChangeSet()
        changes.deleted = deletions
        changes.updated = try self.changes()
        return changes
    }
}
