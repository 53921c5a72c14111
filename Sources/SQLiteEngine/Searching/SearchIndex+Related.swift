import CoreDataModel
import PredicateFormat
import SQLGeneration
import SQLiteConnection

/// Rows whose texts are part of other rows' documents in an index, the owners': `ZAUTHOR` for `\.author?.name`.
///
/// `PIPPIN_RELATED_<ENTITY>` says which version of which row the documents have, and `PIPPIN_PAIRS_<ENTITY>` which rows
/// each of them has. By these the owners of a changed row are found, former and present ones.
struct RelatedRows: Sendable {
    /// The place of the relationship among those of the index.
    let place: Int
    let table: String
    private let isToMany: Bool
    private let columns: [SearchedTable.Column]
    private let pairs: String
    /// What tells owners from other rows of their table, and related rows from those of theirs.
    private let ownerCondition: String
    private let condition: String
    private let versions: String
    private let known: String

    init(_ relation: SearchedTable.Relation, _ place: Int, of index: SearchedTable, _ name: String) {
        self.place = place
        table = relation.destination.table
        isToMany = relation.relationship.isToMany
        columns = relation.columns
        pairs = relation.pairs.sqlite.text
        ownerCondition = index.condition.sqlite.text
        condition = relation.condition.sqlite.text
        versions = quoted("PIPPIN_RELATED_\(name)")
        known = quoted("PIPPIN_PAIRS_\(name)")
    }

    /// What it is made of.
    var definition: String { "; \(columns.map(\.name).joined(separator: ", ")) FROM \(pairs)" }

    /// The statements that make the tables of an index, empty.
    static func creation(_ name: String) -> String {
        let (versions, pairs) = (quoted("PIPPIN_RELATED_\(name)"), quoted("PIPPIN_PAIRS_\(name)"))
        return """
            CREATE TABLE \(versions) (PLACE INTEGER, PK INTEGER, OPT INTEGER, HASH INTEGER, PRIMARY KEY (PLACE, PK)) WITHOUT ROWID;
            CREATE TABLE \(pairs) (PLACE INTEGER, PK INTEGER, OWNER INTEGER, PRIMARY KEY (PLACE, PK, OWNER)) WITHOUT ROWID;
            CREATE INDEX \(quoted("PIPPIN_PAIRS_\(name)_OWNER")) ON \(pairs) (PLACE, OWNER);
            """
    }

    /// The statements that remove these tables.
    static func removal(_ name: String) -> String {
        "DROP TABLE IF EXISTS \(quoted("PIPPIN_RELATED_\(name)")); DROP TABLE IF EXISTS \(quoted("PIPPIN_PAIRS_\(name)"));"
    }

    private var list: String { columns.map { ", r.\(quoted($0.name))" }.joined() }

    // MARK: Writing

    /// The texts of the rows that belong to an owner, for the fields of the index; notes which rows these are.
    func take(of owner: Int64, into texts: inout [String], _ connection: Connection) throws {
        let rows = try connection.statement(
            "SELECT r.Z_PK\(list) FROM \(pairs) WHERE t.Z_PK = ?1\(ownerCondition) ORDER BY 1")
        try rows.bind(owner, at: 1)
        var (keys, found) = ([Int64](), columns.map { _ in [String]() })
        while try rows.step() {
            keys.append(rows.integer(at: 0))
            for index in columns.indices { found[index].append(rows.string(at: Int32(index + 1))) }
        }
        rows.reset()
        for (column, list) in zip(columns, found) { texts[column.field] = SearchTokenizer.joined(list) }
        try note(keys, of: owner, connection)
    }

    /// Notes which rows an owner's document has.
    func note(_ keys: [Int64], of owner: Int64, _ connection: Connection) throws {
        let former = try integers(
            "SELECT PK FROM \(known) WHERE PLACE = \(place) AND OWNER = ?1 ORDER BY PK", owner, connection)
        guard former != keys else { return }
        for key in Set(former).subtracting(keys) {
            try run("DELETE FROM \(known) WHERE PLACE = ?1 AND PK = ?2 AND OWNER = ?3", [key, owner], connection)
        }
        for key in Set(keys).subtracting(former) {
            try run("INSERT INTO \(known) VALUES (?1, ?2, ?3)", [key, owner], connection)
        }
    }

    /// Notes the present versions of rows that have changed.
    ///
    /// - Returns: the owners whose documents these rows change.
    func owners(ofChanged keys: some Sequence<Int64>, _ connection: Connection) throws -> Set<Int64> {
        var owners: Set<Int64> = []
        for key in keys.sorted() {
            let (former, present) = try noteVersion(of: key, connection)
            // Its owners' rows say which they are, and are changed rows themselves if they change.
            if !isToMany, former != nil, former == present { continue }
            let now = try integers(
                "SELECT t.Z_PK FROM \(pairs) WHERE r.Z_PK = ?1\(ownerCondition) ORDER BY 1", key, connection)
            let before = try integers(
                "SELECT OWNER FROM \(known) WHERE PLACE = \(place) AND PK = ?1 ORDER BY 1", key, connection)
            if present != former || now != before { owners.formUnion(now + before) }
        }
        return owners
    }

