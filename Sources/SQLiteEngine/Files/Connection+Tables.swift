import SQLGeneration
import SQLiteConnection

extension Connection {
    /// The columns of each table, in order, as the file spells them; without SQLite's own tables.
    func columnsByTable() throws -> [String: [TableDefinition.Column]] {
        var tables: [String: [TableDefinition.Column]] = [:]
        // Virtual tables have no page, and their module may be missing.
        let columns = try prepare(
            "SELECT m.name, c.name, c.type FROM sqlite_master m, pragma_table_info(m.name) c "
                + "WHERE m.type = 'table' AND m.rootpage > 0 AND m.name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
        while try columns.step() {
            tables[columns.string(at: 0), default: []].append(
                .init(name: columns.string(at: 1), declaredType: columns.string(at: 2)))
        }
        return tables
    }
}
