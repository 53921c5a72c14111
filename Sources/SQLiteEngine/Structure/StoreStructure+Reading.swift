import CompactCollections
import CoreDataModel
import SQLGeneration
import SQLiteConnection

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
