import CoreDataModel
import PredicateFormat
import SQLiteConnection
import StoreEngine

extension SQLiteEngine: SQLReadingEngine {
    package func read(
        _ sql: WrittenSQL, columns: ([String]) throws -> Void, row: (any CurrentRow) throws -> Bool
    ) throws { try reading { try $0.read(sql, columns: columns, row: row) } }
}

extension SQLiteEngine: SearchingEngine {
    package func search(_ query: SearchQuery, in fields: SearchedFields, limit: Int?) throws -> [SearchMatch]? {
        guard let expression = query.fts5Expression else { return [] }
        let entity = fields.entity
        if let found = try reading({ try $0.search(expression, entity, limit: limit) }) { return found }
        guard !facts.isReadOnly, let store = opened, store.searchIndex(of: entity) != nil,
            !store.connection.isInTransaction
        else { return nil }
        // Others hold the lock, or the disk is full: the texts are compared instead.
        do {
            guard readGeneration == nil else {
                // The index is brought to the present state, so that states that are read later have it.
                if try !store.hasCurrentSearchIndex(of: entity) {
                    try store.connection.withoutWaiting {
                        try writingMuch { try $0.catchUpSearch(of: entity) }
                    }
                }
                return nil
            }
            try writingMuch { try $0.catchUpSearch(of: entity) }
        } catch { return nil }
        return try reading { try $0.search(expression, entity, limit: limit) }
    }
}
