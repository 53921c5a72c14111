import CoreDataModel
import SearchText
import SQLiteConnection
import StoreEngine

extension SQLiteEngine: SQLReadingEngine {
    package func read(
        _ sql: WrittenSQL, columns: ([String]) throws -> Void, row: (ContiguousArray<StoredValue>) throws -> Bool
    ) throws { try reading { try $0.read(sql, columns: columns, row: row) } }
}

extension SQLiteEngine: SearchingEngine {
    package func search(_ query: SearchQuery, in fields: SearchedFields, limit: Int?) throws -> [SearchMatch]? {
        guard let expression = query.fts5Expression else { return [] }
        let entity = fields.entity
        if let found = try reading({ try $0.search(expression, entity, limit: limit) }) { return found }
        // What is read is the present state, which the index can be brought to.
        guard !facts.isReadOnly, readGeneration == nil, let store = opened, store.searchIndex(of: entity) != nil,
            !store.connection.isInTransaction
        else { return nil }
        do {
            try writingMuch { store in
                try store.run("write the search index of") {
                    try store.transaction { try store.searchIndex(of: entity)?.catchUp(store.connection) }
                }
            }
        } catch {
            // Others hold the lock, or the disk is full: the texts are compared instead.
            return nil
        }
        return try reading { try $0.search(expression, entity, limit: limit) }
    }
}
