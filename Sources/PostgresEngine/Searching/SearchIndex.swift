import CoreDataModel
import Foundation
import PostgresConnection
import PredicateFormat
import SQLGeneration
import StoreEngine

/// The full-text index of an entity's rows: those of `pippin.search` that have its number.
///
/// Each row there has the words of one row of the entity, and the row's version, by which rows are found that other
/// programs have changed. Every word begins with the index's number, so that indexes of several entities and stores
/// share one GIN index and do not read one another's entries. No trigger writes it: an index can be out of date, and
/// never refuses a save.
struct SearchIndex {
    let fields: SearchedFields
    /// The table of the entity's rows, quoted.
    let table: String
    private let columns: [SearchedTable.Column]
    /// What tells the entity's rows from others in the table, after other conditions.
    private let condition: String
    let relations: [RelatedRows]
    /// The letters by which PostgreSQL tells texts of different weights, and the weights of D, C, B and A.
    private let labels: [Character]
    private let ranks: String
    private(set) var number: Int32 = 0
    /// Whether the role may write it, and read all rows of the table: row-level security hides some.
    private(set) var mayWrite = false
    private(set) var mayRead = false

    /// How many rows are read, and how many bytes are written, at once.
    static let portion = 2_000
    private static let bytes = 1 << 24

    /// The indexes of the entities whose models mark texts.
    static func indexes(of schema: SQLSchema) -> [SearchIndex] { SearchedTable.all(of: schema).compactMap(Self.init) }

    private init?(_ searched: SearchedTable) {
        fields = searched.fields
        for field in fields.fields
        where field.relation == nil && Self.isDerived(field.path, searched.mapping.layout) { return nil }
        columns = searched.columns
        table = quotedName(searched.mapping.table)
        condition = searched.condition.postgres.text
        relations = searched.relations.enumerated().compactMap { RelatedRows($1, $0, of: searched) }
        (labels, ranks) = Self.labels(fields.weights)
        if relations.count < searched.relations.count { return nil }
    }

    /// Whether the database computes an attribute after the row was written, without another version.
    static func isDerived(_ path: [String], _ layout: EntityLayout) -> Bool {
        let attribute = path.first.flatMap(layout.slotIndex).flatMap { layout.slots[$0].attribute }
        return attribute?.description is NSDerivedAttributeDescription
    }

    /// PostgreSQL knows four weights, from 0 to 1: the fourth and all lesser ones are one.
    private static func labels(_ weights: [Double]) -> ([Character], String) {
        let different = Array(Set(weights)).sorted(by: >)
        let greatest = max(different.first ?? 1, .leastNormalMagnitude)
        let known = (0..<4).map { place in
            place < different.count ? min(max(different[place] / greatest, 0), 1) : 0
        }
        let labels = weights.map { weight -> Character in
            Array("ABCD")[min(different.firstIndex(of: weight) ?? 3, 3)]
        }
        return (labels, "{\(known.reversed().map { "\($0)" }.joined(separator: ","))}")
    }

    /// What the index is made of. One that was made of something else is made anew, and so is one of before the latest
    /// migration, which may have changed texts without another version.
    func definition(_ generation: Int64) -> String {
        "2, \(fields.tokenizer.version), \(generation); \(String(labels)); \(columns.map(\.name).joined(separator: ", "))"
            + condition + relations.map(\.definition).joined()
    }

    mutating func take(_ number: Int32, mayWrite: Bool, mayRead: Bool) {
        (self.number, self.mayWrite, self.mayRead) = (number, mayWrite, mayRead)
    }

    /// What its words begin with.
    var prefix: String { "\(number)." }

    /// Whether a statement that failed is one of an index's, and failed for a reason that will remain.
    static func isCause(of error: PostgresError, isOfIndex: Bool = false) -> Bool {
        (isOfIndex || error.statement?.contains("pippin.search") == true) && !error.isRetryable
            && !error.isConnectionFailure
            && !error.isLockTimeout && !error.isCancelled && !error.isReadOnly
    }

    // MARK: Writing

    /// Whether a change of some slots of a row leaves its texts as they are.
    func keepsTexts(_ layout: EntityLayout, changing slots: [Int]) -> Bool {
        let names = fields.fields.filter { $0.relation == nil }.map { $0.path[0] } + fields.relationships.map(\.name)
        return !names.contains { name in layout.slotIndex(forName: name).map(slots.contains) ?? false }
    }

