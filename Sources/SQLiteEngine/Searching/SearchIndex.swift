import CoreDataModel
import Foundation
import PredicateFormat
import SQLGeneration
import SQLiteConnection
import StoreEngine

/// The full-text index of an entity's rows: two tables beside those of Core Data's format, which only Pippin knows.
///
/// `PIPPIN_SEARCH_<ENTITY>` is an FTS5 table with the words of the texts, without the texts. FTS5 removes nothing of
/// such a table; so each state of a row's texts is a new document. `PIPPIN_SEARCHED_<ENTITY>` says which document is a
/// row's, and which version of the row it has, by which rows are found that other programs have changed.
/// `PIPPIN_SEARCH` says what the indexes were made of. No trigger writes them: an index can be out of date, and never
/// refuses a save.
struct SearchIndex: Sendable {
    let fields: SearchedFields
    private let name: String
    /// The table of the entity's rows.
    private let table: String
    private let columns: [SearchedTable.Column]
    /// What tells the entity's rows from others in the table, after other conditions.
    private let condition: String
    private let relations: [RelatedRows]
    /// The versions of the entity and of those related, as the store's metadata have them: a migration to another
    /// version may change texts without giving rows another version.
    private let generation: String

    private var words: String { quoted("PIPPIN_SEARCH_\(name)") }
    private var rows: String { quoted("PIPPIN_SEARCHED_\(name)") }
    /// The table in which FTS5 keeps how long the documents are.
    private var documents: String { quoted("PIPPIN_SEARCH_\(name)_docsize") }

    /// The tables whose changes change the index: that of the entity's rows first, then those of related rows.
    var tables: [String] { [table] + relations.map(\.table) }

    /// The indexes of the entities whose models mark texts.
    ///
    /// - Parameters:
    ///   - schema: the entities and their tables.
    ///   - metadata: the store's metadata.
    /// - Returns: the indexes.
    static func indexes(of schema: SQLSchema, _ metadata: [String: Any]) -> [SearchIndex] {
        let hashes = StoreMetadata.hashes(in: metadata)
        return SearchedTable.all(of: schema).map { SearchIndex($0, hashes) }
    }

    private init(_ searched: SearchedTable, _ hashes: [String: Data]) {
        fields = searched.fields
        columns = searched.columns
        let name = searched.mapping.layout.name.uppercased()
        self.name = name
        table = searched.mapping.table
        condition = searched.condition.sqlite.text
        relations = searched.relations.enumerated().map { RelatedRows($1, $0, of: searched, name) }
        let entities = [searched.mapping.layout.name] + searched.relations.map(\.destination.layout.name)
        generation = entities.map { (hashes[$0] ?? Data()).prefix(6).base64EncodedString() }.joined(separator: " ")
    }

    /// What the index is made of. One that was made of something else is made anew.
    private var definition: String {
        "documents, \(fields.tokenizer.version), \(generation); \(table)(\(columns.map(\.name).joined(separator: ", ")))"
            + condition + relations.map(\.definition).joined()
    }

    // MARK: Tables

    /// Whether the tables exist, and are of this definition.
    func exists(_ connection: Connection) throws -> Bool {
        let count = try connection.prepare(
            "SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name IN ('PIPPIN_SEARCH', ?1, ?2, ?3, ?4)")
        for (place, kind) in ["SEARCH", "SEARCHED", "RELATED", "PAIRS"].enumerated() {
            try count.bind("PIPPIN_\(kind)_\(name)", at: Int32(place + 1))
        }
        // A statement that stands on a row would keep the tables from being made.
        defer { count.reset() }
        guard try count.step(), count.integer(at: 0) == (relations.isEmpty ? 3 : 5) else { return false }
        let known = try connection.prepare("SELECT DEFINITION FROM PIPPIN_SEARCH WHERE NAME = ?1")
        defer { known.reset() }
        try known.bind(name, at: 1)
        return try known.step() && known.string(at: 0) == definition
    }

