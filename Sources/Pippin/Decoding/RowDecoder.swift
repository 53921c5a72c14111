import StoreSession

/// Provides the models that a row leads to, when the row is decoded.
protocol RelatedRows: AnyObject {
    /// The model at the end of a relationship to one; nil for none.
    func model<Value: Decodable>(_ type: Value.Type, _ field: Int, of decoder: RowDecoder) throws -> Value?
    /// The models at the end of a relationship to many, as an array or a set of them.
    func models<Value: Decodable>(_ type: Value.Type, _ field: Int, of decoder: RowDecoder) throws -> Value?
}

/// Decodes models from rows, one after the other. What depends on the type alone is computed once.
final class RowDecoder: Decoder {
    let record: RecordPlan
    /// The entity's name, for messages.
    let entity: String
    /// The slot of each field; -1 for a relationship to many.
    let slots: ContiguousArray<Int>
    /// The same slots, in memory that lives as long as the decoder.
    private let slotTable: UnsafeMutableBufferPointer<Int>
    private(set) var related: (any RelatedRows)?
    // Only one thread at a time uses a decoder, so checking its accesses for overlaps would find nothing.
    @exclusivity(unchecked) var values: ContiguousArray<StoredValue> = []
    @exclusivity(unchecked) var objectID: NSManagedObjectID?
    /// The row that is handed out right now; nil when `values` are decoded. It is not retained, which would cost each
    /// access twice: the code that hands the row out holds it until it has been decoded.
    @exclusivity(unchecked) private unowned(unsafe) var current: (any CurrentRow)?
    /// Reads the values of the row that is decoded right now, or `values` if no row is handed out; nil between rows. It
    /// is not retained either: one of the two properties below keeps it.
    @exclusivity(unchecked) private(set) var reader: Unmanaged<KeptColumnReader>?
    @exclusivity(unchecked) var cursor = 0
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    /// The containers by their key types. A record usually has one.
    private var containers: [KeptContainer] = []
    /// The container that was asked for last.
    @exclusivity(unchecked) private var latest: KeptContainer?
    /// The fields of the containers' keys. Containers refer to them as long as the decoder exists.
    private var places: [FieldPlaces] = []
    // Both refer back to the decoder until `finish()`.
    @exclusivity(unchecked) private var rowReader: KeptColumnReader?
    @exclusivity(unchecked) private var valuesReader: KeptColumnReader?
    // Unsafe memory: `rowReader`, and the row that it retains. All three are released together.
    @exclusivity(unchecked) private var latestRowReader: Unmanaged<KeptColumnReader>?
    @exclusivity(unchecked) private var readerRow: ObjectIdentifier?
    /// The decoders of nested values, by field; nil for another field, and until it is first read.
    @exclusivity(unchecked) private var nestedDecoders: ContiguousArray<RowDecoder?>
    /// The fields that have nested values, and whether these are optional.
    private let nestedFields: ContiguousArray<NestedField>
    private enum NestedField: UInt8 { case none, required, optional }
    private var isFinished = false

    init(_ record: RecordPlan, entity: String, slots: ContiguousArray<Int>, related: (any RelatedRows)? = nil) {
        self.record = record
        self.entity = entity
        self.slots = slots
        self.related = related
        nestedDecoders = ContiguousArray(repeating: nil, count: record.fields.count)
        nestedFields = ContiguousArray(
            record.fields.map { field in
                guard case .composite = field.kind else { return .none }
                return field.isOptional ? .optional : .required
            })
        // Unsafe memory: initialized here, for all the slots, and never written again.
        slotTable = .allocate(capacity: slots.count)
        _ = slotTable.initialize(from: slots)
    }

    deinit { slotTable.deallocate() }

    func decode<Value: Decodable>(_ type: Value.Type, from row: Row) throws -> Value {
        objectID = row.objectID
        return try decodeValues(type, row.values)
    }

    /// Decodes from values, by slot.
    func decodeValues<Value: Decodable>(
        _ type: Value.Type, _ values: ContiguousArray<StoredValue>
    ) throws -> Value {
        self.values = values
        return try decodeOwnValues(type)
    }

