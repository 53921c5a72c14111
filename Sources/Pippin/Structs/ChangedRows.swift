import StoreSession

/// The rows that a save changes, with their relationships: a change of one end changes the other one, and a deletion
/// follows the delete rules, as with objects of a context. What is read is of the transaction's state.
///
/// Where objects have a say (custom classes, validation), it throws `NeedsObjects`.
final class ChangedRows {
    let rows: any ChangeableRows
    // Only one thread at a time uses this, so checking its accesses for overlaps would find nothing.
    @exclusivity(unchecked) private(set) var entries: [Entry] = []
    @exclusivity(unchecked) private var numbers: [NSManagedObjectID: Int] = [:]
    /// The deleted rows whose delete rules were not followed yet.
    @exclusivity(unchecked) private var leaving: [Int] = []
    /// The relationships of deleted rows that deny it, unless their ends are deleted, too.
    @exclusivity(unchecked) private var denials: [(number: Int, relationship: RelationshipLayout)] = []

    /// A row that is known, by its number.
    struct Entry {
        let layout: EntityLayout
        /// Nil for a new row, until it gets one.
        fileprivate(set) var identifier: NSManagedObjectID?
        let isNew: Bool
        /// The row as it is stored; nil for a new one, and for one that only others lead to so far.
        fileprivate(set) var row: Row?
        fileprivate(set) var values: ContiguousArray<StoredValue>
        /// The ends of relationships to one that were set, by slot.
        fileprivate var ends: [Int: Int?] = [:]
        fileprivate var lists: [Int: List] = [:]
        fileprivate(set) var isDeleted = false
    }

    /// The members of a relationship to many.
    fileprivate struct List {
        let isOrdered: Bool
        /// As they are stored, if they were read.
        var stored: [Int]?
        var members: [Int] = []
        var added: [Int] = []
        var removed: Set<Int> = []

        var isChanged: Bool {
            !added.isEmpty || !removed.isEmpty || isOrdered && stored.map { $0 != members } ?? false
        }
    }

    init(_ rows: any ChangeableRows) { self.rows = rows }

    // MARK: Reading

    /// The number of a row that was read.
    func note(_ row: Row) -> Int {
        let number = number(of: row.objectID)
        // A new object of a context may be read, too, and does not have its values yet.
        if entries[number].row == nil, !entries[number].isNew {
            entries[number].row = row
            entries[number].values = row.values
        }
        return number
    }

    /// The number of a row.
    func number(of identifier: NSManagedObjectID) -> Int {
        if let known = numbers[identifier] { return known }
        entries.append(Entry(layout: identifier.layout, identifier: identifier, isNew: false, values: []))
        numbers[identifier] = entries.count - 1
        return entries.count - 1
    }

    /// A new row, with its entity's default values.
    func insert(_ layout: EntityLayout) throws -> Int {
        let row = try rows.newRow(layout)
        entries.append(
            Entry(
                layout: layout, identifier: row?.objectID, isNew: true, values: row?.values ?? layout.defaultValues))
        if let row { numbers[row.objectID] = entries.count - 1 }
        return entries.count - 1
    }

    /// Reads rows that are known by their IDs only.
    private func load(_ wanted: [Int]) throws {
        let missing = wanted.filter { !entries[$0].isNew && entries[$0].row == nil }
        guard !missing.isEmpty else { return }
        let found = try rows.rows(for: missing.compactMap { entries[$0].identifier })
        for row in found { _ = note(row) }
        if let gone = missing.first(where: { entries[$0].row == nil }) {
            throw PersistenceError.missingRow(entity: entries[gone].layout.name)
        }
    }

    /// Reads the members of a relationship of rows.
    func load(_ relationship: RelationshipLayout, of wanted: [Int]) throws {
        guard relationship.isToMany else { return try load(wanted) }
        let missing = wanted.filter { !entries[$0].isNew && entries[$0].lists[relationship.index]?.stored == nil }
        guard !missing.isEmpty else { return }
        let found = try rows.destinations(of: relationship, for: missing.compactMap { entries[$0].identifier })
        for (place, ends) in zip(missing, found) {
            let stored = ends.map(number(of:))
            var list = entries[place].lists[relationship.index] ?? List(isOrdered: relationship.isOrdered)
            list.stored = stored
            list.members = stored.filter { !list.removed.contains($0) } + list.added
            entries[place].lists[relationship.index] = list
        }
    }

