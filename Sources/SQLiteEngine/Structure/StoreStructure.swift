import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

/// The structure of a store's database, as far as a migration needs it.
package struct StoreStructure: Equatable, Sendable {
    package struct Index: Equatable, Sendable {
        package var table: String
        /// `nil` for an index that SQLite made for a constraint.
        package var sql: String?
        package var columns: [String]
    }

    package struct Trigger: Equatable, Sendable {
        package var table: String
        package var sql: String
    }

    /// The tables with their columns, in order.
    package var tables: [String: [TableDefinition.Column]] = [:]
    /// The statements that created the tables.
    package var creations: [String: String] = [:]
    /// The names of columns that SQLite computes, by table; `tables` does not have them.
    package var generated: [String: [String]] = [:]
    package var indexes: [String: Index] = [:]
    package var triggers: [String: Trigger] = [:]

    package init() {}

    /// A table's column names.
    package func columnNames(_ table: String) -> [String] { (tables[table] ?? []).map(\.name) }

    /// The columns of a table that belong to other programs, as they were declared, and the computed ones.
    ///
    /// - Parameters:
    ///   - table: the table.
    ///   - known: the names of the columns of the model.
    /// - Returns: the columns, in order; those that SQLite computes take no values.
    package func foreignColumns(
        of table: String, besides known: Set<String>
    ) -> (columns: [TableDefinition.Column], computed: [TableDefinition.Column]) {
        let declarations = creations[table].map(ColumnDeclarations.read) ?? [:]
        func declared(_ column: TableDefinition.Column) -> TableDefinition.Column {
            .init(name: column.name, declaredType: declarations[column.name.uppercased()] ?? column.declaredType)
        }
        let columns = (tables[table] ?? []).filter { !known.contains($0.name) }
        let computed = (generated[table] ?? []).map { TableDefinition.Column(name: $0, declaredType: "") }
        return (columns.map(declared), computed.map(declared))
    }

    /// Whether the store keeps a history of changes.
    package var hasHistory: Bool { tables["ACHANGE"] != nil }
}

extension StoreStructure {
    /// Reads the tables, indexes and triggers of a store.
    package init(_ file: StoreFile) throws {
        self.init()
        try file.run("read the tables of", fallback: CoreDataErrorCode.persistentStoreOpen) {
            // Virtual tables have no page, and their module may be missing.
            let columns = try file.connection.prepare(
                "SELECT m.name, c.name, c.type FROM sqlite_master m, pragma_table_info(m.name) c "
                    + "WHERE m.type = 'table' AND m.rootpage > 0")
            while try columns.step() {
                tables[columns.string(at: 0), default: []].append(
                    .init(name: columns.string(at: 1), declaredType: columns.string(at: 2)))
            }
            let computed = try file.connection.prepare(
                "SELECT m.name, c.name FROM sqlite_master m, pragma_table_xinfo(m.name) c "
                    + "WHERE m.type = 'table' AND m.rootpage > 0 AND c.hidden IN (2, 3)")
            while try computed.step() { generated[computed.string(at: 0), default: []].append(computed.string(at: 1)) }
            let created = try file.connection.prepare(
                "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND rootpage > 0 AND sql NOT NULL")
            while try created.step() { creations[created.string(at: 0)] = created.string(at: 1) }
            // A trigger has its table's name as its author spelled it.
            let others = try file.connection.prepare(
                "SELECT type, name, IFNULL((SELECT t.name FROM sqlite_master t WHERE t.type = 'table' AND "
                    + "t.name = m.tbl_name COLLATE NOCASE), tbl_name), sql FROM sqlite_master m "
                    + "WHERE type IN ('index', 'trigger')")
            while try others.step() {
                let (name, table) = (others.string(at: 1), others.string(at: 2))
                if others.string(at: 0) == "trigger" {
                    triggers[name] = Trigger(table: table, sql: others.string(at: 3))
                } else {
                    indexes[name] = Index(
                        table: table, sql: others.isNull(at: 3) ? nil : others.string(at: 3), columns: [])
                }
            }
            let indexed = try file.connection.prepare(
                "SELECT m.name, c.name FROM sqlite_master m, pragma_index_info(m.name) c WHERE m.type = 'index' "
                    + "AND c.name NOT NULL")
            while try indexed.step() { indexes[indexed.string(at: 0)]?.columns.append(indexed.string(at: 1)) }
        }
    }
}

/// The declarations of a table's columns, from the statement that created the table. Pure.
enum ColumnDeclarations {
    /// - Parameter creation: a `CREATE TABLE` statement that SQLite has accepted.
    /// - Returns: the text after each column's name, without comments, by names in capitals: `INTEGER NOT NULL DEFAULT
    ///   7`.
    static func read(_ creation: String) -> [String: String] {
        var declarations: [String: String] = [:]
        for part in parts(creation) {
            guard let (name, rest) = divided(part) else { continue }
            declarations[name.uppercased()] = rest
        }
        return declarations
    }

