import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

/// Aggregates of derived attributes that a transaction computes once at its end.
///
/// Triggers compute an object's sum or count anew with each row that is changed, over all rows that belong to it. While
/// many rows are changed, copies of the triggers on this connection take their place, which only collect the objects.
/// The store's own triggers stay as they are.
final class LaterAggregates {
    private let store: OpenStore
    private var connection: Connection { store.connection }
    private let triggers: [TriggerDefinition]
    private var recomputations: [Recomputation] = []
    /// The keys of the collected objects, by purpose.
    private var keys: [String: KeyTable] = [:]
    private var isActive = true

    /// The least number of changed rows for which making the copies pays.
    static let many = 200

    /// Begins to collect objects within a transaction that writes changes; nil if they are few.
    convenience init?(_ store: OpenStore, of changes: ChangeSet) throws {
        guard store.hasDerivedAttributes else { return nil }
        let rows = changes.inserted.count + changes.updated.count + changes.deleted.count
        if rows < Self.many {
            var pairs = 0
            for change in changes.inserted + changes.updated {
                for change in change.toManyChanges { pairs += change.added.count + change.removed.count }
            }
            guard rows + pairs >= Self.many else { return nil }
        }
        try self.init(store)
    }

    /// Begins to collect objects within a transaction that changes many rows; nil if there are no aggregates, or
    /// another part of the transaction collects them.
    ///
    /// - Parameter store: the store.
    /// - Throws: SQLite's errors.
    init?(_ store: OpenStore) throws {
        guard store.hasDerivedAttributes, !store.collectsAggregates else { return nil }
        self.store = store
        triggers = store.deferrableTriggers
        // The copies change the schema.
        guard triggers.contains(where: { $0.recomputation != nil }), !store.connection.isOnRow else { return nil }
        store.collectsAggregates = true
        do {
            for one in triggers.compactMap(\.recomputation) where keys[one.purpose] == nil {
                keys[one.purpose] = try KeyTable(one.purpose, on: connection)
                recomputations.append(one)
            }
            for trigger in triggers { try connection.execute(trigger.temporaryCreation) }
            try connection.setTriggersRun(false)
        } catch {
            end()
            throw error
        }
    }

    /// Computes the aggregates of the collected objects.
    ///
    /// - Throws: SQLite's errors.
    func compute() throws {
        // An aggregate may be one of aggregates: of several that depend on one another, each round completes one.
        for _ in recomputations {
            var isDone = true
            for one in recomputations {
                guard let table = keys[one.purpose], try connection.integer(table.sql.count) ?? 0 > 0 else { continue }
                isDone = false
                for statement in one.statements { try connection.execute(statement) }
                try connection.run(table.sql.clear)
            }
            if isDone { break }
        }
        end()
    }

    /// Lets the store's own triggers run again. To be called in any case.
    func end() {
        guard isActive else { return }
        isActive = false
        store.collectsAggregates = false
        try? connection.setTriggersRun(true)
        for trigger in triggers { try? connection.execute("DROP TRIGGER IF EXISTS temp.\(quoted(trigger.name))") }
    }
}

extension OpenStore {
    /// Whether changes of rows in some tables run triggers, by which aggregates may change that can be computed later:
    /// those of the rows' owners, or of values that a trigger changes in turn.
    func hasAggregates(of tables: Set<String>) -> Bool {
        guard hasDerivedAttributes else { return false }
        let triggers = deferrableTriggers
        guard triggers.contains(where: { $0.recomputation != nil }) else { return false }
        let endings = tables.map { " ON \(quoted($0))" }
        return triggers.contains { endings.contains(where: $0.event.hasSuffix) }
    }

    /// The triggers of derived attributes, if the store has these, and no others that would have to run as well.
    func findDeferrableTriggers() throws -> [TriggerDefinition] {
        guard connection.separatesTemporaryTriggers else { return [] }
        let triggers = try schema.derivedAttributeTriggers()
        var creations: Set<String> = []
        let statement = try connection.prepare("SELECT sql FROM sqlite_master WHERE type = 'trigger'")
        while try statement.step() { creations.insert(statement.string(at: 0)) }
        return creations == Set(triggers.map(\.creation)) ? triggers : []
    }
}

// The files that become superfluous when columns with external storage are overwritten.
//
// In a store that an earlier build migrated, two columns of a row may name one file, which then stays for the other.
extension OpenStore {
    /// Records the files that a change of one row makes superfluous.
    ///
    /// - Parameters:
    ///   - access: the entity and its tables.
    ///   - slots: the changed properties; nil if the row is deleted.
    ///   - key: the row's key.
    ///   - files: records the files.
    /// - Throws: SQLite's errors.
    func noteFiles(of access: EntityAccess, _ slots: [Int]?, inRow key: Int64, _ files: ExternalFiles) throws {
        let external = access.writer.externalSlots
        if external.isEmpty { return }
        let changed = external.filter { slots?.contains($0) ?? true }
        let references = try columns(of: changed, access).compactMap { try fileReference(of: access, $0, inRow: key) }
        if references.isEmpty { return }
        let kept = try columns(of: external.filter { !changed.contains($0) }, access).compactMap {
            try fileReference(of: access, $0, inRow: key)
        }
        for reference in references where !kept.contains(reference) { try files.replaced(reference) }
    }

    /// The columns of slots whose values may be in files.
    private func columns(of slots: [Int], _ access: EntityAccess) -> [String] {
        slots.flatMap { access.mapping.columns[$0]?.externalColumns ?? [] }
    }

    /// The bytes of a column, if they name a file.
    private func fileReference(of access: EntityAccess, _ column: String, inRow key: Int64) throws -> Data? {
        let statement = try connection.statement(access.selectText(column))
        defer { statement.reset() }
        try statement.bind(key, at: 1)
        guard try statement.step() else { return nil }
        let bytes = statement.data(at: 0)
        return ExternalData.fileName(in: bytes) == nil ? nil : bytes
    }

    /// Records the files that a change of rows makes superfluous.
    ///
    /// - Parameters:
    ///   - access: the entity and its tables.
    ///   - slots: the changed properties with external storage.
    ///   - condition: the condition on the rows of the entity's table `t`.
    ///   - files: records the files.
    /// - Throws: SQLite's errors.
    func noteFiles(
        of access: EntityAccess, _ slots: [Int], where condition: SQLFragment, _ files: ExternalFiles
    ) throws {
        let kept = columns(of: access.writer.externalSlots.filter { !slots.contains($0) }, access)
        for column in columns(of: slots, access) {
            let statement = try connection.prepare(
                ExternalFileSQL.references(column, in: access.mapping.table, butNotIn: kept, where: condition))
            while try statement.step() { try files.replaced(statement.data(at: 0)) }
        }
    }
}