    /// The rows that a relationship of a row leads to, in order.
    func ends(of relationship: RelationshipLayout, at number: Int) throws -> [Int] {
        if relationship.isToMany {
            try load(relationship, of: [number])
            return entries[number].lists[relationship.index]?.members ?? []
        }
        return try end(of: relationship, at: number).map { [$0] } ?? []
    }

    private func end(of relationship: RelationshipLayout, at number: Int) throws -> Int? {
        if let set = entries[number].ends[relationship.slot] { return set }
        if entries[number].isNew { return nil }
        try load([number])
        guard case .identifier(let identifier) = entries[number].values[relationship.slot] else { return nil }
        return self.number(of: identifier)
    }

    /// Whether a row differs from the stored one.
    func isChanged(_ number: Int) -> Bool {
        entries[number].isNew || !changedSlots(number).isEmpty
            || entries[number].lists.values.contains(where: \.isChanged)
    }

    /// Whether properties of a stored model change.
    func hasOwnChanges(_ number: Int, _ plan: EntityPlan) -> Bool {
        let entry = entries[number]
        return !changedSlots(number).isEmpty
            || entry.layout.toManys.contains { relationship in
                entry.lists[relationship.index]?.isChanged ?? false && plan.field(named: relationship.name) != nil
            }
    }

    // MARK: Changing

    /// Sets a value. The row was read, or is new.
    func set(_ value: StoredValue, at slot: Int, of number: Int) { entries[number].values[slot] = value }

    /// Sets the ends of a relationship.
    func connect(_ relationship: RelationshipLayout, of number: Int, to targets: [Int]) throws {
        guard relationship.isToMany else { return try connect(relationship, of: number, to: targets.first) }
        let former = try ends(of: relationship, at: number)
        let (present, wanted) = (Set(former), Set(targets))
        let staying = former.filter(wanted.contains)
        if staying.count < former.count { change(relationship, of: number) { $0.members = staying } }
        for end in former where !wanted.contains(end) {
            remove(end, from: relationship, of: number, leavingMembers: true)
            if let inverse = relationship.inverse { try disconnect(inverse, of: end, from: number) }
        }
        for end in targets where !present.contains(end) {
            add(end, to: relationship, of: number)
            if let inverse = relationship.inverse { try join(inverse, of: end, to: number) }
        }
        if relationship.isOrdered { change(relationship, of: number) { $0.members = targets } }
    }

    private func connect(_ relationship: RelationshipLayout, of number: Int, to target: Int?) throws {
        let former = try end(of: relationship, at: number)
        guard former != target else { return }
        entries[number].ends[relationship.slot] = .some(target)
        guard let inverse = relationship.inverse else { return }
        if let former { try disconnect(inverse, of: former, from: number) }
        if let target { try join(inverse, of: target, to: number) }
    }

    /// Takes a row off a relationship, whose other end has changed already.
    private func disconnect(_ relationship: RelationshipLayout, of number: Int, from other: Int) throws {
        if relationship.isToMany { return remove(other, from: relationship, of: number) }
        if try end(of: relationship, at: number) == other { entries[number].ends[relationship.slot] = .some(nil) }
    }

    /// Adds a row to a relationship, whose other end has changed already.
    private func join(_ relationship: RelationshipLayout, of number: Int, to other: Int) throws {
        if relationship.isToMany { return add(other, to: relationship, of: number) }
        let former = try end(of: relationship, at: number)
        guard former != other else { return }
        entries[number].ends[relationship.slot] = .some(other)
        if let former, let inverse = relationship.inverse { try disconnect(inverse, of: former, from: number) }
    }

    private func remove(
        _ member: Int, from relationship: RelationshipLayout, of number: Int, leavingMembers: Bool = false
    ) {
        change(relationship, of: number) { list in
            if !leavingMembers { list.members.removeAll { $0 == member } }
            if let place = list.added.firstIndex(of: member) {
                list.added.remove(at: place)
            } else {
                list.removed.insert(member)
            }
        }
    }