    /// What is between the outer parentheses, divided at its commas.
    private static func parts(_ creation: String) -> [String] {
        var parts: [String] = []
        var (part, depth) = ("", 0)
        var rest = Substring(creation)
        while let first = rest.first {
            let token = token(at: rest)
            rest = rest.dropFirst(token.count)
            if token.count > 1, token.hasPrefix("--") || token.hasPrefix("/*") {
                part += " "
                continue
            }
            switch first {
            case "(":
                depth += 1
                if depth > 1 { part += token }
            case ")":
                depth -= 1
                if depth == 0 { return parts + [part] }
                part += token
            case "," where depth == 1:
                parts.append(part)
                part = ""
            default: if depth > 0 { part += token }
            }
        }
        return parts
    }

    /// A quoted name or text, a comment, or one character.
    private static func token(at rest: Substring) -> Substring {
        func through(_ end: String, from start: Int) -> Substring {
            let body = rest.dropFirst(start)
            guard let range = body.firstRange(of: end) else { return rest }
            return rest[..<range.upperBound]
        }
        switch rest.first {
        case "'", "\"", "`":
            // A doubled quote is the end of one text and the beginning of another one, which does no harm here.
            return through(String(rest.prefix(1)), from: 1)
        case "[": return through("]", from: 1)
        case "-" where rest.hasPrefix("--"): return through("\n", from: 2)
        case "/" where rest.hasPrefix("/*"): return through("*/", from: 2)
        default: return rest.prefix(1)
        }
    }

    /// The name of a column and its declaration.
    private static func divided(_ part: String) -> (name: String, rest: String)? {
        let text = part.drop(while: \.isWhitespace)
        guard let first = text.first else { return nil }
        var name = ""
        var rest = text
        if "'\"`[".contains(first) {
            let end: Character = first == "[" ? "]" : first
            rest = text.dropFirst()
            while let next = rest.first {
                rest = rest.dropFirst()
                if next == end {
                    guard first != "[", rest.first == end else { break }
                    rest = rest.dropFirst()
                }
                name.append(next)
            }
        } else {
            name = String(text.prefix { !$0.isWhitespace && $0 != "(" })
            rest = text.dropFirst(name.count)
        }
        let trimmed = rest.drop(while: \.isWhitespace)
        let length = trimmed.lastIndex { !$0.isWhitespace }.map { trimmed[...$0] }
        return (name, String(length ?? ""))
    }
}

extension SQLiteEngine: MigratedEngine {
    /// Removes one table or column whose removal was deferred, and records that in the metadata, in one transaction.
    ///
    /// - Returns: whether there was a task.
    package func finishDeferredTask() throws -> Bool {
        try following { try finishDeferredTask(of: $0) }
    }

    private func finishDeferredTask(of store: OpenStore) throws -> Bool {
        let (file, schema) = (store.file, store.schema)
        let structure = try StoreStructure(file)
        var left = DeferredCleanup(try file.metadata())
        guard !left.tasks.isEmpty else { return false }
        let task = DeferredCleanup([left.tasks.removeFirst()]).sparing(schema)
        let url = file.url
        // A statement that is being stepped would lock the table.
        file.connection.removeCachedStatements()
        try file.run("finish the migration of", fallback: CoreDataErrorCode.migration) {
            try store.transaction {
                for task in structure.existing(task).tasks { try file.connection.execute(task.sql) }
                var metadata = try file.metadata()
                left.note(in: &metadata)
                let update = try file.connection.prepare(StoreTablesSQL.updateMetadata)
                try update.bind(StoreMetadata.data(of: metadata, url: url), at: 1)
                try update.run()
            }
        }
        left.note(in: &facts.metadata)
        return true
    }
}

extension StoreStructure {
    /// The tasks whose table or column still exists: metadata that another process has kept in memory may contain
    /// finished ones.
    package func existing(_ cleanup: DeferredCleanup) -> DeferredCleanup {
        DeferredCleanup(
            cleanup.tasks.filter { task in
                switch task {
                case .table(let name): return tables[name] != nil
                case .column(let name, let table): return columnNames(table).contains(name)
                }
            })
    }

    /// The structure without what the tasks remove.
    package func removing(_ cleanup: DeferredCleanup) -> StoreStructure {
        var structure = self
        for task in cleanup.tasks {
            switch task {
            case .table(let name):
                structure.tables[name] = nil
                structure.indexes = structure.indexes.filter { $0.value.table != name }
            case .column(let name, let table): structure.tables[table]?.removeAll { $0.name == name }
            }
        }
        return structure
    }
}
