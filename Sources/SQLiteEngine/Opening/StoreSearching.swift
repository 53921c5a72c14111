import CoreDataModel
import SQLiteConnection
import StoreEngine

extension OpenStore {
    /// Uses the indexes whose tables exist, and writes them with each transaction from now on.
    func followSearchIndexes(isWritable: Bool) {
        searchIndexes = SearchIndex.indexes(of: schema).filter { (try? $0.exists(connection)) == true }
        guard isWritable else { return }
        let indexes = searchIndexes
        connection.collectChanges(of: indexes.map(\.table)) { [weak connection] keys in
            guard let connection else { return }
            for (index, keys) in zip(indexes, keys) { index.write(keys, connection) }
        }
    }

    func searchIndex(of entity: EntityLayout) -> SearchIndex? {
        searchIndexes.first { $0.fields.entity === entity }
    }

    /// The rows that an expression finds.
    ///
    /// - Returns: nil without an index, and for one that cannot be read or is not up to date.
    func search(_ expression: String, _ entity: EntityLayout, limit: Int?) throws -> [SearchMatch]? {
        guard let index = searchIndex(of: entity) else { return nil }
        return try run("search in") {
            connection.finishCollectedChanges()
            let changes = try changeCount()
            // What this connection commits is in the index.
            if searchedChanges[entity.name] != changes || connection.mode.onlyReads {
                guard try index.isCurrent(connection) else { return nil }
                searchedChanges[entity.name] = changes
            }
            do { return try index.search(expression, limit: limit, connection) } catch let error as SQLiteError
                where error.isCorrupt || error.isInStatement
            { return nil }
        }
    }
}
