import CoreDataModel
import Foundation
import PostgresConnection
import SQLGeneration
import StoreEngine

extension OpenDatabase {
    /// Deletes rows in one transaction, following the delete rules: `DELETE FROM "car" AS t0 WHERE …`.
    func deleteBatch(_ plan: BatchDeletePlan) throws -> BatchOutcome {
        try inBatch("delete from") {
            guard let wanted = plan.identifiers else {
                return try withRows(plan.rows) { rows in
                    if case .condition(let sql, let context) = rows, !needsKeys(plan) {
                        var outcome = BatchOutcome()
                        outcome.count = try query(sql.delete(.condition), context).affected
                        return outcome
                    }
                    return try delete(try identifiers(rows, plan.rows.entity), plan)
                }
            }
            // Rows that are gone already do not count.
            let keys = Array(Set(wanted.map(\.key)))
            return try delete(
                identifiers(.keys(BatchSQL(schema: schema, plan: plan.rows), keys), plan.rows.entity), plan)
        }
    }

    /// Whether anything other than the rows themselves is affected or requested.
    private func needsKeys(_ plan: BatchDeletePlan) -> Bool {
        hasHistory || plan.wantsIdentifiers || derives(from: plan.rows.entity)
            || plan.rows.entities.contains { !$0.relationships.isEmpty }
    }

    private func delete(_ identifiers: [NSManagedObjectID], _ plan: BatchDeletePlan) throws -> BatchOutcome {
        let deletion = BatchDeletion(self)
        try deletion.keys(of: plan.rows.entity).add(identifiers)
        try deletion.run(plan.origin)
        var outcome = BatchOutcome()
        outcome.count = identifiers.count
        if plan.wantsIdentifiers { outcome.identifiers = identifiers }
        return outcome
    }
}

/// A temporary table of the keys that a deletion takes from one of the store's tables.
private final class KeyTable {
    let name: String
    let fragment: SQLFragment
    /// How many keys are in it.
    var count = 0
    private let database: OpenDatabase

    /// The number distinguishes the tables of one deletion.
    init(_ number: Int, _ database: OpenDatabase) throws {
        self.database = database
        let own = "deleted_\(number)"
        fragment = "pg_temp.\(name: own)"
        name = "pg_temp.\(quotedName(own))"
        try database.connection.execute(
            "CREATE TEMP TABLE IF NOT EXISTS \(quotedName(own)) (\(ColumnName.key) bigint PRIMARY KEY, "
                + "\(ColumnName.entity) integer, z_cascaded integer) ON COMMIT DELETE ROWS; "
                + "CREATE INDEX IF NOT EXISTS \(quotedName(own + "_rounds")) ON \(name) (z_cascaded) "
                + "WHERE z_cascaded IS NOT NULL; DELETE FROM \(name)")
    }

    func add(_ identifiers: [NSManagedObjectID]) throws {
        var parameters = PostgresParameters()
        parameters.append(array: identifiers.map(\.key))
        parameters.append(
            array: identifiers.map { Int32(database.schema.mapping(of: $0.layout)?.number ?? $0.layout.number) })
        count += try database.connection.query(
            "INSERT INTO \(name) (\(ColumnName.key), \(ColumnName.entity)) SELECT * FROM unnest($1, $2)", parameters
        ).affected
    }
}

/// A batch deletion inside its transaction: determines what the delete rules delete too, and deletes it.
private final class BatchDeletion {
    private let database: OpenDatabase
    /// The keys to delete by table.
    private var keyTables: [String: KeyTable] = [:]

    init(_ database: OpenDatabase) { self.database = database }

    /// The keys of an entity's table that are deleted.
    func keys(of entity: EntityLayout) throws -> KeyTable {
        let table = try database.access(entity.root).mapping.table
        if let known = keyTables[table] { return known }
        let keys = try KeyTable(keyTables.count, database)
        keyTables[table] = keys
        return keys
    }

