import StoreSession

// The columns that a row does not hand out directly: those without a value, and those of rows that were read before.
extension RowDecoder: ColumnSource {
    func string(column: Int) throws -> String? {
        switch try value(at: slot(column: column)) {
        case .string(let string): return string
        case .null: return nil
        case let other: throw missing(record.keys[column], other, String.self)
        }
    }

    func integer(column: Int) throws -> Int64? {
        switch try value(at: slot(column: column)) {
        case .integer(let number): return number
        case .null: return nil
        case let other: throw missing(record.keys[column], other, Int64.self)
        }
    }

    func double(column: Int) throws -> Double? {
        switch try value(at: slot(column: column)) {
        case .double(let number): return number
        case .null: return nil
        case let other: throw missing(record.keys[column], other, Double.self)
        }
    }

    func date(column: Int) throws -> Double? {
        switch try value(at: slot(column: column)) {
        case .date(let seconds): return seconds
        case .null: return nil
        case let other: throw missing(record.keys[column], other, Date.self)
        }
    }

    func value<Value: Decodable>(_ type: Value.Type, column: Int) throws -> Value? {
        _ = try slot(column: column)
        return try other(type, at: column)
    }

    /// Columns written by hand may ask for one that does not exist.
    private func slot(column: Int) throws -> Int {
        guard slots.indices.contains(column) else { throw unreadable("", "there is no column \(column).") }
        return slots[column]
    }

    func missing(column: Int, _ type: Any.Type) -> any Error { missing(record.keys[column], .null, type) }

    func unfitting(_ number: Int64, column: Int, _ type: Any.Type) -> any Error {
        unreadable(record.keys[column], "\(number) is no \(type).")
    }
}