    /// The statements that write the words of rows, by their keys. The rows are there already.
    func writing(_ rows: [(key: Int64, texts: [String])]) -> [PostgresConnection.Request] {
        var requests: [PostgresConnection.Request] = []
        var (keys, whole, words, size) = ([Int64](), [Bool](), PostgresArray(.text), 0)
        func add() {
            guard !keys.isEmpty else { return }
            var parameters = PostgresParameters()
            parameters.append(array: keys)
            parameters.append(array: whole)
            parameters.append(words)
            requests.append(
                .init(
                    """
                    INSERT INTO pippin.search AS s (number, key, version, is_whole, words) \
                    SELECT \(number), u.k, t.\(ColumnName.version), u.w, u.v::tsvector FROM unnest($1, $2, $3) AS u(k, w, v) \
                    JOIN \(table) t ON t.\(ColumnName.key) = u.k ON CONFLICT (number, key) DO UPDATE \
                    SET version = excluded.version, is_whole = excluded.is_whole, words = excluded.words
                    """, parameters))
            (keys, whole, words, size) = ([], [], PostgresArray(.text), 0)
        }
        // In the order of keys, in which programs wait for one another.
        for row in rows.sorted(by: { $0.key < $1.key }) {
            let vector = fields.tokenizer.tsvector(of: row.texts, labels: labels, prefix: prefix)
            keys.append(row.key)
            whole.append(vector.isWhole)
            if let text = vector.text { words.append(text) } else { words.appendNull() }
            size += vector.text?.utf8.count ?? 0
            if size >= Self.bytes { add() }
        }
        add()
        return requests
    }

    /// The statement that gives rows their new versions, whose words stayed as they are. Rows whose words are of a
    /// former version keep that.
    func keeping(_ keys: [Int64]) -> PostgresConnection.Request {
        var parameters = PostgresParameters()
        parameters.append(array: keys.sorted())
        return .init(
            """
            UPDATE pippin.search s SET version = t.\(ColumnName.version) FROM \(table) t WHERE s.number = \(number) \
            AND s.key = ANY($1) AND t.\(ColumnName.key) = s.key AND s.version::numeric + 1 = t.\(ColumnName.version)
            """, parameters)
    }

    /// The statement that gives all rows the version of new ones.
    var versionReset: String {
        (["search"] + (relations.isEmpty ? [] : ["search_related"])).map {
            "UPDATE pippin.\($0) SET version = 1 WHERE number = \(number) AND version <> 1"
        }.joined(separator: "; ")
    }

    /// The statement that removes the words of rows.
    func removing(_ keys: [Int64]) -> PostgresConnection.Request {
        var parameters = PostgresParameters()
        parameters.append(array: keys.sorted())
        return .init("DELETE FROM pippin.search s WHERE s.number = \(number) AND s.key = ANY($1)", parameters)
    }

    /// The statements that follow a change set, after its rows were written; for an index without related rows.
    func following(_ changes: ChangeSet) -> [PostgresConnection.Request] {
        var (rows, kept, removed) = ([(key: Int64, texts: [String])](), [Int64](), [Int64]())
        var latest: (layout: EntityLayout, slots: [Int])?
        func take(_ change: RowChange, isNew: Bool) {
            let layout = change.objectID.layout
            guard layout.isKind(of: fields.entity) else { return }
            if latest?.layout !== layout {
                latest = (layout, fields.fields.map { layout.slotIndex(forName: $0.path[0]) ?? 0 })
            }
            let slots = latest?.slots ?? []
            guard isNew || slots.contains(where: change.changedSlots.contains) else {
                return kept.append(change.objectID.key)
            }
            rows.append((change.objectID.key, fields.texts(of: layout, change.values)))
        }
        for change in changes.inserted { take(change, isNew: true) }
        for change in changes.updated { take(change, isNew: false) }
        for deletion in changes.deleted where deletion.objectID.layout.isKind(of: fields.entity) {
            removed.append(deletion.objectID.key)
        }
        return (removed.isEmpty ? [] : [removing(removed)]) + writing(rows) + (kept.isEmpty ? [] : [keeping(kept)])
    }

    /// Reads rows, and writes their words. Rows that are not there lose them.
    func rewrite(_ keys: [Int64], _ connection: PostgresConnection) throws {
        let keys = keys.sorted()
        for start in stride(from: 0, to: keys.count, by: Self.portion) {
            let portion = Array(keys[start..<min(start + Self.portion, keys.count)])
            var missing = Set(portion)
            let rows = try texts(of: portion, connection)
            for row in rows { missing.remove(row.key) }
            _ = try connection.pipeline(
                writing(rows) + (missing.isEmpty ? [] : [removing(Array(missing))])
                    + relations.flatMap { $0.noting(portion, number) })
        }
    }

    /// The keys of rows that have one of some related rows, or had it.
    func owners(ofChanged keys: [Int64], of relation: RelatedRows, _ connection: PostgresConnection) throws -> Set<
        Int64
    > {
        guard !keys.isEmpty else { return [] }
        let result = try connection.pipeline([relation.owners(of: keys, number)])[0]
        return Set((0..<result.count).map { result.integer($0, 0) })
    }

