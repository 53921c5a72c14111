import CoreDataModel
import SQLiteConnection
import StoreEngine

extension OpenStore {
    /// Uses the indexes whose tables exist, and writes them with each transaction from now on.
    ///
    /// - Parameters:
    ///   - isWritable: whether the store may be written.
    ///   - metadata: the metadata in the file.
    func followSearchIndexes(isWritable: Bool, _ metadata: [String: Any]) {
        searchIndexes = SearchIndex.indexes(of: schema, metadata).filter { (try? $0.exists(connection)) == true }
        guard isWritable else { return }
        let indexes = searchIndexes
        connection.collectChanges(of: indexes.flatMap(\.tables)) { [weak connection] keys in
            guard let connection else { return }
            var rest = keys[...]
            for index in indexes {
                index.write(rest.prefix(index.tables.count), connection)
                rest = rest.dropFirst(index.tables.count)
            }
        }
    }

    func searchIndex(of entity: EntityLayout) -> SearchIndex? {
        searchIndexes.first { $0.fields.entity === entity }
    }

    /// Whether the index of an entity was found to be up to date, and has been since.
    func hasCurrentSearchIndex(of entity: EntityLayout) throws -> Bool {
        guard let known = searchedChanges[entity.name] else { return false }
        return try run("search in") { try changeCount() == known }
    }

    /// Writes the words of all rows whose present versions the index of an entity does not have.
    func catchUpSearch(of entity: EntityLayout) throws {
        guard let index = searchIndex(of: entity) else { return }
        try run("write the search index of") {
            try transaction { try index.catchUp(connection) }
            searchedChanges[entity.name] = try changeCount()
        }
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

extension StoreFile {
    /// Has full-text indexes made anew at the next opening: a migration may change texts without giving rows another
    /// version.
    package func forgetSearchIndexes() throws {
        let isThere = try connection.integer(
            "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'PIPPIN_SEARCH'")
        if isThere == 1 { try connection.execute("DELETE FROM PIPPIN_SEARCH") }
    }
}
