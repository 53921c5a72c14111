import CoreDataModel
import Foundation
import MigrationPlans
import Ordering
import SQLGeneration
import SQLMigration
import SQLiteConnection
import SQLiteEngine
import StoreEngine

/// Copies the history of a store to the store that its objects were migrated to.
///
/// Changes then refer to the objects that the changed ones became; changes of deleted objects keep their keys, which no
/// new object has; changes of objects whose entity is not migrated are dropped.
package struct HistoryTransfer {
    let mapping: NSMappingModel
    let source: NSManagedObjectModel
    let destination: NSManagedObjectModel
    /// Which object became which.
    let keyPairs: [KeyPairs]

    package init(
        mapping: NSMappingModel, source: NSManagedObjectModel, destination: NSManagedObjectModel,
        keyPairs: [KeyPairs]
    ) {
        (self.mapping, self.source, self.destination, self.keyPairs) = (mapping, source, destination, keyPairs)
    }

    /// Copies the history in one transaction; it does nothing if there is none.
    func run(from store: URL, to file: StoreFile) throws {
        try file.run("carry the history into", fallback: CoreDataErrorCode.migration) {
            let connection = file.connection
            try connection.execute("ATTACH DATABASE \(literal(store.path)) AS old")
            // It is detached with the connection at the latest.
            defer { try? connection.execute("DETACH DATABASE old") }
            let names = ["ATRANSACTION", "ACHANGE", "ATRANSACTIONSTRING"]
            let list = names.map(literal).joined(separator: ", ")
            let schema = try rows(
                connection,
                "SELECT sql FROM old.sqlite_master WHERE tbl_name IN (\(list)) AND sql NOT NULL ORDER BY type DESC")
            guard !schema.isEmpty else { return }
            let reshapings = try reshapings(connection)
            try register(reshapings, on: connection)
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
                for entity in reshapings {
                    let statements = HistoryTombstones.statements(
                        from: entity.former, to: entity.layout, number: entity.number, columns: &columns
                    ) { entity.sources[$0] }
                    for statement in statements { try connection.execute(statement) }
                }
                try translate(connection)
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

    private func translate(_ connection: Connection) throws {
        let (old, new) = (try formerNumbers(connection), try numbers(connection, isOld: false))
        try connection.execute("CREATE TEMP TABLE _T_ENTITIES (OLD INTEGER PRIMARY KEY, NEW INTEGER)")
        try connection.execute(
            "CREATE TEMP TABLE _T_KEYS (OLD INTEGER, OLDPK INTEGER, NEW INTEGER, NEWPK INTEGER, PRIMARY KEY (OLD, OLDPK))"
        )
        let insertEntity = try connection.prepare(Self.sql.insertEntity)
        for (from, to) in entityNames() {
            guard let former = old[from], let number = new[to] else { continue }
            try insertEntity.bind(Int64(former), at: 1)
            try insertEntity.bind(Int64(number), at: 2)
            try insertEntity.run()
        }
        let insert = try connection.prepare(Self.sql.insertKey)
        for pairs in keyPairs {
            guard let former = old[pairs.source.layout.name], let number = new[pairs.destination.layout.name] else {
                continue
            }
            for (source, destination) in zip(pairs.sources.keys, pairs.destinations.keys) {
                try insert.bind(Int64(former), at: 1)
                try insert.bind(source, at: 2)
                try insert.bind(Int64(number), at: 3)
                try insert.bind(destination, at: 4)
                try insert.run()
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

    private func formerNumbers(_ connection: Connection) throws -> [String: Int] {
        StoreCatalog(numbers: try numbers(connection, isOld: true), tables: [:]).numbers(for: source)
    }

    /// The destination of each source entity: that of its first mapping.
    private func entityNames() -> [String: String] {
        var names: [String: String] = [:]
        for entity in mapping.entityMappings ?? [] {
            guard let from = entity.sourceEntityName, let to = entity.destinationEntityName else { continue }
            if names[from] == nil { names[from] = to }
        }
        return names
    }

    /// The entities of both versions whose changes are copied, with the sources of the properties.
    private func reshapings(_ connection: Connection) throws -> [Reshaping] {
        let numbers = try formerNumbers(connection)
        let (before, after) = (try source.compiledLayout(), try destination.compiledLayout())
        return entityNames().ordered { $0.key < $1.key }.compactMap { from, to in
            guard let number = numbers[from], let former = before.entityByName[from],
                let layout = after.entityByName[to],
                let entity = mapping.entityMappings?.first(where: {
                    $0.sourceEntityName == from && $0.destinationEntityName == to
                })
            else { return nil }
            return Reshaping(number: number, former: former, layout: layout, sources: entity.sourceNames)
        }
    }

    private struct Reshaping {
        let number: Int
        let former: EntityLayout
        let layout: EntityLayout
        let sources: [String: String]
    }

    /// Registers the conversion of masks of changed properties, by the source's entity numbers.
    private func register(_ reshapings: [Reshaping], on connection: Connection) throws {
        var masks: [Int64: (Data) -> Data?] = [:]
        for entity in reshapings {
            let (former, now) = (HistoryProperties(entity.former), HistoryProperties(entity.layout))
            masks[Int64(entity.number)] = { HistoryMask.converted($0, from: former, to: now) { entity.sources[$0] } }
        }
        let converters = masks
        try connection.register(function: SQLFunctionName.changedProperties, argumentCount: 2) { arguments in
            guard let data = arguments.data(at: 1), let convert = converters[arguments.integer(at: 0)] else {
                return .null
            }
            return convert(data).map(FunctionResult.blob) ?? .null
        }
    }
}