    /// The texts of rows, ordered by key.
    func texts(of keys: [Int64], _ connection: PostgresConnection) throws -> [(key: Int64, texts: [String])] {
        var parameters = PostgresParameters()
        parameters.append(array: keys)
        let list = columns.map { ", t.\(quotedName($0.name))::text" }.joined()
        let own = PostgresConnection.Request(
            "SELECT t.\(ColumnName.key)\(list) FROM \(table) t WHERE t.\(ColumnName.key) = ANY($1)\(condition) ORDER BY 1",
            parameters)
        let results = try connection.pipeline([own] + relations.map { $0.reading(keys) })
        let result = results[0]
        var rows = (0..<result.count).map { row in
            var texts = fields.fields.map { _ in "" }
            for (place, column) in columns.enumerated() where !result.isNull(row, place + 1) {
                texts[column.field] = result.string(row, place + 1)
            }
            return (key: result.integer(row, 0), texts: texts)
        }
        for (relation, result) in zip(relations, results.dropFirst()) { relation.take(result, into: &rows) }
        return rows
    }

    // MARK: Being up to date

    /// Whether the index has the words of all rows in their present versions: by their number, the sum of their
    /// versions, and the greatest key. Before it, the number of saves to the store.
    func isCurrent(_ place: StorePlace) -> PostgresConnection.Request {
        var parameters = PostgresParameters()
        parameters.append(place.schema)
        return .init(
            """
            SELECT (SELECT sum(count)::bigint FROM pippin.saves WHERE schema_name = $1), \
            (SELECT concat_ws(' ', count(*), sum(t.\(ColumnName.version)), max(t.\(ColumnName.key))) \
            FROM \(table) t WHERE true\(condition)) \
            = (SELECT concat_ws(' ', count(*), sum(s.version), max(s.key)) FROM pippin.search s WHERE s.number = \(number)) \
            AND EXISTS (SELECT FROM pippin.searches WHERE number = \(number))\(relations.map { $0.isCurrent(number) }.joined())
            """, parameters)
    }

    /// The rows whose present versions the index does not have.
    func outdated(_ connection: PostgresConnection) throws -> [Int64] {
        let result = try connection.query(
            """
            SELECT t.\(ColumnName.key) FROM \(table) t \
            LEFT JOIN pippin.search s ON s.number = \(number) AND s.key = t.\(ColumnName.key) \
            WHERE (s.key IS NULL OR s.version <> t.\(ColumnName.version))\(condition)
            """)
        return (0..<result.count).map { result.integer($0, 0) }
    }

    /// Removes the words of rows that are gone.
    func removeDeleted(_ connection: PostgresConnection) throws {
        try connection.query(
            """
            DELETE FROM pippin.search s WHERE s.number = \(number) \
            AND NOT EXISTS (SELECT FROM \(table) t WHERE t.\(ColumnName.key) = s.key\(condition))
            """)
    }

    // MARK: Searching

    /// The statement that finds rows: key, rank, and whether it is certain that the query finds the row. PostgreSQL
    /// does not keep all places of the words of a long text, nor all words of a very long one.
    func finding(_ query: SearchQuery, limit: Int?) -> PostgresConnection.Request? {
        guard let exact = query.tsquery(prefix: prefix),
            let loose = query.tsquery(hasPhrases: false, prefix: prefix)
        else { return nil }
        var parameters = PostgresParameters()
        parameters.append(exact)
        parameters.append(Int64(limit ?? .max))
        let rank = "(-ts_rank('\(ranks)', s.words, $1::tsquery, 1))::float8"
        let rows = "FROM pippin.search s WHERE s.number = \(number)"
        var (certain, uncertain) = ("", "s.words IS NULL")
        if query.hasPhrases {
            parameters.append(loose)
            (certain, uncertain) = (" AND s.is_whole", "(s.words IS NULL OR s.words @@ $3::tsquery)")
        }
        return .init(
            """
            (SELECT s.key, \(rank), true \(rows) AND s.words @@ $1::tsquery\(certain) ORDER BY 2, 1 LIMIT $2) \
            UNION ALL SELECT s.key, coalesce(\(rank), 0), false \(rows) AND NOT s.is_whole AND \(uncertain)
            """, parameters)
    }

    /// The rows that such a statement has found, best first.
    func matches(
        _ result: PostgresResult, _ query: SearchQuery, limit: Int?, _ connection: PostgresConnection
    ) throws -> [SearchMatch] {
        var (matches, uncertain) = ([SearchMatch](), [Int64: Double]())
        for row in 0..<result.count {
            let (key, rank) = (result.integer(row, 0), result.double(row, 1))
            if result.integer(row, 2) == 1 {
                matches.append(SearchMatch(key: key, rank: rank))
            } else {
                uncertain[key] = rank
            }
        }
        guard !uncertain.isEmpty else { return matches }
        let scan = SearchScan(query, tokenizer: fields.tokenizer)
        let keys = uncertain.keys.sorted()
        // Long texts: a few at a time.
        for start in stride(from: 0, to: keys.count, by: 64) {
            let portion = Array(keys[start..<min(start + 64, keys.count)])
            for row in try texts(of: portion, connection) where scan.matches(row.texts) {
                matches.append(SearchMatch(key: row.key, rank: uncertain[row.key] ?? 0))
            }
        }
        matches.sort { ($0.rank, $0.key) < ($1.rank, $1.key) }
        return limit.map { Array(matches.prefix($0)) } ?? matches
    }
}
