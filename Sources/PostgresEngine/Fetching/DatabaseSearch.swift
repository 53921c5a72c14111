import CoreDataModel
import PostgresConnection
import PredicateFormat
import StoreEngine

extension PostgresEngine: SearchingEngine {
    package func search(_ query: SearchQuery, in fields: SearchedFields, limit: Int?) throws -> [SearchMatch]? {
        guard !query.isEmpty else { return [] }
        let entity = fields.entity
        if let found = try reading({ try $0.search(query, entity, limit: limit) }) { return found }
        guard !facts.isReadOnly, let opened, opened.mayCatchUp(entity) else { return nil }
        // The index is brought to the present state; a former one that is read profits from it as soon as it is read
        // anew. Others hold the lock, or the role has lost its rights: the texts are compared instead.
        do { try following { try $0.catchUpSearch(of: entity) } } catch { return nil }
        guard readGeneration == nil else { return nil }
        return try reading { try $0.search(query, entity, limit: limit) }
    }
}

extension OpenDatabase {
    /// The rows that a query finds.
    ///
    /// - Returns: nil without an index, and for one that cannot be read or is not up to date.
    func search(_ query: SearchQuery, _ entity: EntityLayout, limit: Int?) throws -> [SearchMatch]? {
        guard let index = searches.index(of: entity), index.mayRead,
            let finding = index.finding(query, limit: limit)
        else { return nil }
        return try reading("search in") {
            do {
                var result: PostgresResult?
                if let known = searches.current[index.number] {
                    let (count, found) = try asking(finding)
                    if count - ownSaves(index) == known { result = found }
                }
                if result == nil {
                    guard try isCurrent(index) else { return nil }
                    result = try asking(finding).found
                }
                return try result.map { try index.matches($0, query, limit: limit, connection) }
            } catch let error as PostgresError where givesUpSearching(after: error) { return nil }
        }
    }

    /// The number of the store's saves that need not be known: those of this program, if they write the index.
    private func ownSaves(_ index: SearchIndex) -> Int64 { index.mayWrite ? saves.own : 0 }

    /// Runs a statement of an index, and counts the store's saves before it, in one round trip.
    private func asking(
        _ request: PostgresConnection.Request
    ) throws -> (count: Int64, found: PostgresResult) {
        guard !connection.isInTransaction else {
            // What fails in a transaction ends it.
            let results = try connection.part { try connection.pipeline([saveCountRequest, request]) }
            return (results[0].integer(0, 0), results[1])
        }
        let results = try connection.pipeline([saveCountRequest, request, generationRequest])
        try checkGeneration(results[2])
        return (results[0].integer(0, 0), results[1])
    }

    private func isCurrent(_ index: SearchIndex) throws -> Bool {
        let request = index.isCurrent(place)
        func ask() throws -> PostgresResult { try connection.pipeline([request])[0] }
        let result = try connection.isInTransaction ? connection.part(ask) : ask()
        let isCurrent = result.integer(0, 1) == 1
        searches.current[index.number] = isCurrent ? result.integer(0, 0) - ownSaves(index) : nil
        return isCurrent
    }

    /// Whether the index of an entity can be brought up to date now.
    func mayCatchUp(_ entity: EntityLayout) -> Bool {
        guard let index = searches.index(of: entity) else { return false }
        return index.mayRead && index.mayWrite && !connection.isInTransaction && longTransaction == nil
            && !locksOutWriters
    }

    /// Writes the words of all rows whose present versions an index does not have, and removes those of deleted ones:
    /// in portions, each in a transaction during which no other program saves.
    func catchUpSearch(of entity: EntityLayout) throws {
        guard let index = searches.index(of: entity) else { return }
        try run("write the search index of") {
            try inPortions(index.outdated(connection)) { try index.rewrite($0, connection) }
            try alone { try index.removeDeleted(connection) }
            for relation in index.relations {
                try inPortions(keys(relation.outdated(index.number))) { keys in
                    let owners = try index.owners(ofChanged: keys, of: relation, connection)
                    try index.rewrite(Array(owners), connection)
                    _ = try connection.pipeline(relation.notingVersions(keys, index.number))
                }
                try inPortions(keys(relation.outdatedOwners(index.number))) { try index.rewrite($0, connection) }
            }
        }
    }

    private func keys(_ sql: String) throws -> [Int64] {
        let result = try connection.query(sql)
        return (0..<result.count).map { result.integer($0, 0) }
    }

    private func inPortions(_ keys: [Int64], _ body: ([Int64]) throws -> Void) throws {
        let keys = keys.sorted()
        for start in stride(from: 0, to: keys.count, by: SearchIndex.portion) {
            try alone { try body(Array(keys[start..<min(start + SearchIndex.portion, keys.count)])) }
        }
    }

    /// Runs work in a transaction during which no other program saves.
    private func alone(_ body: () throws -> Void) throws {
        var begin = [PostgresConnection.Request(lockAlone), generationRequest]
        if isPooled { begin.insert(.init(settings.lockTimeout(local: true)), at: 0) }
        try connection.transaction {
            guard let answer = try connection.pipeline(begin).last else { return }
            try checkGeneration(answer)
            try body()
        }
    }
}