    /// Makes the tables, empty, unless they exist.
    ///
    /// - Returns: whether they were made. An SQLite without FTS5 makes none.
    func makeTables(_ connection: Connection) throws -> Bool {
        guard try !exists(connection) else { return false }
        let modules = try connection.prepare("SELECT count(*) FROM pragma_module_list WHERE name = 'fts5'")
        let isKnown = try modules.step() && modules.integer(at: 0) > 0
        modules.reset()
        guard isKnown else { return false }
        return try connection.transaction {
            // Another program may have made them just now.
            guard try !exists(connection) else { return false }
            let list = fields.fields.indices.map { "f\($0)" }.joined(separator: ", ")
            try connection.execute(
                """
                CREATE TABLE IF NOT EXISTS PIPPIN_SEARCH (NAME TEXT PRIMARY KEY, DEFINITION TEXT);
                DROP TABLE IF EXISTS \(words);
                DROP TABLE IF EXISTS \(rows);
                \(RelatedRows.removal(name))
                CREATE VIRTUAL TABLE \(words) USING fts5(\(list), content = '', tokenize = '\(SearchTokenizer.fts5Tokenizer)');
                CREATE TABLE \(rows) (PK INTEGER PRIMARY KEY, OPT INTEGER, DOC INTEGER UNIQUE, HASH INTEGER);
                \(relations.isEmpty ? "" : RelatedRows.creation(name))
                """)
            let insert = try connection.prepare("INSERT OR REPLACE INTO PIPPIN_SEARCH VALUES (?1, ?2)")
            try insert.bind(name, at: 1)
            try insert.bind(definition, at: 2)
            try insert.run()
            return true
        }
    }

    /// Has the tables made anew when the store is opened the next time.
    private func giveUp(_ connection: Connection) {
        guard let delete = try? connection.prepare("DELETE FROM PIPPIN_SEARCH WHERE NAME = ?1") else { return }
        try? delete.bind(name, at: 1)
        try? delete.run()
    }

    // MARK: Writing

    /// Writes the words of rows that a transaction has changed, before it is committed. If that fails, the changes
    /// stay, and the index is made anew later.
    ///
    /// - Parameters:
    ///   - changed: the keys of changed rows in each of ``tables``.
    ///   - connection: the connection whose transaction it is.
    func write(_ changed: some Collection<Set<Int64>>, _ connection: Connection) {
        guard var keys = changed.first, changed.contains(where: { !$0.isEmpty }) else { return }
        do {
            try connection.execute("SAVEPOINT pippin_search")
            for (relation, keysOfRelated) in zip(relations, changed.dropFirst()) where !keysOfRelated.isEmpty {
                keys.formUnion(try relation.owners(ofChanged: keysOfRelated, connection))
            }
            // In order, since both tables are sorted by key.
            for key in keys.sorted() { try write(key, connection) }
            try connection.execute("RELEASE pippin_search")
        } catch {
            // Nothing is left of the transaction where the disk is full; its commit reports that.
            guard connection.isInTransaction else { return }
            try? connection.execute("ROLLBACK TO pippin_search; RELEASE pippin_search")
            giveUp(connection)
        }
    }

    private func write(_ key: Int64, _ connection: Connection) throws {
        let known = try connection.statement("SELECT HASH FROM \(rows) WHERE PK = ?1")
        try known.bind(key, at: 1)
        let old = try known.step() ? known.integer(at: 0) : nil
        known.reset()
        let list = columns.map { ", t.\(quoted($0.name))" }.joined()
        let source = try connection.statement(
            "SELECT t.Z_OPT\(list) FROM \(quoted(table)) t WHERE t.Z_PK = ?1\(condition)")
        try source.bind(key, at: 1)
        guard try source.step() else {
            source.reset()
            for relation in relations { try relation.note([], of: key, connection) }
            return try run("DELETE FROM \(rows) WHERE PK = ?1", [.integer(key)], connection)
        }
        let version = source.integer(at: 0)
        var texts = fields.fields.map { _ in "" }
        for (place, column) in columns.enumerated() { texts[column.field] = source.string(at: Int32(place + 1)) }
        source.reset()
        for relation in relations { try relation.take(of: key, into: &texts, connection) }
        texts = texts.map(fields.tokenizer.fts5Content)
        let hash = Self.hash(texts)
        if hash == old {
            return try run(
                "UPDATE \(rows) SET OPT = ?2 WHERE PK = ?1", [.integer(key), .integer(version)], connection)
        }
        let next = try connection.statement("SELECT ifnull(max(id), 0) + 1 FROM \(documents)")
        let document = try next.step() ? next.integer(at: 0) : 1
        next.reset()
        let names = texts.indices.map { "f\($0)" }.joined(separator: ", ")
        let places = texts.indices.map { ", ?\($0 + 2)" }.joined()
        try run(
            "INSERT INTO \(words) (rowid, \(names)) VALUES (?1\(places))",
            [.integer(document)] + texts.map { .text($0) }, connection)
        try run(
            "INSERT OR REPLACE INTO \(rows) (PK, OPT, DOC, HASH) VALUES (?1, ?2, ?3, ?4)",
            [.integer(key), .integer(version), .integer(document), .integer(hash)], connection)
        // Now and then: if most documents are of former texts, the index is made anew at the next opening.
        if document % 4096 == 0, let live = try connection.integer("SELECT count(*) FROM \(rows)"),
            document > 2 * live + 4096
        {
            giveUp(connection)
        }
    }

