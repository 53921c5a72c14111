import CoreDataModel
import Foundation
import Ordering
import SQLGeneration
import SQLiteConnection
import StoreEngine

extension OpenStore {
    /// Deletes rows in one transaction: `DELETE FROM ZCAR AS t0 WHERE …`, as the delete rules say.
    func deleteBatch(_ plan: BatchDeletePlan) throws -> BatchOutcome {
        try inBatch("delete from") { files in
            let (sql, binding) = try batchSQL(plan.rows)
            guard try needsKeys(plan) else {
                var outcome = BatchOutcome()
                outcome.count = try run(sql.delete(.condition), binding)
                return outcome
            }
            let deletion = BatchDeletion(self, files)
            let keys = try deletion.keys(of: plan.rows.entity)
            if let identifiers = plan.identifiers {
                try keys.insert(identifiers)
                let table = quoted(try access(plan.rows.entity).mapping.table)
                // Those that are gone already count for nothing.
                try connection.execute("DELETE FROM \(keys.name) WHERE Z_PK NOT IN (SELECT Z_PK FROM \(table))")
                try connection.execute(
                    "UPDATE \(keys.name) AS k SET Z_ENT = (SELECT t.Z_ENT FROM \(table) t WHERE t.Z_PK = k.Z_PK)")
            } else {
                try run(keys.fill(sql.keys), binding)
            }
            try deletion.run(plan.origin)
            var outcome = BatchOutcome()
            outcome.count = Int(
                try connection.integer("SELECT COUNT(*) FROM \(keys.name) WHERE Z_CASCADED IS NULL") ?? 0)
            if plan.wantsIdentifiers { outcome.identifiers = try identifiers(in: keys, plan.rows.entity) }
            return outcome
        }
    }

    /// Whether more than the rows themselves is concerned, or asked for.
    private func needsKeys(_ plan: BatchDeletePlan) throws -> Bool {
        if history != nil || plan.wantsIdentifiers || plan.identifiers != nil { return true }
        return try plan.rows.entities.contains { entity in
            try !entity.relationships.isEmpty || !access(entity).writer.externalSlots.isEmpty
        }
    }
}

/// A batch deletion inside its transaction: finds out what the delete rules take along, and deletes it.
private final class BatchDeletion {
    private let store: OpenStore
    private let files: ExternalFiles
    /// The keys to delete by table.
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
        keyTables[table] = keys
        return keys
    }

    /// Deletes the rows whose keys have been collected.
    func run(_ origin: ChangeOrigin) throws {
        for rule in try affected() {
            try rule.source.checkAvailable(
                rule.relationship.name, "is not known, and its objects cannot be deleted", url: store.file.url)
        }
        try cascade()
        let rules = try affected()
        for rule in rules { try refuse(rule) }
        let history = store.history?.begin(origin)
        for rule in rules { try nullify(rule, history) }
        for (table, keys) in keyTables.ordered(by: { $0.key < $1.key }) {
            let condition = "t.Z_PK IN (SELECT Z_PK FROM \(keys.name))"
            for mapping in mappings(of: table) {
                let access = try store.access(mapping.layout)
                try store.noteFiles(of: access, access.writer.externalSlots, where: condition, files)
                try history?.noteRows(.delete, of: mapping, where: condition)
            }
            try store.connection.execute(
                "DELETE FROM \(quoted(table)) WHERE Z_PK IN (SELECT Z_PK FROM \(keys.name))")
        }
        try history?.finish()
    }

    private func mappings(of table: String) -> [EntityMapping] {
        store.schema.mappings.compactMap { $0?.table == table ? $0 : nil }
    }

    /// The relationships that rows to be deleted have, each once, where it is declared.
    private func affected() throws -> [BatchDeletionSQL] {
        keyTables.keys.sorted().flatMap { table in
            mappings(of: table).flatMap { source in
                source.layout.relationships.compactMap { relationship -> BatchDeletionSQL? in
                    guard relationship.source === source.layout, !relationship.isTransient,
                        let keys = keyTables[table],
                        let destination = store.schema.mapping(of: relationship.destination)
                    else { return nil }
                    return BatchDeletionSQL(relationship, of: source, to: destination, keys: keys.fragment)
                }
            }
        }
    }

    /// Follows the rule “cascade” until nothing is added.
    private func cascade() throws {
        var grows = true
        while grows {
            grows = false
            for rule in try affected() where rule.relationship.deleteRule == .cascadeDeleteRule {
                let keys = try keys(of: rule.relationship.destination)
                guard let addition = rule.cascade(into: keys.fragment) else { continue }
                try store.run(addition)
                if store.connection.changes > 0 { grows = true }
            }
        }
    }

    /// Refuses what the rule “deny” forbids, and what would leave a required relationship without its object.
    private func refuse(_ rule: BatchDeletionSQL) throws {
        let relationship = rule.relationship
        let name = "\(rule.source.layout.name)/\(relationship.name)"
        let isDenied = relationship.deleteRule == .denyDeleteRule
        var isMandatory = false
        if relationship.deleteRule == .nullifyDeleteRule, let inverse = relationship.inverse, !inverse.isToMany {
            isMandatory = !inverse.isOptional
        }
        guard isDenied || isMandatory else { return }
        guard let remaining = try rule.remaining(keys(of: relationship.destination).fragment) else { return }
        let found = try store.connection.integer(remaining.sqlite.text)
        guard found != nil else { return }
        let kind = (relationship.inverse?.isToMany == true ? "M" : "O") + "T" + (relationship.isToMany ? "M" : "O")
        throw StoreError.make(
            isDenied ? CoreDataErrorCode.validationRelationshipDeniedDelete : CoreDataErrorCode.persistentStoreSave,
            "Constraint trigger violation: Batch delete failed due to "
                + (isDenied ? "deny delete rule on \(name)" : "mandatory \(kind) nullify inverse on \(name)")
                + ". Nothing was deleted.", url: store.file.url,
            userInfo: [
                NSValidationKeyErrorKey: relationship.name,
                NSSQLiteErrorDomain: NSNumber(value: SQLiteError.triggerViolation),
            ])
    }

    /// Clears the references to deleted rows, and takes deleted rows out of join tables.
    private func nullify(_ rule: BatchDeletionSQL, _ history: HistoryRun?) throws {
        for release in rule.releases { try store.run(release) }
        guard let clearing = try rule.clearing(keys(of: rule.relationship.destination).fragment) else { return }
        if let history, let writer = store.history {
            for mapping in rule.destination.layout.selfAndSubentities.compactMap({ store.schema.mapping(of: $0) }) {
                let mask = writer.properties(of: mapping.layout).mask(of: [clearing.inverse])
                try history.noteRows(.update, of: mapping, where: clearing.condition.sqlite.text, columns: mask)
            }
        }
        try store.run(clearing.update)
    }
}
