import StoreSession

/// The rows that a save wrote, as far as interests need them. They are collected once per save, for all interests.
struct WrittenRows {
    /// The entities that it touched.
    let entities: Set<String>
    /// The only entity; nil for several.
    let entity: String?
    /// The rows that are new or changed; nil if they are unknown, or so many that reading again costs less than
    /// checking each.
    let rows: ContiguousArray<Row>?
    /// The entities of deleted rows.
    let deleted: Set<String>

    struct Row {
        let layout: EntityLayout
        let identity: ObjectIdentifier
        let key: Int64
        /// By slot.
        let values: ContiguousArray<StoredValue>
        let changedSlots: [Int]
        /// The relationships to many that changed.
        let changedLists: [ToManyChange]
        let isNew: Bool
    }

    private static let manyRows = 64

    /// - Parameters:
    ///   - entities: the entities that the save touched.
    ///   - changes: what it wrote; nil where that is not known.
    init(_ entities: Set<String>, _ changes: ChangeSet?) {
        self.entities = entities
        entity = entities.count == 1 ? entities.first : nil
        guard let changes, changes.inserted.count + changes.updated.count <= Self.manyRows else {
            (rows, deleted) = (nil, [])
            return
        }
        var rows = ContiguousArray<Row>()
        rows.reserveCapacity(changes.inserted.count + changes.updated.count)
        for change in changes.inserted { rows.append(Row(change, isNew: true)) }
        for change in changes.updated { rows.append(Row(change, isNew: false)) }
        self.rows = rows
        deleted = changes.deleted.isEmpty ? [] : Set(changes.deleted.map(\.objectID.layout.name))
    }
}

extension WrittenRows.Row {
    fileprivate init(_ change: RowChange, isNew: Bool) {
        layout = change.objectID.layout
        identity = ObjectIdentifier(layout)
        key = change.objectID.key
        values = change.values
        changedSlots = change.changedSlots
        changedLists = change.toManyChanges
        self.isNew = isNew
    }
}
