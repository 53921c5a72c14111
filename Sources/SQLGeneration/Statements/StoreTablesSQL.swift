import CoreDataModel

/// The statements that read and write a store's own description: metadata, the copy of its model, the numbers of its
/// entities. Pure; bound values have placeholders.
package enum StoreTablesSQL {
    private static let placeholder = SQLFragment(.placeholder)

    // MARK: Metadata

    /// `SELECT Z_UUID, Z_PLIST FROM Z_METADATA LIMIT 1`
    package static let metadata: SQLFragment = "SELECT Z_UUID, Z_PLIST FROM Z_METADATA LIMIT 1"

    /// `SELECT Z_VERSION FROM Z_METADATA`
    package static let version: SQLFragment = "SELECT Z_VERSION FROM Z_METADATA"

    /// `INSERT INTO Z_METADATA (Z_VERSION, Z_UUID, Z_PLIST) VALUES (1, ?, ?)`
    package static let insertMetadata: SQLFragment =
        "INSERT INTO Z_METADATA (Z_VERSION, Z_UUID, Z_PLIST) VALUES (1, \(placeholder), \(placeholder))"

    /// `UPDATE Z_METADATA SET Z_PLIST = ?`
    package static let updateMetadata: SQLFragment = "UPDATE Z_METADATA SET Z_PLIST = \(placeholder)"

    /// The same with the UUID, which stays if NULL is bound: `… , Z_UUID = IFNULL(?, Z_UUID)`.
    package static let updateMetadataAndUUID: SQLFragment =
        "\(updateMetadata), Z_UUID = \(.call(.ifNull, placeholder, "Z_UUID"))"

    // MARK: The copy of the model

    /// All copies, the last one first: `SELECT Z_CONTENT FROM Z_MODELCACHE ORDER BY rowid DESC`
    package static let modelCopies: SQLFragment = "SELECT Z_CONTENT FROM Z_MODELCACHE ORDER BY rowid DESC"
    /// `DELETE FROM Z_MODELCACHE`
    package static let deleteModelCache: SQLFragment = "DELETE FROM Z_MODELCACHE"
    /// `INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (?)`
    package static let insertModelCache: SQLFragment = "INSERT INTO Z_MODELCACHE (Z_CONTENT) VALUES (\(placeholder))"

    // MARK: Entities

    /// The numbers, names and superentities' numbers of the entities, without those of the history: `SELECT Z_ENT,
    /// Z_NAME, Z_SUPER FROM Z_PRIMARYKEY WHERE Z_NAME IS NOT NULL AND Z_ENT < 16001 ORDER BY Z_NAME`.
    package static let entities: SQLFragment =
        "SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY WHERE Z_NAME IS NOT NULL AND \(ofModel) ORDER BY Z_NAME"

    /// The greatest key that an entity of the model was given: `SELECT MAX(Z_MAX) FROM Z_PRIMARYKEY WHERE Z_ENT <
    /// 16001`.
    package static let greatestKey: SQLFragment = "SELECT MAX(Z_MAX) FROM Z_PRIMARYKEY WHERE \(ofModel)"

    private static let ofModel: SQLFragment = "Z_ENT < \(number: StoreTables.firstHistoryNumber)"

    /// Whether a table has rows, but none of its entities: 1 or 0. `SELECT EXISTS (SELECT 1 FROM ZCAR) AND NOT EXISTS
    /// (SELECT 1 FROM ZCAR WHERE Z_ENT IN (1, 2))`
    package static func hasOnlyUnknownEntities(_ mapping: EntityMapping) -> SQLFragment {
        let rows: SQLFragment = "SELECT 1 FROM \(name: mapping.table)"
        let known: SQLFragment = "\(rows) WHERE \(SQLFragment.isEntity(mapping.numbers))"
        return "SELECT EXISTS \(.select(rows)) AND NOT EXISTS \(.select(known))"
    }
}
