/// The tables that every store has in addition to those of its entities: `Z_PRIMARYKEY` numbers the entities and counts
/// keys; `Z_METADATA` has the store's UUID and metadata; `Z_MODELCACHE` has a copy of the model. Others belong to the
/// persistent history.
package enum StoreTables {
    /// Whether a table is one of these.
    package static func isReserved(_ table: String) -> Bool {
        ["Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE", "ACHANGE", "ATRANSACTION", "ATRANSACTIONSTRING"].contains(
            table.uppercased())
    }

    /// The first of the numbers of the history's entities, which are above those of any model.
    package static let firstHistoryNumber = 16001

    /// The history's entities as `Z_PRIMARYKEY` has them.
    package static let historyEntities: [(number: Int, name: String)] = [
        (16001, "CHANGE"), (16002, "TRANSACTION"), (16003, "TRANSACTIONSTRING"),
    ]
}
