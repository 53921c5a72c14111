import CoreDataModel
import SQLiteConnection
import StoreEngine

/// The row that a statement stands on.
final class StatementRow: CurrentRow {
    var reader: EntityReader
    private let statement: Statement
    private let versionIndex: Int32

    init(_ statement: Statement, _ reader: EntityReader, versionIndex: Int32) {
        self.statement = statement
        self.reader = reader
        self.versionIndex = versionIndex
    }

    func whole() throws -> Row { try reader.row(statement, versionIndex: versionIndex) }

    func value(at slot: Int) throws -> StoredValue { try reader.value(reader.slots[slot], slot, statement) }

    func string(at slot: Int) -> String? {
        let slot = reader.slots[slot]
        return slot.kind == .string ? statement.optionalString(at: slot.index) : nil
    }

    func integer(at slot: Int) -> Int64? {
        let slot = reader.slots[slot]
        guard slot.kind == .integer else { return nil }
        let number = statement.integer(at: slot.index)
        return number == 0 && statement.isNull(at: slot.index) ? nil : number
    }

    func double(at slot: Int) -> Double? { floating(slot, .double) }
    func date(at slot: Int) -> Double? { floating(slot, .date) }

    @inline(__always)
    private func floating(_ slot: Int, _ kind: SlotReader.Kind) -> Double? {
        let slot = reader.slots[slot]
        guard slot.kind == kind else { return nil }
        let number = statement.double(at: slot.index)
        return number == 0 && statement.isNull(at: slot.index) ? nil : number
    }
}
