import Foundation
import SQLiteConnection

/// Writes the persistent history: a row of `ATRANSACTION` for a save, one of `ACHANGE` for each changed object, and the
/// names of the author, the context, the program and the process once each in `ATRANSACTIONSTRING`.
final class HistoryWriter {
    private let connection: Connection
    private let bundleIdentifier: String?

    /// What happened to an object: `ZCHANGETYPE`.
    private enum ChangeType: Int64 {
        case insert = 0
        case update = 1
        case delete = 2
    }

    private enum Entity: Int64 {
        case change = 16001
        case transaction = 16002
        case string = 16003
    }

    init(connection: Connection, bundleIdentifier: String?) {
        self.connection = connection
        self.bundleIdentifier = bundleIdentifier
    }

    /// Makes the history's tables in a store that has none.
    static func createTables(in file: StoreFile) throws {
        try file.run("make the history of", fallback: CoreDataErrorCode.persistentStoreOpen) {
            try file.connection.transaction {
                let known = try file.connection.tableNames()
                // Another process may have been faster.
                guard !known.contains("ATRANSACTION") else { return }
                for statement in StoreTables.history { try file.connection.execute(statement) }
                for entity in StoreTables.historyEntities {
                    let insert = try file.connection.statement(
                        RowSQL.insertEntity.text.replacing("INSERT", with: "INSERT OR IGNORE", maxReplacements: 1))
                    try insert.bind(Int64(entity.number), at: 1)
                    try insert.bind(entity.name, at: 2)
                    try insert.bind(Int64(0), at: 3)
                    try insert.bind(Int64(0), at: 4)
                    try insert.run()
                }
            }
        }
    }

    /// Writes down a save, inside its transaction.
    func record(_ changes: ChangeSet, schema: SQLSchema) throws {
        let count = changes.inserted.count + changes.updated.count + changes.deleted.count
        guard count > 0 else { return }
        let transaction = try insertTransaction(changes)
        var key = try reserve(Int64(count), of: .change)
        let insert = try connection.statement(
            RowSQL.insert(
                into: "ACHANGE",
                ["Z_PK", "Z_ENT", "ZCHANGETYPE", "ZENTITY", "ZENTITYPK", "ZTRANSACTIONID", "ZCOLUMNS"]
            ).text)
        func write(_ type: ChangeType, _ identifier: NSManagedObjectID, columns: Data? = nil) throws {
            key += 1
            try insert.bind(key, at: 1)
            try insert.bind(Entity.change.rawValue, at: 2)
            try insert.bind(type.rawValue, at: 3)
            let number = schema.mapping(of: identifier.layout)?.number ?? identifier.layout.number
            try insert.bind(Int64(number), at: 4)
            try insert.bind(identifier.key, at: 5)
            try insert.bind(transaction, at: 6)
            if let columns { try insert.bind(columns, at: 7) }
            try insert.run()
        }
        for change in changes.inserted { try write(.insert, change.objectID) }
        // Most updates of a save change the same properties.
        var latest: (layout: EntityLayout, slots: [Int], mask: Data)?
        for change in changes.updated {
            if let latest, latest.layout === change.objectID.layout, latest.slots == change.changedSlots,
                change.toManyChanges.isEmpty
            {
                try write(.update, change.objectID, columns: latest.mask)
                continue
            }
            let mask = Self.mask(of: change)
            if change.toManyChanges.isEmpty { latest = (change.objectID.layout, change.changedSlots, mask) }
            try write(.update, change.objectID, columns: mask)
        }
        for deletion in changes.deleted { try write(.delete, deletion.objectID) }
    }

    /// Which properties an update changed: a bit for each property that is stored, in the order of their names.
    ///
    /// Which bit Apple gives to which property is not documented; this is our reading of it.
    private static func mask(of change: RowChange) -> Data {
        let layout = change.objectID.layout
        let names = layout.slots.filter { !$0.isTransient }.map(\.name) + layout.toManys.map(\.name)
        let sorted = names.sorted()
        var bytes = [UInt8](repeating: 0, count: (sorted.count + 7) / 8)
        let changed = change.changedSlots.map { layout.slots[$0].name } + change.toManyChanges.map(\.relationship.name)
        for name in changed {
            guard let bit = sorted.firstIndex(of: name) else { continue }
            bytes[bit / 8] |= 1 << UInt8(bit % 8)
        }
        return Data(bytes)
    }

    private func insertTransaction(_ changes: ChangeSet) throws -> Int64 {
        let author = try changes.author.map { try string($0) }
        let context = try changes.contextName.map { try string($0) }
        let process = try string(ProcessInfo.processInfo.processName)
        let bundle = try string(bundleIdentifier ?? ProcessInfo.processInfo.processName)
        let key = try reserve(1, of: .transaction) + 1
        let insert = try connection.statement(
            RowSQL.insert(
                into: "ATRANSACTION",
                [
                    "Z_PK", "Z_ENT", "ZAUTHORTS", "ZBUNDLEIDTS", "ZCONTEXTNAMETS", "ZPROCESSIDTS", "ZTIMESTAMP",
                ]
            ).text)
        try insert.bind(key, at: 1)
        try insert.bind(Entity.transaction.rawValue, at: 2)
        if let author { try insert.bind(author, at: 3) }
        try insert.bind(bundle, at: 4)
        if let context { try insert.bind(context, at: 5) }
        try insert.bind(process, at: 6)
        try insert.bind(Date().timeIntervalSinceReferenceDate, at: 7)
        try insert.run()
        return key
    }

    /// The key of a name, which is written when it is new.
    private func string(_ name: String) throws -> Int64 {
        let select = try connection.statement("SELECT Z_PK FROM ATRANSACTIONSTRING WHERE ZNAME = ?")
        try select.bind(name, at: 1)
        let known = try select.step() ? select.integer(at: 0) : nil
        select.reset()
        if let known { return known }
        let key = try reserve(1, of: .string) + 1
        let insert = try connection.statement(
            RowSQL.insert(into: "ATRANSACTIONSTRING", ["Z_PK", "Z_ENT", "ZNAME"]).text)
        try insert.bind(key, at: 1)
        try insert.bind(Entity.string.rawValue, at: 2)
        try insert.bind(name, at: 3)
        try insert.run()
        return key
    }

    /// Hands out keys of a history table.
    ///
    /// - Returns: the key before the first one.
    private func reserve(_ count: Int64, of entity: Entity) throws -> Int64 {
        try connection.reserveKeys(count, entity: entity.rawValue)
    }
}

extension Connection {
    /// Hands out primary keys, inside a transaction.
    ///
    /// - Returns: the key before the first one.
    func reserveKeys(_ count: Int64, entity: Int64) throws -> Int64 {
        let read = try statement(RowSQL.readMaximumKey.text)
        try read.bind(entity, at: 1)
        guard try read.step() else {
            read.reset()
            throw StoreError.make(
                CocoaError.Code.fileReadCorruptFile.rawValue, "Z_PRIMARYKEY has no row for entity number \(entity).")
        }
        let maximum = read.integer(at: 0)
        read.reset()
        let write = try statement(RowSQL.writeMaximumKey.text)
        try write.bind(maximum + count, at: 1)
        try write.bind(entity, at: 2)
        try write.run()
        return maximum
    }
}