    private func decodeOwnValues<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let reader = valuesReader ?? KeptColumnReader(nil, self, UnsafeBufferPointer(slotTable))
        valuesReader = reader
        return try decode(type, with: .passUnretained(reader))
    }

    /// Decodes from a row that is handed out.
    func decode<Value: Decodable>(_ type: Value.Type, from row: any CurrentRow) throws -> Value {
        current = row
        defer {
            current = nil
            withExtendedLifetime(row) {}
        }
        return try decode(type, with: columnReader(of: row))
    }

    /// The same, with functions that the caller has looked up once for all rows.
    @inline(__always)
    func decode<Value>(by columns: ColumnFunctionsOf<Value>, from row: any CurrentRow) throws -> Value {
        current = row
        cursor = 0
        defer {
            current = nil
            withExtendedLifetime(row) {}
        }
        return try columnReader(of: row)._withUnsafeGuaranteedRef { try columns.read($0.reader) }
    }

    @inline(__always)
    private func decode<Value: Decodable>(_ type: Value.Type, with kept: Unmanaged<KeptColumnReader>) throws -> Value {
        cursor = 0
        if let columns = record.columns?.functions(of: type) {
            return try kept._withUnsafeGuaranteedRef { try columns.read($0.reader) }
        }
        reader = kept
        defer { reader = nil }
        return try Value(from: self)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        // The container is the same for every row: it refers to the decoder, which knows the row.
        if let latest, latest.key == type {
            // The container kept for this key type. A cast would look the type up again, slowly, for each row.
            return unsafeDowncast(latest, to: KeptContainerOf<KeyedDecodingContainer<Key>>.self).get()
        }
        return try otherContainer(keyedBy: type)
    }

    /// This is a function of its own, since one that makes containers begins with looking up their type.
    @inline(never)
    private func otherContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        // Nothing would ensure that the decoder outlives another container.
        guard !isFinished else { throw finished }
        if let known = containers.first(where: { $0.key == type }) as? KeptContainerOf<KeyedDecodingContainer<Key>> {
            latest = known
            return known.get()
        }
        let fields = FieldPlaces(type, count: record.fields.count)
        places.append(fields)
        let container = KeyedDecodingContainer(RowKeyedContainer<Key>(self, FieldPlace(fields)))
        let made = KeptContainerOf(container, key: type)
        containers.append(made)
        latest = made
        return container
    }

    /// The reader of a row's columns: usually one for all rows, since one object hands them out.
    ///
    /// It is not retained, which would cost each row twice: the decoder holds it until it makes another reader, for
    /// another row object.
    @inline(__always)
    private func columnReader(of row: any CurrentRow) -> Unmanaged<KeptColumnReader> {
        if let latestRowReader, readerRow == ObjectIdentifier(row) { return latestRowReader }
        return makeColumnReader(row)
    }

    private func makeColumnReader(_ row: any CurrentRow) -> Unmanaged<KeptColumnReader> {
        let made = KeptColumnReader(row, self, UnsafeBufferPointer(slotTable))
        (rowReader, latestRowReader, readerRow) = (made, .passUnretained(made), ObjectIdentifier(row))
        return .passUnretained(made)
    }

    /// Ends decoding after the last row. Containers do not retain the decoder: if other code has kept one, the decoder
    /// is never released, and has no values any more.
    func finish() {
        values = []
        objectID = nil
        related = nil
        (rowReader, valuesReader, latestRowReader, readerRow) = (nil, nil, nil, nil)
        for decoder in nestedDecoders { decoder?.finish() }
        for field in nestedDecoders.indices { nestedDecoders[field] = nil }
        let traces = containers.map(\.trace)
        containers = []
        latest = nil
        if traces.contains(where: \.isThere) { _ = Unmanaged.passRetained(self) }
        isFinished = true
    }

    var finished: PersistenceError {
        unreadable("", "it was decoded already, and its decoder is asked again.")
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw unexpectedForm }

    /// A type may read another one from the values that it reads some keys of itself.
    func singleValueContainer() throws -> any SingleValueDecodingContainer { RowAsValue(decoder: self) }

    fileprivate var unexpectedForm: PersistenceError {
        .unreadable(entity: entity, key: "", reason: "it is decoded differently from the first time.")
    }

    /// The value in a slot; `.null` where there is no slot.
    func value(at slot: Int) throws -> StoredValue {
        if slot < 0 { return .null }
        guard let current else {
            guard slot < values.count else { throw finished }
            return values[slot]
        }
        return try current.value(at: slot)
    }

    func unreadable(_ key: String, _ reason: String) -> PersistenceError {
        .unreadable(entity: entity, key: key, reason: reason)
    }

    func missing(_ key: String, _ value: StoredValue, _ type: Any.Type) -> PersistenceError {
        unreadable(
            key,
            value.isNull
                ? "it has no value, and the property is not optional. Make it optional, or give it a default value in the schema."
                : "\(value) is not of type \(type).")
    }

    /// A value of a field that is neither a string nor a number; nil for none.
    ///
    /// - Throws: what decoding throws. The path of a `Codable` error begins with the field.
    func other<Value: Decodable>(_ type: Value.Type, at index: Int) throws -> Value? {
        do { return try otherValue(type, at: index) } catch let error as DecodingError {
            throw error.within(record.keys[index])
        }
    }

    private func otherValue<Value: Decodable>(_ type: Value.Type, at index: Int) throws -> Value? {
        let slot = slots[index]
        if slot >= 0, nestedFields[index] != .none, let current, let decoder = nested(index) {
            decoder.values.removeAll(keepingCapacity: true)
            if try current.elements(at: slot, named: decoder.record.names, into: &decoder.values) {
                // An optional nested value without any values is nil.
                if nestedFields[index] == .optional, decoder.values.allSatisfy(\.isNull) { return nil }
                return try decoder.decodeOwnValues(type)
            }
        }
        let key = record.keys[index]
        let value = try value(at: slot)
        if slot >= 0, value.isNull {
            // A nested value that must exist, and has no values.
            guard case .composite(let inner) = record.fields[index].kind, !record.fields[index].isOptional else {
                return nil
            }
            return try composite(type, inner, .object(CompositeValue([:])), key, at: index)
        }
        if let leaf = AttributeDecoder.leaf(type, value) { return leaf }
        if let reason = value.missingFile { throw unreadable(key, reason) }
        switch record.fields[index].kind {
        case .attribute: return try Value(from: ValueDecoder(value: value, entity: entity, key: key))
        case .json:
            guard case .data(let data) = value else { throw missing(key, value, type) }
            return try ValueJSON.value(type, in: data)
        case .composite(let inner): return try composite(type, inner, value, key, at: index)
        case .toOne: return try related?.model(type, index, of: self)
        case .toMany: return try related?.models(type, index, of: self)
        }
    }

    private func composite<Value: Decodable>(
        _ type: Value.Type, _ inner: RecordPlan, _ value: StoredValue, _ key: String, at index: Int
    ) throws -> Value {
        guard case .object(let object) = value, let composite = object as? CompositeValue,
            let decoder = nested(index)
        else { throw missing(key, value, type) }
        var values = ContiguousArray<StoredValue>()
        for (field, value) in zip(inner.fields, inner.values(of: composite)) {
            guard let value else { throw decoder.unreadable(field.key, "it is of another type.") }
            values.append(value)
        }
        return try decoder.decodeValues(type, values)
    }

    /// What decodes a nested value.
    @inline(__always)
    private func nested(_ index: Int) -> RowDecoder? { nestedDecoders[index] ?? makeNested(index) }

    private func makeNested(_ index: Int) -> RowDecoder? {
        guard case .composite(let inner) = record.fields[index].kind else { return nil }
        let decoder = RowDecoder(
            inner, entity: "\(entity).\(record.keys[index])", slots: ContiguousArray(inner.fields.indices))
        nestedDecoders[index] = decoder
        return decoder
    }

    /// Whether an empty list exists, rather than being nil.
    func isMarked(_ field: Int) throws -> Bool {
        guard let mark = record.listMarks[field] else { return false }
        return try !value(at: slots[mark]).isNull
    }
}