    private func add(_ member: Int, to relationship: RelationshipLayout, of number: Int) {
        change(relationship, of: number) { list in
            if list.removed.remove(member) == nil { list.added.append(member) }
            list.members.append(member)
        }
    }

    /// Changes a list in its place, without copying its members.
    private func change(_ relationship: RelationshipLayout, of number: Int, _ body: (inout List) -> Void) {
        let empty = List(isOrdered: relationship.isOrdered, stored: entries[number].isNew ? [] : nil)
        body(&entries[number].lists[relationship.index, default: empty])
    }

    /// Deletes a row, unless it is deleted already.
    func delete(_ number: Int) {
        guard !entries[number].isDeleted else { return }
        entries[number].isDeleted = true
        leaving.append(number)
    }

    /// Follows the delete rules of what was deleted, level by level.
    private func followDeleteRules() throws {
        defer { denials = [] }
        guard rows.followsDeleteRules else { return leaving = [] }
        while !leaving.isEmpty {
            let level = leaving
            leaving = []
            for (_, group) in Dictionary(grouping: level, by: { ObjectIdentifier(entries[$0].layout) }) {
                try load(group)
                for relationship in entries[group[0]].layout.relationships { try load(relationship, of: group) }
            }
            for number in level {
                for relationship in entries[number].layout.relationships {
                    try follow(relationship, of: number)
                }
            }
        }
        for (number, relationship) in denials {
            let count = try ends(of: relationship, at: number).count { !entries[$0].isDeleted }
            if count > 0 { throw PersistenceError.denied(entries[number].layout, relationship, count) }
        }
    }

    private func follow(_ relationship: RelationshipLayout, of number: Int) throws {
        let ends = try ends(of: relationship, at: number).filter { !entries[$0].isDeleted }
        switch relationship.deleteRule {
        case .cascadeDeleteRule: for end in ends { delete(end) }
        case .nullifyDeleteRule:
            guard let inverse = relationship.inverse else { return }
            for end in ends { try disconnect(inverse, of: end, from: number) }
        case .denyDeleteRule: if !ends.isEmpty { denials.append((number, relationship)) }
        case .noActionDeleteRule: return
        }
    }

    // MARK: Changes that were made before

    /// Takes changes as they would be saved.
    func take(_ set: ChangeSet) throws {
        for change in set.inserted {
            let number = try insert(change.objectID.layout)
            numbers[change.objectID] = number
            entries[number].values = change.values
        }
        for row in try rows.rows(for: set.updated.map(\.objectID) + set.deleted.map(\.objectID)) { _ = note(row) }
        for change in set.updated {
            let number = self.number(of: change.objectID)
            for slot in change.changedSlots where entries[number].layout.slots[slot].attribute != nil {
                entries[number].values[slot] = change.values[slot]
            }
        }
        for change in set.inserted + set.updated {
            let number = self.number(of: change.objectID)
            for relationship in entries[number].layout.toOnes
            where entries[number].isNew || change.changedSlots.contains(relationship.slot) {
                try connect(relationship, of: number, to: end(change.values[relationship.slot]).map(self.number(of:)))
            }
        }
        for change in set.inserted + set.updated { for list in change.toManyChanges { try take(list, of: change) } }
        for deletion in set.deleted { delete(self.number(of: deletion.objectID)) }
    }

    private func take(_ list: ToManyChange, of change: RowChange) throws {
        let number = self.number(of: change.objectID)
        var members = list.order.map { $0.map(self.number(of:)) }
        if members == nil {
            let removed = Set(list.removed.map(self.number(of:)))
            let present = try ends(of: list.relationship, at: number).filter { !removed.contains($0) }
            let known = Set(present)
            members = present + list.added.map(self.number(of:)).filter { !known.contains($0) }
        }
        try connect(list.relationship, of: number, to: members ?? [])
    }

    private func end(_ value: StoredValue) -> NSManagedObjectID? {
        if case .identifier(let identifier) = value { identifier } else { nil }
    }

