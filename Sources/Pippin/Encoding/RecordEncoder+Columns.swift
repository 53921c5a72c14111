import StoreSession

// The cursor tells which column an error is about.
extension RecordEncoder: ColumnSink {
    /// Columns written by hand may set one that does not exist.
    private func stand(on column: Int) throws {
        guard kinds.indices.contains(column) else {
            throw EncodingError.refusal("“\(record.name)” has no column \(column).")
        }
        cursor = column + 1
    }

    func set(_ value: StoredValue, _ kind: AttributeKind, column: Int) throws {
        try stand(on: column)
        try set(value, kind, at: column)
    }

    func set(column: Int, _ value: () throws -> (StoredValue, AttributeKind)) throws {
        try stand(on: column)
        let (value, kind) = try value()
        try set(value, kind, at: column)
    }

    func encode<Value: Encodable>(_ value: Value, column: Int) throws {
        try stand(on: column)
        try set(value, at: column)
    }
}
