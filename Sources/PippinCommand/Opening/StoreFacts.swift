import CoreData
import KeyedArchives
import SQLiteConnection

/// What a store's file says of itself, before there is a model.
struct StoreFacts {
    let uuid: String
    let metadata: [String: PropertyList]
    /// The store's copy of its model; nil where it keeps none.
    let modelCache: Data?
    /// How many changes and transactions its persistent history has; nil without a history.
    let history: (changes: Int64, transactions: Int64)?

    /// Reads a copy of the store at `original`.
    ///
    /// - Throws: `CommandError` naming the store: damaged, or no store of Core Data's.
    init(copy: URL, original: URL) throws {
        do {
            let connection = try Connection(path: copy.path, mode: .readWrite)
            let tables = try connection.tableNames()
            guard tables.contains("Z_METADATA"), tables.contains("Z_PRIMARYKEY") else {
                let missing = tables.contains("Z_METADATA") ? "Z_PRIMARYKEY" : "Z_METADATA"
                throw CommandError(
                    "“\(original.path)” is an SQLite database but no Core Data store: it has no table \(missing)")
            }
            let statement = try connection.prepare("SELECT Z_UUID, Z_PLIST FROM Z_METADATA LIMIT 1")
            guard try statement.step() else {
                throw CommandError("“\(original.path)” has no metadata: the table Z_METADATA is empty")
            }
            uuid = statement.string(at: 0)
            metadata = try Self.metadata(statement.data(at: 1), original)
            modelCache = try Self.modelCache(connection, tables)
            history =
                tables.isSuperset(of: ["ACHANGE", "ATRANSACTION"])
                ? (
                    try connection.integer("SELECT count(*) FROM ACHANGE") ?? 0,
                    try connection.integer("SELECT count(*) FROM ATRANSACTION") ?? 0
                ) : nil
        } catch let error as SQLiteError {
            let damage = error.isCorrupt ? " is damaged or cut off" : " cannot be read"
            throw CommandError("“\(original.path)”\(damage): \(error.message)")
        }
    }

    private static func metadata(_ data: Data, _ original: URL) throws -> [String: PropertyList] {
        do {
            guard let fields = try PropertyList(binary: data).dictionaryValue else {
                throw CommandError("“\(original.path)” has damaged metadata: Z_METADATA.Z_PLIST is no dictionary")
            }
            return fields
        } catch let error as PropertyListError {
            throw CommandError("“\(original.path)” has damaged metadata (Z_METADATA.Z_PLIST): \(error.description)")
        }
    }

    private static func modelCache(_ connection: Connection, _ tables: Set<String>) throws -> Data? {
        guard tables.contains("Z_MODELCACHE") else { return nil }
        let statement = try connection.prepare("SELECT Z_CONTENT FROM Z_MODELCACHE LIMIT 1")
        guard try statement.step() else { return nil }
        let data = statement.data(at: 0)
        return data.isEmpty ? nil : data
    }

    /// The version hashes of the entities.
    var versionHashes: [String: Data] {
        metadata["NSStoreModelVersionHashes"]?.dictionaryValue?.compactMapValues(\.dataValue) ?? [:]
    }

    /// The identifiers of the model's version, those that say something.
    var versionIdentifiers: [String] {
        (metadata["NSStoreModelVersionIdentifiers"]?.arrayValue ?? []).compactMap(\.stringValue).filter { !$0.isEmpty }
    }
}