    /// Deletes the rows whose keys have been collected.
    func run(_ origin: ChangeOrigin) throws {
        try cascade()
        let rules = affected()
        for rule in rules { try refuse(rule) }
        for (table, keys) in keyTables {
            guard let root = mappings(of: table).first?.layout.root, database.derives(from: root) else { continue }
            try database.noteDerived(deleted: identifiers(Self.rows(keys), root))
        }
        for rule in rules { try nullify(rule, origin) }
        for (table, keys) in keyTables.sorted(by: { $0.key < $1.key }) {
            if database.hasHistory { try noteDeleted(table, keys, origin) }
            let rows =
                "FROM \(quotedName(table)) WHERE \(ColumnName.key) IN (SELECT \(ColumnName.key) FROM \(keys.name))"
            // Rows that others have deleted meanwhile are fewer, too.
            guard try database.connection.query("DELETE \(rows)").affected < keys.count,
                try database.connection.query("SELECT 1 \(rows) LIMIT 1").count > 0
            else { continue }
            throw PostgresStoreError.notWritten(nil, database.place)
        }
    }

    private func mappings(of table: String) -> [EntityMapping] {
        database.schema.mappings.compactMap { $0?.table == table ? $0 : nil }
    }

    private func affected() -> [BatchDeletionSQL] {
        BatchDeletionSQL.affected(by: keyTables.mapValues { KeyTableSQL($0.fragment) }, in: database.schema)
    }

    /// Applies the rule “cascade” until nothing is added.
    private func cascade() throws {
        var (rules, tables, round, grows) = ([BatchDeletionSQL](), 0, 0, true)
        while grows {
            (round, grows) = (round + 1, false)
            if keyTables.count > tables {
                tables = keyTables.count
                rules = affected().filter { $0.relationship.deleteRule == .cascadeDeleteRule }
            }
            for rule in rules {
                let keys = try keys(of: rule.relationship.destination)
                guard let addition = rule.cascade(into: KeyTableSQL(keys.fragment), round: round) else { continue }
                let added = try database.query(addition).affected
                keys.count += added
                if added > 0 { grows = true }
            }
        }
    }

    /// Refuses a deletion that the rule “deny” forbids, or that would leave a required relationship without its object.
    private func refuse(_ rule: BatchDeletionSQL) throws {
        guard let refusal = rule.refusal,
            let remaining = try rule.remaining(KeyTableSQL(keys(of: rule.relationship.destination).fragment)),
            try database.query(remaining).count > 0
        else { return }
        throw rule.error(refusal, url: database.place.shownURL)
    }

    /// Clears the references to deleted rows, and removes deleted rows from join tables.
    private func nullify(_ rule: BatchDeletionSQL, _ origin: ChangeOrigin) throws {
        for release in rule.releases { try database.query(release) }
        guard let clearing = try rule.clearing(KeyTableSQL(keys(of: rule.relationship.destination).fragment)) else {
            return
        }
        let destination = rule.destination.layout
        let derives = database.derives(from: destination)
        if database.hasHistory || derives {
            let table = quotedName(rule.destination.table)
            let concerned: SQLFragment =
                "SELECT \(.key, of: "t"), \(.entity, of: "t") FROM \(word: table) t WHERE \(clearing.condition)"
            let slots = [destination.slotIndex(forName: clearing.inverse)].compactMap { $0 }
            let identifiers = try identifiers(concerned, destination)
            if derives { try database.noteDerived(updated: identifiers, changing: slots) }
            try database.noteBatch(
                .update, identifiers, origin, changed: slots,
                former: database.formerValues(of: identifiers, changing: slots))
        }
        try database.query(clearing.update)
    }

    private func noteDeleted(_ table: String, _ keys: KeyTable, _ origin: ChangeOrigin) throws {
        guard let root = mappings(of: table).first?.layout.root else { return }
        let deleted = try identifiers(Self.rows(keys), root)
        try database.noteBatch(
            .delete, deleted, origin, changed: [], former: database.formerValues(of: deleted))
    }

    private static func rows(_ keys: KeyTable) -> SQLFragment {
        "SELECT \(.key), \(.entity) FROM \(keys.fragment) ORDER BY 1"
    }

    private func identifiers(_ selection: SQLFragment, _ entity: EntityLayout) throws -> [NSManagedObjectID] {
        let result = try database.query(selection)
        return (0..<result.count).map { row in
            let layout = database.entity(numbered: result.integer(row, 1), kindOf: entity)
            return NSManagedObjectID(layout: layout, store: database.identity, key: result.integer(row, 0))
        }
    }
}
