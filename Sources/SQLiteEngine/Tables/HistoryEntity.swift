/// The numbers of the history's own entities.
enum HistoryEntity: Int64 {
    case change = 16001
    case transaction = 16002
    case string = 16003
}

extension HistoryEntity {
    /// The table with its rows.
    var table: String {
        switch self {
        case .change: "ACHANGE"
        case .transaction: "ATRANSACTION"
        case .string: "ATRANSACTIONSTRING"
        }
    }
}
