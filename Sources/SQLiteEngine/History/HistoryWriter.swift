import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

/// Writes the persistent history: a row of `ATRANSACTION` for each save, a row of `ACHANGE` for each changed object,
/// and in `ATRANSACTIONSTRING` the names of the author, the context, the program and the process, each once.
final class HistoryWriter {
    let connection: Connection
    private let bundleIdentifier: String?
    /// Who writes the transactions that name nobody.
    private let author: String?
    /// Whether what rows were before is kept.
    let keepsValues: Bool
    private let schema: SQLSchema
    private var knownProperties: [ObjectIdentifier: HistoryProperties] = [:]
    private var tombstoneTexts: [ObjectIdentifier: String] = [:]

    init(
        connection: Connection, schema: SQLSchema, bundleIdentifier: String?, author: String? = nil,
        keepsValues: Bool = false
    ) {
        self.connection = connection
        self.schema = schema
        self.bundleIdentifier = bundleIdentifier
        (self.author, self.keepsValues) = (author, keepsValues)
    }

    /// A writer for the same store after its entities were renumbered.
    func following(_ schema: SQLSchema) -> HistoryWriter {
        HistoryWriter(
            connection: connection, schema: schema, bundleIdentifier: bundleIdentifier, author: author,
            keepsValues: keepsValues)
    }

    /// The numbering of an entity's properties.
    func properties(of layout: EntityLayout) -> HistoryProperties {
        if let known = knownProperties[ObjectIdentifier(layout)] { return known }
        let properties = HistoryProperties(layout)
        knownProperties[ObjectIdentifier(layout)] = properties
        return properties
    }

    /// The number of an entity in this store.
    func number(of layout: EntityLayout) -> Int64 { Int64(schema.mapping(of: layout)?.number ?? layout.number) }

    /// Begins a transaction of the history inside one of the database. Nothing is written before the first change.
    func begin(_ origin: ChangeOrigin) -> HistoryRun { HistoryRun(self, origin) }

    /// Records a save, inside its transaction.
    ///
    /// - Parameters:
    ///   - changes: the changes of the save.
    ///   - tombstones: the preserved values of deleted objects, by position among the deletions.
    ///   - former: what changed and deleted rows were before.
    /// - Throws: SQLite's errors.
    func record(_ changes: ChangeSet, tombstones: [Int: [SQLValue]], former: [NSManagedObjectID: Data]) throws {
        let run = begin(ChangeOrigin(contextName: changes.contextName, author: changes.author))
        for change in changes.inserted { try run.note(.insert, change.objectID) }
        // Most updates of a save change the same properties.
        var latest: (layout: EntityLayout, slots: [Int], mask: Data)?
        for change in changes.updated {
            if let latest, latest.layout === change.objectID.layout, latest.slots == change.changedSlots,
                change.toManyChanges.isEmpty
            {
                try run.note(.update, change.objectID, columns: latest.mask, former: former[change.objectID])
                continue
            }
            let layout = change.objectID.layout
            let names =
                change.changedSlots.map { layout.slots[$0].name } + change.toManyChanges.map(\.relationship.name)
            let mask = properties(of: layout).mask(of: names)
            if change.toManyChanges.isEmpty { latest = (layout, change.changedSlots, mask) }
            try run.note(.update, change.objectID, columns: mask, former: former[change.objectID])
        }
        for (position, deletion) in changes.deleted.enumerated() {
            try run.note(
                .delete, deletion.objectID, tombstone: tombstones[position] ?? [], former: former[deletion.objectID])
        }
        try run.finish()
    }

    /// The values of deleted objects that the model preserves, read before they are deleted: in their stored form, by
    /// position among the deletions.
    func tombstones(of deletions: [RowDeletion]) throws -> [Int: [SQLValue]] {
        var tombstones: [Int: [SQLValue]] = [:]
        for (position, deletion) in deletions.enumerated() {
            let layout = deletion.objectID.layout
            guard let mapping = schema.mapping(of: layout) else { continue }
            let columns = tombstoneColumns(of: mapping)
            guard !columns.isEmpty else { continue }
            let select = try connection.statement(tombstoneText(of: mapping, columns))
            try select.bind(deletion.objectID.key, at: 1)
            if try select.step() { tombstones[position] = columns.indices.map { select.value(at: Int32($0)) } }
            select.reset()
        }
        return tombstones
    }

    /// The statement that reads an object's preserved values: made once, however many objects are deleted.
    private func tombstoneText(of mapping: EntityMapping, _ columns: [String]) -> String {
        if let known = tombstoneTexts[ObjectIdentifier(mapping)] { return known }
        let text = ColumnSQL.select(columns, in: mapping.table).sqlite.text
        tombstoneTexts[ObjectIdentifier(mapping)] = text
        return text
    }

    /// The columns of an entity whose values a deletion preserves, in the order of `ZTOMBSTONE0`, `ZTOMBSTONE1`, ….
    func tombstoneColumns(of mapping: EntityMapping) -> [String] {
        properties(of: mapping.layout).preservedSlots.compactMap { mapping.columns[$0]?.name }
    }

    // Made once, since each save needs them.
    private static let insertTransaction = HistoryRowSQL.insertTransaction.sqlite.text
    private static let selectName = HistoryRowSQL.selectName.sqlite.text
    private static let insertName = HistoryRowSQL.insertName.sqlite.text

