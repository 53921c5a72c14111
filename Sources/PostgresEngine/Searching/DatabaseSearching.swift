import CoreDataModel
import PostgresConnection
import SQLGeneration
import StoreEngine

/// The indexes of an open store, and what is known of them.
struct DatabaseSearches {
    var indexes: [SearchIndex] = []
    /// The number of saves at which an index was found to be up to date: of all saves, or of others' alone where this
    /// program's saves write the index.
    var current: [Int32: Int64] = [:]

    func index(of entity: EntityLayout) -> SearchIndex? { indexes.first { $0.fields.entity === entity } }

    /// The indexes that this program's saves write, whose words rows in the same table as an entity's have.
    func written(by entity: EntityLayout) -> [SearchIndex] {
        indexes.filter { index in
            index.mayWrite
                && ([index.fields.entity] + index.relations.map(\.destination)).contains { $0.root === entity.root }
        }
    }
}

/// The rows whose words a batch changes, by the indexes' numbers.
struct SearchBatch {
    /// Rows that are new, changed or deleted.
    private(set) var changed: [Int32: Set<Int64>] = [:]
    /// Rows whose texts stay as they are.
    private(set) var kept: [Int32: Set<Int64>] = [:]
    /// The same of related rows, by the places of their relationships.
    private(set) var changedRelated: [Int32: [Int: Set<Int64>]] = [:]
    private(set) var keptRelated: [Int32: [Int: Set<Int64>]] = [:]

    var isEmpty: Bool { changed.isEmpty && kept.isEmpty && changedRelated.isEmpty && keptRelated.isEmpty }

    /// - Parameters:
    ///   - identifiers: the rows.
    ///   - slots: what changes of them; nil for rows that are new or deleted.
    ///   - indexes: the indexes to write.
    mutating func add(_ identifiers: [NSManagedObjectID], changing slots: [Int]?, _ indexes: [SearchIndex]) {
        for index in indexes {
            for identifier in identifiers {
                let layout = identifier.layout
                if layout.isKind(of: index.fields.entity) {
                    if slots.map({ index.keepsTexts(layout, changing: $0) }) ?? false {
                        kept[index.number, default: []].insert(identifier.key)
                    } else {
                        changed[index.number, default: []].insert(identifier.key)
                    }
                }
                for relation in index.relations where layout.isKind(of: relation.destination) {
                    if slots.map({ relation.keepsTexts(layout, changing: $0, index.fields) }) ?? false {
                        keptRelated[index.number, default: [:]][relation.place, default: []].insert(identifier.key)
                    } else {
                        changedRelated[index.number, default: [:]][relation.place, default: []].insert(identifier.key)
                    }
                }
            }
        }
    }

    /// Adds the rows of a change set.
    mutating func add(_ changes: ChangeSet, _ indexes: [SearchIndex]) {
        guard !indexes.isEmpty else { return }
        add(changes.inserted.map(\.objectID) + changes.deleted.map(\.objectID), changing: nil, indexes)
        for change in changes.updated { add([change.objectID], changing: change.changedSlots, indexes) }
        for change in [changes.inserted, changes.updated].joined() where !change.toManyChanges.isEmpty {
            for index in indexes {
                for relation in index.relations { add(change, relation, index) }
            }
        }
    }

    /// Adds the owners that a change of a to-many relationship gives other rows.
    private mutating func add(_ change: RowChange, _ relation: RelatedRows, _ index: SearchIndex) {
        let (identifier, entity) = (change.objectID, index.fields.entity)
        for list in change.toManyChanges {
            if list.relationship.name == relation.relationship.name, identifier.layout.isKind(of: entity) {
                changed[index.number, default: []].insert(identifier.key)
            } else if list.relationship.name == relation.relationship.inverse?.name,
                identifier.layout.isKind(of: relation.destination)
            {
                changed[index.number, default: []].formUnion((list.added + list.removed).map(\.key))
            }
        }
    }
}

extension OpenDatabase {
    /// The statements that follow a change set in the indexes.
    func searchRequests(of changes: ChangeSet) -> [PostgresConnection.Request] {
        searches.indexes.filter { $0.mayWrite && $0.relations.isEmpty }.flatMap { $0.following(changes) }
    }

    /// The rows of a change set whose words are written after them, since other rows' texts belong to these.
    func relatedSearches(of changes: ChangeSet) -> SearchBatch {
        var batch = SearchBatch()
        batch.add(changes, searches.indexes.filter { $0.mayWrite && !$0.relations.isEmpty })
        return batch
    }

    /// After a failed statement of an index: does without indexes until the store is opened again, if trying once more
    /// would fail, too.
    ///
    /// - Parameters:
    ///   - error: why the statement failed.
    ///   - isOfIndex: whether it is certainly one of an index, also where it reads the store's tables.
    /// - Returns: whether the work can be done again without.
    func givesUpSearching(after error: PostgresError, isOfIndex: Bool = false) -> Bool {
        guard !searches.indexes.isEmpty, SearchIndex.isCause(of: error, isOfIndex: isOfIndex), connection.isUsable
        else { return false }
        searches.indexes = []
        return true
    }

    /// Writes the words of rows that a batch has changed. If that fails, the changes stay, and the index is made anew
    /// later.
    func finishSearches(_ batch: SearchBatch) throws {
        for index in searches.indexes where index.mayWrite {
            let (changed, kept) = (batch.changed[index.number] ?? [], batch.kept[index.number] ?? [])
            let (related, keptRelated) = (
                batch.changedRelated[index.number] ?? [:], batch.keptRelated[index.number] ?? [:]
            )
            guard !changed.isEmpty || !kept.isEmpty || !related.isEmpty || !keptRelated.isEmpty else { continue }
            do {
                try connection.part {
                    var owners = changed
                    for relation in index.relations {
                        let keys = related[relation.place] ?? []
                        owners.formUnion(try index.owners(ofChanged: keys.sorted(), of: relation, connection))
                        let noted = keys.union(keptRelated[relation.place] ?? [])
                        guard !noted.isEmpty else { continue }
                        _ = try connection.pipeline(relation.notingVersions(Array(noted), index.number))
                    }
                    try index.rewrite(Array(owners), connection)
                    let rest = kept.subtracting(owners)
                    if !rest.isEmpty { _ = try connection.pipeline([index.keeping(Array(rest))]) }
                }
            } catch let error as PostgresError where givesUpSearching(after: error, isOfIndex: true) { return }
        }
    }
}