    /// A number that differs where the words differ (FNV-1a).
    static func hash(_ texts: [String]) -> Int64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for text in texts {
            for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            hash = (hash ^ 0xFF) &* 0x100_0000_01B3
        }
        return Int64(bitPattern: hash)
    }

    private func run(_ sql: String, _ values: [SQLValue], _ connection: Connection) throws {
        let statement = try connection.statement(sql)
        for (index, value) in values.enumerated() { try statement.bind(value, at: Int32(index + 1)) }
        try statement.run()
    }

    /// Whether the index has the words of all rows in their present versions: by their number, the sum of their
    /// versions, and the greatest key.
    func isCurrent(_ connection: Connection) throws -> Bool {
        let statement = try connection.statement(
            """
            SELECT (SELECT count(*) || ' ' || total(t.Z_OPT) || ' ' || ifnull(max(t.Z_PK), 0) \
            FROM \(quoted(table)) t WHERE 1\(condition)) \
            = (SELECT count(*) || ' ' || total(OPT) || ' ' || ifnull(max(PK), 0) FROM \(rows))\(relations.map(\.isCurrent).joined())
            """)
        defer { statement.reset() }
        return try statement.step() && statement.integer(at: 0) == 1
    }

    /// Writes the words of all rows whose present versions the index does not have, and removes those of deleted ones.
    func catchUp(_ connection: Connection) throws {
        let statement = try connection.prepare(
            """
            SELECT t.Z_PK FROM \(quoted(table)) t LEFT JOIN \(rows) r ON r.PK = t.Z_PK \
            WHERE (r.PK IS NULL OR r.OPT IS NOT t.Z_OPT)\(condition) \
            UNION ALL SELECT r.PK FROM \(rows) r \
            WHERE NOT EXISTS (SELECT 1 FROM \(quoted(table)) t WHERE t.Z_PK = r.PK\(condition))
            """)
        var keys: [Int64] = []
        while try statement.step() { keys.append(statement.integer(at: 0)) }
        statement.reset()
        let isNew = try connection.integer("SELECT NOT EXISTS (SELECT 1 FROM \(rows))") == 1
        let owners = try relations.flatMap { try $0.outdatedOwners(connection, isNew: isNew) }
        for key in Set(keys + owners).sorted() { try write(key, connection) }
    }

    // MARK: Searching

    /// The rows that an expression finds, best first.
    func search(_ expression: String, limit: Int?, _ connection: Connection) throws -> [SearchMatch] {
        let weights = fields.weights.map { "\($0)" }.joined(separator: ", ")
        let statement = try connection.statement(
            """
            SELECT r.PK, s.rank FROM \(words) s CROSS JOIN \(rows) r ON r.DOC = s.rowid \
            WHERE s.\(words) MATCH ?1 AND s.rank MATCH 'bm25(\(weights))' ORDER BY s.rank LIMIT ?2
            """)
        defer { statement.reset() }
        try statement.bind(expression, at: 1)
        try statement.bind(Int64(limit ?? -1), at: 2)
        var matches: [SearchMatch] = []
        while try statement.step() {
            matches.append(SearchMatch(key: statement.integer(at: 0), rank: statement.double(at: 1)))
        }
        return matches
    }
}