/// Gives a row as the one value that a type is decoded from.
private struct RowAsValue: SingleValueDecodingContainer {
    let decoder: RowDecoder
    let codingPath: [any CodingKey] = []

    func decodeNil() -> Bool { false }
    func decode(_ type: Bool.Type) throws -> Bool { throw decoder.unexpectedForm }
    func decode(_ type: String.Type) throws -> String { throw decoder.unexpectedForm }
    func decode(_ type: Double.Type) throws -> Double { throw decoder.unexpectedForm }
    func decode(_ type: Float.Type) throws -> Float { throw decoder.unexpectedForm }
    func decode(_ type: Int.Type) throws -> Int { throw decoder.unexpectedForm }
    func decode(_ type: Int8.Type) throws -> Int8 { throw decoder.unexpectedForm }
    func decode(_ type: Int16.Type) throws -> Int16 { throw decoder.unexpectedForm }
    func decode(_ type: Int32.Type) throws -> Int32 { throw decoder.unexpectedForm }
    func decode(_ type: Int64.Type) throws -> Int64 { throw decoder.unexpectedForm }
    func decode(_ type: UInt.Type) throws -> UInt { throw decoder.unexpectedForm }
    func decode(_ type: UInt8.Type) throws -> UInt8 { throw decoder.unexpectedForm }
    func decode(_ type: UInt16.Type) throws -> UInt16 { throw decoder.unexpectedForm }
    func decode(_ type: UInt32.Type) throws -> UInt32 { throw decoder.unexpectedForm }
    func decode(_ type: UInt64.Type) throws -> UInt64 { throw decoder.unexpectedForm }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        guard AttributeKind(of: type) == nil else { throw decoder.unexpectedForm }
        return try Value(from: decoder)
    }
}

/// A reader of columns that is kept from row to row.
final class KeptColumnReader {
    let reader: ColumnReader

    fileprivate init(_ row: (any CurrentRow)?, _ decoder: RowDecoder, _ slots: UnsafeBufferPointer<Int>) {
        reader = ColumnReader(row: row, source: decoder, slots: slots)
    }
}

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
        unreadable(record.keys[column], "\(number) is not of type \(type).")
    }
}