    /// Notes the present version of a row, or that there is none.
    ///
    /// - Returns: numbers that differ where the former texts and the present ones do; nil for no row.
    @discardableResult
    private func noteVersion(of key: Int64, _ connection: Connection) throws -> (former: Int64?, present: Int64?) {
        let version = try connection.statement("SELECT HASH FROM \(versions) WHERE PLACE = \(place) AND PK = ?1")
        try version.bind(key, at: 1)
        let former = try version.step() ? version.integer(at: 0) : nil
        version.reset()
        let row = try connection.statement(
            "SELECT r.Z_OPT\(list) FROM \(quoted(table)) r WHERE r.Z_PK = ?1\(condition)")
        try row.bind(key, at: 1)
        guard try row.step() else {
            row.reset()
            if former != nil { try run("DELETE FROM \(versions) WHERE PLACE = ?1 AND PK = ?2", [key], connection) }
            return (former, nil)
        }
        let present = SearchIndex.hash(columns.indices.map { row.string(at: Int32($0 + 1)) })
        let opt = row.integer(at: 0)
        row.reset()
        try run("INSERT OR REPLACE INTO \(versions) VALUES (?1, ?2, ?3, ?4)", [key, opt, present], connection)
        return (former, present)
    }

    // MARK: Being up to date

    /// What must hold in an index that is up to date, after other conditions.
    var isCurrent: String {
        """
         AND (SELECT count(*) || ' ' || total(r.Z_OPT) || ' ' || ifnull(max(r.Z_PK), 0) FROM \(quoted(table)) r WHERE 1\(condition)) \
        = (SELECT count(*) || ' ' || total(OPT) || ' ' || ifnull(max(PK), 0) FROM \(versions) WHERE PLACE = \(place)) \
        AND (SELECT count(*) || ' ' || total(t.Z_PK) || ' ' || total(r.Z_PK) FROM \(pairs) WHERE 1\(ownerCondition)) \
        = (SELECT count(*) || ' ' || total(OWNER) || ' ' || total(PK) FROM \(known) WHERE PLACE = \(place))
        """
    }

    /// Notes the present versions of rows.
    ///
    /// - Returns: the owners whose documents do not have the rows in these versions; none for a new index, which has no
    ///   documents.
    func outdatedOwners(_ connection: Connection, isNew: Bool) throws -> Set<Int64> {
        let changed = try integers(
            """
            SELECT r.Z_PK FROM \(quoted(table)) r LEFT JOIN \(versions) k ON k.PLACE = \(place) AND k.PK = r.Z_PK \
            WHERE (k.PK IS NULL OR k.OPT IS NOT r.Z_OPT)\(condition) UNION ALL SELECT k.PK FROM \(versions) k \
            WHERE k.PLACE = \(place) AND NOT EXISTS (SELECT 1 FROM \(quoted(table)) r WHERE r.Z_PK = k.PK\(condition))
            """, nil, connection)
        if isNew {
            for key in changed { try noteVersion(of: key, connection) }
            return []
        }
        let owners = try integers(
            """
            SELECT t.Z_PK FROM \(pairs) WHERE NOT EXISTS (SELECT 1 FROM \(known) k \
            WHERE k.PLACE = \(place) AND k.PK = r.Z_PK AND k.OWNER = t.Z_PK)\(ownerCondition) \
            UNION SELECT k.OWNER FROM \(known) k WHERE k.PLACE = \(place) AND NOT EXISTS \
            (SELECT 1 FROM \(pairs) WHERE r.Z_PK = k.PK AND t.Z_PK = k.OWNER\(ownerCondition))
            """, nil, connection)
        return try self.owners(ofChanged: changed, connection).union(owners)
    }

    private func integers(_ sql: String, _ key: Int64?, _ connection: Connection) throws -> [Int64] {
        let statement = try connection.statement(sql)
        defer { statement.reset() }
        if let key { try statement.bind(key, at: 1) }
        var found: [Int64] = []
        while try statement.step() { found.append(statement.integer(at: 0)) }
        return found
    }

    /// Runs a statement whose first value is the place.
    private func run(_ sql: String, _ values: [Int64], _ connection: Connection) throws {
        let statement = try connection.statement(sql)
        for (index, value) in ([Int64(place)] + values).enumerated() {
            try statement.bind(value, at: Int32(index + 1))
        }
        try statement.run()
    }
}