    /// Writes the row of a transaction.
    ///
    /// - Returns: the transaction's number.
    func insertTransaction(_ origin: ChangeOrigin) throws -> Int64 {
        let author = try (origin.author ?? author).map { try string($0) }
        let context = try origin.contextName.map { try string($0) }
        let process = try string(ProcessInfo.processInfo.processName)
        let bundle = try string(bundleIdentifier ?? ProcessInfo.processInfo.processName)
        let key = try KeyCounter(connection, .transaction).reserve(1) + 1
        let insert = try connection.statement(Self.insertTransaction)
        try insert.bind(key, at: 1)
        try insert.bind(HistoryEntity.transaction.rawValue, at: 2)
        if let author { try insert.bind(author, at: 3) }
        try insert.bind(bundle, at: 4)
        if let context { try insert.bind(context, at: 5) }
        try insert.bind(process, at: 6)
        try insert.bind(Date().timeIntervalSinceReferenceDate, at: 7)
        try insert.run()
        return key
    }

    /// The key of a name, which is inserted if it is new.
    private func string(_ name: String) throws -> Int64 {
        let select = try connection.statement(Self.selectName)
        try select.bind(name, at: 1)
        let known = try select.step() ? select.integer(at: 0) : nil
        select.reset()
        if let known { return known }
        let key = try KeyCounter(connection, .string).reserve(1) + 1
        let insert = try connection.statement(Self.insertName)
        try insert.bind(key, at: 1)
        try insert.bind(HistoryEntity.string.rawValue, at: 2)
        try insert.bind(name, at: 3)
        try insert.run()
        return key
    }
}

/// One transaction of the history that is being written.
final class HistoryRun {
    private let writer: HistoryWriter
    private let origin: ChangeOrigin
    /// The number of the transaction, once it contains a change.
    private var transaction: Int64?
    private var lastKey: Int64 = 0
    private var insertions: [Int: Statement] = [:]

    init(_ writer: HistoryWriter, _ origin: ChangeOrigin) {
        self.writer = writer
        self.origin = origin
    }

    /// Writes one change.
    ///
    /// - Parameters:
    ///   - type: whether the object was inserted, updated or deleted.
    ///   - identifier: the object's ID.
    ///   - columns: the properties that an update changed.
    ///   - tombstone: the values that a deletion keeps.
    ///   - former: what the row was before.
    /// - Throws: SQLite's errors.
    func note(
        _ type: HistoryChangeKind, _ identifier: NSManagedObjectID, columns: Data? = nil, tombstone: [SQLValue] = [],
        former: Data? = nil
    ) throws {
        let transaction = try openTransaction()
        let insert = try insertion(tombstone.count)
        lastKey += 1
        try insert.bind(lastKey, at: 1)
        try insert.bind(HistoryEntity.change.rawValue, at: 2)
        try insert.bind(type.rawValue, at: 3)
        try insert.bind(writer.number(of: identifier.layout), at: 4)
        try insert.bind(identifier.key, at: 5)
        try insert.bind(transaction, at: 6)
        if let columns { try insert.bind(columns, at: 7) }
        for (index, value) in tombstone.enumerated() { try insert.bind(value, at: Int32(8 + index)) }
        try insert.run()
        guard let former else { return }
        let keep = try writer.connection.statement(FormerValueSQL.insert)
        try keep.bind(lastKey, at: 1)
        try keep.bind(former, at: 2)
        try keep.run()
    }

    /// Writes a change for each selected row of an entity: `INSERT INTO ACHANGE … SELECT …`.
    ///
    /// - Parameters:
    ///   - type: whether the rows were inserted, updated or deleted.
    ///   - mapping: the entity; rows of its subentities are not included.
    ///   - condition: the condition on the rows of the entity's table `t`.
    ///   - columns: the properties that an update changed.
    /// - Throws: SQLite's errors.
    func noteRows(
        _ type: HistoryChangeKind, of mapping: EntityMapping, where condition: SQLFragment, columns: Data? = nil
    ) throws {
        let kept = type == .delete ? writer.tombstoneColumns(of: mapping) : []
        let transaction = try openTransaction()
        let insert = try writer.connection.statement(
            HistoryRowSQL.insertChanges(of: mapping, keeping: kept, where: condition))
        try insert.bind(lastKey, at: 1)
        try insert.bind(HistoryEntity.change.rawValue, at: 2)
        try insert.bind(type.rawValue, at: 3)
        try insert.bind(transaction, at: 4)
        if let columns { try insert.bind(columns, at: 5) }
        try insert.bind(Int64(mapping.number), at: 6)
        try insert.run()
        lastKey += Int64(writer.connection.changes)
    }

    /// Stores the highest key of the changes. It must be called once, at the end.
    func finish() throws {
        guard transaction != nil else { return }
        try KeyCounter(writer.connection, .change).setLatest(lastKey)
    }

    private func openTransaction() throws -> Int64 {
        if let transaction { return transaction }
        let number = try writer.insertTransaction(origin)
        lastKey = try KeyCounter(writer.connection, .change).latest()
        transaction = number
        return number
    }

    private func insertion(_ tombstones: Int) throws -> Statement {
        if let known = insertions[tombstones] { return known }
        let statement = try writer.connection.statement(HistoryRowSQL.insertChange(tombstones: tombstones))
        insertions[tombstones] = statement
        return statement
    }
}
