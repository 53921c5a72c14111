import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

extension OpenStore {
    /// Deletes rows in one transaction, applying the delete rules: `DELETE FROM ZCAR AS t0 WHERE …`.
    func deleteBatch(_ plan: BatchDeletePlan) throws -> BatchOutcome {
        try inBatch("delete from") { files, aggregates in
            let (sql, binding) = try batchSQL(plan.rows)
            guard try needsKeys(plan) else {
                let table = try access(plan.rows.entity).mapping.table
                try aggregates.begin(on: [table]) { try number(of: sql, binding) }
                var outcome = BatchOutcome()
                outcome.count = try run(sql.delete(.condition), binding)
                return outcome
            }
            let deletion = BatchDeletion(self, files)
            let keys = try deletion.keys(of: plan.rows.entity)
            if let identifiers = plan.identifiers {
                try keys.insert(identifiers)
                // IDs of rows that are already deleted are not counted.
                for statement in keys.sql.complete(from: try access(plan.rows.entity).mapping) { try run(statement) }
            } else {
                try run(keys.sql.fill(sql.keys), binding)
            }
            var outcome = BatchOutcome()
            outcome.count = Int(try connection.integer(keys.sql.count) ?? 0)
            // Without rows, nothing is written, and no transaction of a history either.
            if outcome.count == 0 { return outcome }
            try deletion.run(plan.origin, aggregates)
            if plan.wantsIdentifiers { outcome.identifiers = try identifiers(in: keys, plan.rows.entity) }
            return outcome
        }
    }

    /// Whether anything other than the rows themselves is affected or requested.
    private func needsKeys(_ plan: BatchDeletePlan) throws -> Bool {
        if history != nil || plan.wantsIdentifiers || plan.identifiers != nil { return true }
        return try plan.rows.entities.contains { entity in
            try !entity.relationships.isEmpty || !access(entity).writer.externalSlots.isEmpty
        }
    }
}

/// A batch deletion inside its transaction: determines what the delete rules delete too, and deletes it.
private final class BatchDeletion {
    private let store: OpenStore
    private let files: ExternalFiles
    /// The keys to delete, by table.
    private var keyTables: [String: KeyTable] = [:]

    init(_ store: OpenStore, _ files: ExternalFiles) {
        self.store = store
        self.files = files
    }

    /// The keys of an entity's table that are deleted.
    package func keys(of entity: EntityLayout) throws -> KeyTable {
        let table = try store.access(entity.root).mapping.table
        if let known = keyTables[table] { return known }
        let keys = try KeyTable("deleted_\(table)", on: store.connection)
        try keys.indexRounds()
        keyTables[table] = keys
        return keys
    }

    /// Deletes the rows whose keys have been collected.
    func run(_ origin: ChangeOrigin, _ aggregates: BatchAggregates) throws {
        for rule in affected() {
            try rule.source.checkAvailable(
                rule.relationship.name, "is not known, and its objects cannot be deleted", url: store.file.url)
        }
        try cascade()
        let rules = affected()
        for rule in rules { try refuse(rule) }
        try aggregates.begin(on: changedTables(rules)) { try count(rules) }
        let history = store.history?.begin(origin)
        for rule in rules { try nullify(rule, history) }
        for (table, keys) in keyTables.sorted(by: { $0.key < $1.key }) {
            let condition = keys.sql.selects
            for mapping in mappings(of: table) {
                let access = try store.access(mapping.layout)
                try store.noteFiles(of: access, access.writer.externalSlots, where: condition, files)
                if let history { try store.note(.delete, of: mapping, where: condition, in: history) }
            }
            try store.run(keys.sql.delete(from: table))
        }
        try history?.finish()
    }

    /// The tables whose rows are deleted or changed.
    private func changedTables(_ rules: [BatchDeletionSQL]) -> Set<String> {
        Set(keyTables.keys).union(rules.flatMap(\.changedTables))
    }

    /// How many rows are deleted or changed, counted up to as many as are of interest.
    private func count(_ rules: [BatchDeletionSQL]) throws -> Int {
        let many = LaterAggregates.many
        var total = 0
        for keys in keyTables.values where total < many {
            total += Int(try store.connection.integer(keys.sql.total) ?? 0)
        }
        for rule in rules where total < many {
            for count in try rule.counts(keys(of: rule.relationship.destination).sql, upTo: many) {
                total += Int(try store.connection.integer(count) ?? 0)
            }
        }
        return total
    }

    private func mappings(of table: String) -> [EntityMapping] {
        store.schema.mappings.compactMap { $0?.table == table ? $0 : nil }
    }

    private func affected() -> [BatchDeletionSQL] {
        BatchDeletionSQL.affected(by: keyTables.mapValues(\.sql), in: store.schema)
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
                guard let addition = rule.cascade(into: keys.sql, round: round) else { continue }
                if try store.run(addition) > 0 { grows = true }
            }
        }
    }

    /// Refuses a deletion that the rule “deny” forbids, or that would leave a required relationship without its object.
    private func refuse(_ rule: BatchDeletionSQL) throws {
        guard let refusal = rule.refusal,
            let remaining = try rule.remaining(keys(of: rule.relationship.destination).sql),
            try store.connection.integer(remaining) != nil
        else { return }
        throw rule.error(
            refusal, url: store.file.url, [NSSQLiteErrorDomain: NSNumber(value: SQLiteError.triggerViolation)])
    }

    /// Clears the references to deleted rows, and removes deleted rows from join tables.
    private func nullify(_ rule: BatchDeletionSQL, _ history: HistoryRun?) throws {
        for release in rule.releases { try store.run(release) }
        guard let clearing = try rule.clearing(keys(of: rule.relationship.destination).sql) else { return }
        if let history {
            for mapping in rule.destination.layout.selfAndSubentities.compactMap({ store.schema.mapping(of: $0) }) {
                try store.note(
                    .update, of: mapping, where: clearing.condition, changing: [clearing.inverse], in: history)
            }
        }
        try store.run(clearing.update)
    }
}
