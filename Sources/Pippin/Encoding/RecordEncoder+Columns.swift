import CoreData

// The cursor tells which column an error is about.
extension RecordEncoder: ColumnSink {
    func set(_ value: StoredValue, _ kind: AttributeKind, column: Int) throws {
        cursor = column + 1
        try set(value, kind, at: column)
    }

    func set(column: Int, _ value: () throws -> (StoredValue, AttributeKind)) throws {
        cursor = column + 1
        let (value, kind) = try value()
        try set(value, kind, at: column)
    }

    func encode<Value: Encodable>(_ value: Value, column: Int) throws {
        cursor = column + 1
        // Numbers of fewer bits, and without a sign, take the way that coding takes.
        if let kind = record.attributeKinds[column], let number = value as? any FixedWidthInteger {
            guard let fitting = Int64(exactly: number) else {
                return _ = try AttributeEncoder.integer(UInt64(truncatingIfNeeded: number))
            }
            return try set(.integer(fitting), kind, at: column)
        }
        try set(value, at: column)
    }
}