    /// Gives a stored row the values and relationships that are stored.
    func restore(_ number: Int) throws {
        guard let row = entries[number].row else { return }
        let former = entries[number].values
        for slot in former.indices where entries[number].layout.slots[slot].attribute != nil {
            entries[number].values[slot] = row.values[slot]
        }
        for relationship in entries[number].layout.relationships where !relationship.isTransient {
            guard relationship.isToMany else {
                try connect(relationship, of: number, to: end(row.values[relationship.slot]).map(self.number(of:)))
                continue
            }
            guard let list = entries[number].lists[relationship.index], list.isChanged else { continue }
            try load(relationship, of: [number])
            try connect(relationship, of: number, to: entries[number].lists[relationship.index]?.stored ?? [])
        }
    }

    // MARK: Writing

    /// What has changed.
    ///
    /// - Parameter unsaved: what the block has changed before, which gives new rows their keys; nil for rows that have
    ///   them.
    /// - Returns: the change set; nil for none.
    /// - Throws: `NeedsObjects`, and what reading throws.
    func changeSet(_ unsaved: UnsavedChanges?) throws -> ChangeSet? {
        try followDeleteRules()
        let all = entries.indices
        let new = all.filter { entries[$0].isNew && !entries[$0].isDeleted }
        let deleted = all.filter { !entries[$0].isNew && entries[$0].isDeleted }
        let listed = all.filter { !entries[$0].isDeleted && entries[$0].lists.values.contains(where: \.isChanged) }
        try load(deleted + listed + all.filter { !entries[$0].ends.isEmpty })
        for number in listed {
            // The order of a relationship to which others were added must be known.
            for relationship in entries[number].layout.toManys where relationship.isOrdered {
                guard entries[number].lists[relationship.index]?.added.isEmpty == false else { continue }
                try load(relationship, of: [number])
            }
        }
        let known = all.filter { !entries[$0].isNew && !entries[$0].isDeleted && isChanged($0) }
        guard !new.isEmpty || !known.isEmpty || !deleted.isEmpty else { return nil }
        var changes = ChangeSet()
        if let made = try unsaved?.makeIdentifiers(for: new.map { entries[$0].layout }) {
            for (number, identifier) in zip(new, made.identifiers) { entries[number].identifier = identifier }
            changes.promises = made.promises
        }
        changes.inserted = try new.map { try change(of: $0, []) }
        changes.updated = try known.map { try change(of: $0, changedSlots($0)) }
        changes.deleted = deleted.compactMap { number in
            entries[number].row.map { RowDeletion(objectID: $0.objectID, version: $0.version) }
        }
        return changes
    }

    private func change(of number: Int, _ slots: [Int]) throws -> RowChange {
        let entry = entries[number]
        try rows.check(entry.layout)
        guard let identifier = entry.identifier else { throw PersistenceError.missingRow(entity: entry.layout.name) }
        var values = entry.values
        for (slot, end) in entry.ends {
            values[slot] = end.flatMap { entries[$0].identifier }.map(StoredValue.identifier) ?? .null
        }
        var lists: [ToManyChange] = []
        for relationship in entry.layout.toManys {
            guard let list = entry.lists[relationship.index], list.isChanged else { continue }
            lists.append(
                ToManyChange(
                    relationship: relationship, added: identifiers(list.added).sorted { $0.key < $1.key },
                    removed: identifiers(list.removed).sorted { $0.key < $1.key },
                    order: relationship.isOrdered && list.stored != nil ? identifiers(list.members) : nil))
        }
        return RowChange(
            objectID: identifier, version: entry.row?.version ?? 0, values: values, changedSlots: slots,
            toManyChanges: lists)
    }

    private func identifiers(_ numbers: some Sequence<Int>) -> [NSManagedObjectID] {
        numbers.compactMap { entries[$0].identifier }
    }

    private func changedSlots(_ number: Int) -> [Int] {
        guard let row = entries[number].row else { return [] }
        var slots: [Int] = []
        for slot in row.values.indices where entries[number].layout.slots[slot].attribute != nil {
            if entries[number].values[slot] != row.values[slot] { slots.append(slot) }
        }
        for (slot, end) in entries[number].ends {
            var former: NSManagedObjectID?
            if case .identifier(let identifier) = row.values[slot] { former = identifier }
            let isSame = end.map { entries[$0].identifier.map { $0 == former } ?? false } ?? (former == nil)
            if !isSame { slots.append(slot) }
        }
        return slots.sorted()
    }
}
