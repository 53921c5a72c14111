import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

/// The statement's current row.
final class StatementRow: CurrentRow {
    var reader: EntityReader
    private let statement: Statement
    private let versionIndex: Int32

    init(_ statement: Statement, _ reader: EntityReader, versionIndex: Int32) {
        self.statement = statement
        self.reader = reader
        self.versionIndex = versionIndex
    }

    var objectID: NSManagedObjectID { reader.objectID(statement) }

    var key: Int64 { reader.key(statement) }

    func whole() throws -> Row { try reader.row(statement, versionIndex: versionIndex) }

    func placed() throws -> PlacedRow { try reader.placedRow(statement, versionIndex: versionIndex) }

    func value(at slot: Int) throws -> StoredValue { try reader.value(reader.slots[slot], slot, statement) }

    /// Compares without making a string of the text.
    func holds(_ value: StoredValue, at slot: Int) throws -> Bool {
        let reading = reader.slots[slot]
        switch (reading.kind, value) {
        case (.string, .string(let text)): return statement.isText(text, at: reading.index)
        case (.integer, .integer(let number)):
            return statement.integer(at: reading.index) == number
                && (number != 0 || !statement.isNull(at: reading.index))
        case (.double, .double(let number)), (.date, .date(let number)):
            return statement.double(at: reading.index) == number
                && (number != 0 || !statement.isNull(at: reading.index))
        case (.uuid, .uuid(let uuid)) where statement.uuid(at: reading.index) == uuid: return true
        // Compares the stored text. Different texts may still be equal values.
        case (.url, .object(let url as NSURL))
        where statement.isText(url.absoluteString, at: reading.index):
            return true
        case (.decimal, .object(let number as NSDecimalNumber))
        where statement.isText(number.stringValue, at: reading.index):
            return true
        default: return try self.value(at: slot) == value
        }
    }

    func destination(at slot: Int) throws -> Int64? {
        let reading = reader.slots[slot]
        guard reading.kind == .toOne else {
            guard case .identifier(let identifier) = try value(at: slot) else { return nil }
            return identifier.key
        }
        let key = statement.integer(at: reading.index)
        return key == 0 ? nil : key
    }

    func isNull(at slot: Int) -> Bool {
        let slot = reader.slots[slot]
        switch slot.kind {
        case .string, .integer, .double, .date, .uuid, .url, .decimal: return statement.isNull(at: slot.index)
        default: return false
        }
    }

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

    func uuid(at slot: Int) -> UUID? {
        let slot = reader.slots[slot]
        return slot.kind == .uuid ? statement.uuid(at: slot.index) : nil
    }

    func text(at slot: Int) -> String? {
        let slot = reader.slots[slot]
        return slot.kind == .url || slot.kind == .decimal ? statement.optionalString(at: slot.index) : nil
    }

    func elements(
        at slot: Int, named names: ContiguousArray<String>, into values: inout ContiguousArray<StoredValue>
    ) throws -> Bool {
        try reader.elements(slot, named: names, statement, into: &values)
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

extension StoredValue {
    /// A value that SQL computed for a column.
    init(_ value: SQLValue, storage: ColumnStorage) {
        switch (value, storage) {
        case (.integer(let number), .date): self = .date(Double(number))
        case (.double(let number), .date): self = .date(number)
        case (.integer(let number), .double), (.integer(let number), .float): self = .double(Double(number))
        case (.double(let number), .integer): self = .integer(Int64(exactly: number.rounded()) ?? 0)
        case (.integer(let number), .decimal): self = .object(NSDecimalNumber(value: number))
        case (.double(let number), .decimal): self = .object(NSDecimalNumber(string: "\(number)"))
        case (.text(let text), .url): self = URL(string: text).map { .object($0 as NSURL) } ?? .null
        case (.integer(let number), _): self = .integer(number)
        case (.double(let number), _): self = .double(number)
        case (.text(let text), _): self = .string(text)
        case (.blob(let data), .uuid) where data.count == 16:
            self = .uuid(data.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) })
        case (.blob(let data), _): self = .data(data)
        case (.null, _): self = .null
        }
    }
}
