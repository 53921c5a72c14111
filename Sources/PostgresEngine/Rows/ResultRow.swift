import CoreDataModel
import Foundation
import PostgresConnection
import StoreEngine

/// A row of a result whose values are read when they are asked for; one object stands for each row in turn.
final class ResultRow<Cells: RowCells>: CurrentRow {
    private let reader: RowReader
    let result: Cells
    // Only one thread at a time uses this, so checking accesses for overlaps would find nothing.
    @exclusivity(unchecked) var index = 0
    @exclusivity(unchecked) var entity: EntityReader

    init(_ reader: RowReader, _ result: Cells, _ entity: EntityReader) {
        (self.reader, self.result, self.entity) = (reader, result, entity)
    }

    /// The row's key.
    var key: Int64 { result.integer(index, 0) }

    var objectID: NSManagedObjectID {
        NSManagedObjectID(layout: entity.layout, store: entity.context.identity, key: key)
    }

    func whole() -> Row { reader.row(result, index, entity) }
    func value(at slot: Int) -> StoredValue { entity.value(at: slot, result, index) }

    /// Without making a string of the text.
    func holds(_ value: StoredValue, at slot: Int) -> Bool {
        switch (entity.places[slot].kind, value) {
        case (.string, .string(var text)):
            guard let raw = raw(at: slot) else { return false }
            return text.withUTF8 { $0.count == raw.count && memcmpEqual($0, raw) }
        case (.smallint, .integer(let number)), (.integer, .integer(let number)), (.bigint, .integer(let number)):
            return raw(at: slot).map { BinaryNumber.integer($0) == number } ?? false
        default: return self.value(at: slot) == value
        }
    }

    private func memcmpEqual(_ text: UnsafeBufferPointer<UInt8>, _ raw: UnsafeRawBufferPointer) -> Bool {
        guard let (left, right) = text.baseAddress.flatMap({ left in raw.baseAddress.map { (left, $0) } }) else {
            return true
        }
        return memcmp(left, right, raw.count) == 0
    }

    /// The bytes of a value that has a column of its own; nil for no value.
    @inline(__always)
    private func raw(at slot: Int) -> UnsafeRawBufferPointer? {
        let column = Int(entity.places[slot].column)
        let raw = result.raw(index, column)
        return raw.isEmpty && result.isNull(index, column) ? nil : raw
    }

    func string(at slot: Int) -> String? {
        guard entity.places[slot].kind == .string else { return nil }
        return raw(at: slot).map { String(decoding: $0, as: UTF8.self) }
    }

    func integer(at slot: Int) -> Int64? {
        switch entity.places[slot].kind {
        case .smallint, .integer, .bigint, .boolean: return raw(at: slot).map { BinaryNumber.integer($0) }
        default: return nil
        }
    }

    func double(at slot: Int) -> Double? {
        guard entity.places[slot].kind == .double else { return nil }
        return raw(at: slot).map { BinaryNumber.double($0) }
    }

    func date(at slot: Int) -> Double? {
        guard entity.places[slot].kind == .date else { return nil }
        return raw(at: slot).map { Timestamp(microseconds: BinaryNumber.integer($0)).secondsSince2001 }
    }
}
