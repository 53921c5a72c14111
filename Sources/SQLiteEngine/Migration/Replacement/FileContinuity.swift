import CoreDataModel
import Foundation
import MigrationPlans
import SQLGeneration
import SQLiteConnection
import StoreEngine

/// Makes a store that was migrated object by object a continuation of the old one: with its UUID, keys that are never
/// used twice, and its history.
struct FileContinuity: StoreContinuity {
    private let url: URL
    private let uuid: String?
    /// The greatest key that the store has given out.
    package let greatestKey: Int64
    private let timeout: Double
    /// The bytes in a page of the database.
    package let pageSize: Int64

    package init(_ url: URL, timeout: Double) throws {
        self.url = url
        self.timeout = timeout
        let file = try StoreFile.openForReading(url, timeout: timeout)
        uuid = try file.metadata()[NSStoreUUIDKey] as? String
        (greatestKey, pageSize) = try file.run("prepare the migration of") {
            (
                try file.connection.integer(StoreTablesSQL.greatestKey) ?? 0,
                try file.connection.integer("PRAGMA page_size") ?? 4096
            )
        }
    }

    package func options(_ options: [AnyHashable: Any]) -> [AnyHashable: Any] {
        var options = options
        var pragmas = options[NSSQLitePragmasOption] as? [String: Any] ?? [:]
        // A database in write-ahead mode can only be replaced by one with pages of the same size.
        pragmas["page_size"] = pageSize
        options[NSSQLitePragmasOption] = pragmas
        return options
    }

    package func carry(to place: URL, _ mapping: ObjectMapping) throws {
        let file = try StoreFile.open(place, mode: .readWrite, timeout: timeout)
        var metadata = try file.metadata()
        metadata[NSStoreUUIDKey] = uuid
        try file.write(metadata)
        try HistoryTransfer(mapping).run(from: url, to: file)
    }
}

/// Copies the history of a store to the store that its objects were migrated to.
///
/// Changes then refer to the objects that the changed ones became; changes of deleted objects keep their keys, which no
/// new object has; changes of objects whose entity is not migrated are dropped.
package struct HistoryTransfer {
    /// Which object became which.
    let mapping: ObjectMapping

    package init(_ mapping: ObjectMapping) { self.mapping = mapping }

    /// Copies the history in one transaction; it does nothing if there is none.
    func run(from store: URL, to file: StoreFile) throws {
        try file.run("carry the history into", fallback: CoreDataErrorCode.migration) {
            let connection = file.connection
            try connection.execute("ATTACH DATABASE \(literal(store.path)) AS old")
            // It is detached with the connection at the latest.
            defer { try? connection.execute("DETACH DATABASE old") }
            if try !rows(connection, "SELECT name FROM old.sqlite_master WHERE name = \(literal(NoteSQL.table))")
                .isEmpty
            {
                try connection.execute(NoteSQL.create)
                try connection.execute(NoteSQL.copy(from: "old", to: "main"))
            }
            let names = ["ATRANSACTION", "ACHANGE", "ATRANSACTIONSTRING"]
            let list = names.map(literal).joined(separator: ", ")
            let schema = try rows(
                connection,
                "SELECT sql FROM old.sqlite_master WHERE tbl_name IN (\(list)) AND sql NOT NULL ORDER BY type DESC")
            guard !schema.isEmpty else { return }
            let changes = try changes(connection)
            try register(changes, on: connection)
            // An immediate transaction would also wait for the right to write to the old store, which the migration
            // keeps for itself.
            try connection.transaction(.deferred) {
                for name in names { try connection.execute("DROP TABLE IF EXISTS main.\(name)") }
                for statement in schema { try connection.execute(statement) }
                let present = try connection.tableNames()
                for name in names where present.contains(name) { try connection.run(Self.sql.copy(name)) }
                for statement in Self.sql.numbers { try connection.run(statement) }
                guard present.contains("ACHANGE") else { return }
                var columns = Set(try connection.columnNames(ofTable: "ACHANGE"))
                // Deleted objects became nothing, so that they are of the usual entity.
                for entity in changes {
                    let statements = HistoryTombstones.statements(
                        from: entity.layout, to: entity.usual.layout, number: entity.number, columns: &columns
                    ) { entity.usual.sources[$0] }
                    for statement in statements { try connection.execute(statement) }
                }
                try translate(changes, connection)
            }
        }
    }

    private static let sql = HistoryTransferSQL(from: "old", to: "main", entities: "_T_ENTITIES", keys: "_T_KEYS")

    private func rows(_ connection: Connection, _ sql: String) throws -> [String] {
        let statement = try connection.prepare(sql)
        var rows: [String] = []
        while try statement.step() { rows.append(statement.string(at: 0)) }
        return rows
    }

    // MARK: Changes

    private func translate(_ changes: [EntityChanges], _ connection: Connection) throws {
        try connection.execute("CREATE TEMP TABLE _T_ENTITIES (OLD INTEGER PRIMARY KEY, NEW INTEGER)")
        try connection.execute(
            "CREATE TEMP TABLE _T_KEYS (OLD INTEGER, OLDPK INTEGER, NEW INTEGER, NEWPK INTEGER, PRIMARY KEY (OLD, OLDPK))"
        )
        let insertEntity = try connection.prepare(Self.sql.insertEntity)
        let insert = try connection.prepare(Self.sql.insertKey)
        for entity in changes {
            try insertEntity.bind(Int64(entity.number), at: 1)
            try insertEntity.bind(Int64(entity.usual.number), at: 2)
            try insertEntity.run()
            for pairs in entity.pairs {
                guard let successor = entity.successors[pairs.destination.layout.name] else { continue }
                for (source, destination) in zip(pairs.sources.keys, pairs.destinations.keys) {
                    try insert.bind(Int64(entity.number), at: 1)
                    try insert.bind(source, at: 2)
                    try insert.bind(Int64(successor.number), at: 3)
                    try insert.bind(destination, at: 4)
                    try insert.run()
                }
            }
        }
        for statement in Self.sql.translation { try connection.run(statement) }
        try connection.execute("DROP TABLE _T_ENTITIES; DROP TABLE _T_KEYS")
    }

    private func numbers(_ connection: Connection, isOld: Bool) throws -> [String: Int] {
        let statement = try connection.prepare(Self.sql.entityNumbers(isOld: isOld))
        var numbers: [String: Int] = [:]
        while try statement.step() { numbers[statement.string(at: 0)] = Int(statement.integer(at: 1)) }
        return numbers
    }

    /// What becomes of the changes of each entity.
    private func changes(_ connection: Connection) throws -> [EntityChanges] {
        let former = StoreCatalog(numbers: try numbers(connection, isOld: true), tables: [:])
        return try EntityChanges.all(
            of: mapping, numbered: former.numbers(for: mapping.source),
            numbered: try numbers(connection, isOld: false))
    }

    /// Registers the conversion of masks of changed properties, by the entity's numbers before and after.
    private func register(_ changes: [EntityChanges], on connection: Connection) throws {
        var masks: [Int64: [Int64: (Data) -> Data?]] = [:]
        for entity in changes {
            for successor in entity.successors.values {
                masks[Int64(entity.number), default: [:]][Int64(successor.number)] = entity.masks(for: successor)
            }
        }
        let converters = masks
        try connection.register(function: SQLFunctionName.changedProperties, argumentCount: 3) { arguments in
            guard let data = arguments.data(at: 2),
                let convert = converters[arguments.integer(at: 0)]?[arguments.integer(at: 1)]
            else { return .null }
            return convert(data).map(FunctionResult.blob) ?? .null
        }
    }
}
