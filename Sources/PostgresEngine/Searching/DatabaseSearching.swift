import CoreDataModel
import PostgresConnection
import StoreEngine

/// The indexes of an open store, and what is known of them.
struct DatabaseSearches {
    var indexes: [SearchIndex] = []
    /// The number of saves at which an index was found to be up to date: of all saves, or of others' alone where this
    /// program's saves write the index.
    var current: [Int32: Int64] = [:]

    func index(of entity: EntityLayout) -> SearchIndex? { indexes.first { $0.fields.entity === entity } }

    /// The indexes that this program's saves write, of entities whose rows are in the same table as an entity's.
    func written(by entity: EntityLayout) -> [SearchIndex] {
        indexes.filter { $0.mayWrite && $0.fields.entity.root === entity.root }
    }
}

/// The rows whose words a batch changes, by the indexes' numbers.
struct SearchBatch {
    /// Rows that are new, changed or deleted.
    var changed: [Int32: Set<Int64>] = [:]
    /// Rows whose texts stay as they are.
    var kept: [Int32: Set<Int64>] = [:]

    mutating func add(
        _ identifiers: [NSManagedObjectID], changing slots: [Int]?, _ searches: DatabaseSearches
    ) {
        for index in searches.indexes where index.mayWrite {
            for identifier in identifiers where identifier.layout.isKind(of: index.fields.entity) {
                let layout = identifier.layout
                let keepsTexts =
                    slots.map { slots in
                        !index.fields.fields.contains { field in
                            layout.slotIndex(forName: field.path[0]).map(slots.contains) ?? false
                        }
                    } ?? false
                if keepsTexts {
                    kept[index.number, default: []].insert(identifier.key)
                } else {
                    changed[index.number, default: []].insert(identifier.key)
                }
            }
        }
    }
}

extension OpenDatabase {
    /// The statements that follow a change set in the indexes.
    func searchRequests(of changes: ChangeSet) -> [PostgresConnection.Request] {
        searches.indexes.filter(\.mayWrite).flatMap { $0.following(changes) }
    }

    /// After a failed statement of an index: does without indexes until the store is opened again, if trying once more
    /// would fail, too.
    ///
    /// - Returns: whether the work can be done again without.
    func givesUpSearching(after error: PostgresError) -> Bool {
        guard !searches.indexes.isEmpty, SearchIndex.isCause(of: error), connection.isUsable else { return false }
        searches.indexes = []
        return true
    }

    /// Writes the words of rows that a batch has changed. If that fails, the changes stay, and the index is made anew
    /// later.
    func finishSearches(_ batch: SearchBatch) throws {
        for index in searches.indexes where index.mayWrite {
            let changed = batch.changed[index.number] ?? []
            let kept = (batch.kept[index.number] ?? []).subtracting(changed)
            guard !changed.isEmpty || !kept.isEmpty else { continue }
            do {
                try connection.part {
                    try index.rewrite(Array(changed), connection)
                    if !kept.isEmpty { _ = try connection.pipeline([index.keeping(Array(kept))]) }
                }
            } catch let error as PostgresError where givesUpSearching(after: error) { return }
        }
    }
}
