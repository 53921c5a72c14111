import CoreData

/// A model or a composite value as its fields' values, and the models in it.
struct EncodedRecord {
    /// By field; `.null` for relationships.
    var values: ContiguousArray<StoredValue>
    var links: [Link] = []

    /// What a relationship is to have.
    struct Link {
        let field: Int
        /// Models, or references to them.
        let targets: any LinkedModels
    }
}

/// Encodes models field by field, one after the other.
final class RecordEncoder: Encoder {
    let record: RecordPlan
    // An encoder is one thread's at a time, so that checking its accesses for overlaps would find nothing.
    @exclusivity(unchecked) var encoded: EncodedRecord
    @exclusivity(unchecked) var cursor = 0
    /// Where the values of the current model begin among all values.
    @exclusivity(unchecked) private(set) var base = 0
    /// Whether the values are those of the models that were appended.
    private var hasRows = false
    /// The fields of the containers' keys, which containers refer to for as long as the encoder is there.
    private var places: [FieldPlaces] = []
    /// Those of the type of keys that was asked for last.
    @exclusivity(unchecked) private var latest: FieldPlaces?
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    private let nothing: EncodedRecord
    /// The record's, here since each value is looked at: an array would be retained for it. Unsafe memory: initialized in `init`, for all the
    /// fields, and never written again.
    let kinds: UnsafeMutableBufferPointer<AttributeKind?>

    init(_ record: RecordPlan) {
        self.record = record
        kinds = .allocate(capacity: record.attributeKinds.count)
        _ = kinds.initialize(from: record.attributeKinds)
        nothing = EncodedRecord(values: ContiguousArray(repeating: .null, count: record.fields.count))
        encoded = nothing
    }

    deinit { kinds.deallocate() }

    func encode<Value: Encodable>(_ value: Value) throws -> EncodedRecord {
        (encoded, base, hasRows) = (nothing, 0, false)
        try encodeValues(of: value)
        return encoded
    }

    /// Encodes a value behind those that were encoded before. It is passed where it is, not to be changed.
    ///
    /// - Returns: the relationships, and where its values begin among all values, which `finish()` gives.
    func append<Value: Encodable>(_ value: inout Value) throws -> (row: Int, links: [EncodedRecord.Link]) {
        if !hasRows { (encoded, hasRows) = (EncodedRecord(values: []), true) }
        base = encoded.values.count
        for _ in 0..<kinds.count { encoded.values.append(.null) }
        try encodeValues(of: value)
        defer { if !encoded.links.isEmpty { encoded.links = [] } }
        return (base, encoded.links)
    }

    /// Makes room for the values of more models.
    func reserve(_ count: Int) {
        if !hasRows { (encoded, hasRows) = (EncodedRecord(values: []), true) }
        encoded.values.reserveCapacity(encoded.values.count + count * record.fields.count)
    }

    /// The values of all models that were appended, one after the other.
    func finish() -> ContiguousArray<StoredValue> {
        defer { (encoded, hasRows) = (nothing, false) }
        return hasRows ? encoded.values : []
    }

    private func encodeValues<Value: Encodable>(of value: Value) throws {
        cursor = 0
        if let columns = record.columns?.functions(of: Value.self) {
            try columns.write(value, ColumnWriter(sink: self))
        } else {
            try value.encode(to: self)
        }
        if let mark = record.presenceMark { encoded.values[base + mark] = .integer(1) }
    }

    /// Encodes a value within a model, of which every part must be there that its decoder asks for.
    private func composite(_ value: some Encodable, _ inner: RecordPlan) throws -> CompositeValue {
        let inside = try RecordEncoder(inner).encode(value).values
        for (field, value) in zip(inner.fields, inside) where value.isNull && field.isCertain {
            throw EncodingError.refusal("“\(inner.name)” decodes “\(field.key)”, and encodes no value for it.")
        }
        return inner.composite(inside)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(RecordEncodingContainer<Key>(encoder: self, place: FieldPlace(places(of: type))))
    }

    private func places<Key: CodingKey>(of type: Key.Type) -> FieldPlaces {
        if let latest, latest.key == type { return latest }
        if let known = places.first(where: { $0.key == type }) {
            latest = known
            return known
        }
        let made = FieldPlaces(type, count: record.fields.count)
        places.append(made)
        latest = made
        return made
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { RefusingContainer(record: record.name) }

    func singleValueContainer() -> any SingleValueEncodingContainer { RefusingContainer(record: record.name) }

    /// The property that was encoded last, which an error is about; nil where it is about none of them.
    var lastProperty: String? { cursor > 0 ? record.fields[cursor - 1].name : nil }

    /// The field of a key, which must be one that decoding knows too: what is not read again would be lost.
    @inline(__always)
    fileprivate func field<Key: CodingKey>(_ key: Key, _ place: FieldPlace) throws -> Int {
        let index = place(key) { name in record.index(of: name, cursor: &cursor) }
        cursor = index + 1
        guard index < 0 else { return index }
        throw EncodingError.refusal("“\(record.name)” encodes “\(key.stringValue)”, which it does not decode.")
    }

    func set(_ value: StoredValue, _ kind: AttributeKind, at index: Int) throws {
        if let expected = kinds[index], kind == expected || value.fits(expected) {
            encoded.values[base + index] = value
        } else if case .json = record.fields[index].kind {
            throw EncodingError.refusal(
                "“\(record.name)” encodes “\(record.keys[index])” as \(kind), and decodes something else from it.")
        } else {
            throw EncodingError.refusal(
                "“\(record.name).\(record.keys[index])” is encoded as \(kind), and decoded differently.")
        }
    }

    func set(_ value: some Encodable, at index: Int) throws {
        if let kind = kinds[index], let leaf = try AttributeEncoder.leaf(value), leaf.fits(kind) {
            encoded.values[base + index] = leaf
            return
        }
        let field = record.fields[index]
        switch field.kind {
        case .attribute(let kind):
            encoded.values[base + index] = try AttributeEncoder.storedValue(
                of: value, kind, name: "\(record.name).\(field.name)")
        case .composite(let inner): encoded.values[base + index] = .object(try composite(value, inner))
        case .json: encoded.values[base + index] = .data(try ValueJSON.data(of: value))
        case .toOne: encoded.links.append(EncodedRecord.Link(field: index, targets: linkedModel(value)))
        case .toMany:
            guard let members = (value as? any ModelCollection)?.linked else { return }
            if let mark = record.emptyMarks[index], members.count == 0 { encoded.values[base + mark] = .integer(1) }
            encoded.links.append(EncodedRecord.Link(field: index, targets: members))
        }
    }
}

/// Takes a model's values by key.
struct RecordEncodingContainer<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: RecordEncoder
    fileprivate let place: FieldPlace
    var codingPath: [any CodingKey] { [] }

    private func field(_ key: Key) throws -> Int { try encoder.field(key, place) }

    private func set(_ value: StoredValue, _ kind: AttributeKind, _ key: Key) throws {
        try encoder.set(value, kind, at: try field(key))
    }

    func encodeNil(forKey key: Key) throws { encoder.encoded.values[encoder.base + (try field(key))] = .null }
    func encode(_ value: Bool, forKey key: Key) throws { try set(.integer(value ? 1 : 0), .boolean, key) }
    func encode(_ value: String, forKey key: Key) throws { try set(.string(value), .string, key) }
    func encode(_ value: Double, forKey key: Key) throws {
        let field = try field(key)
        try encoder.set(.double(try AttributeEncoder.number(value)), .double, at: field)
    }

    func encode(_ value: Float, forKey key: Key) throws {
        let field = try field(key)
        try encoder.set(.double(try AttributeEncoder.number(Double(value))), .float, at: field)
    }

    func encode(_ value: Int, forKey key: Key) throws { try set(.integer(Int64(value)), .integer64, key) }
    func encode(_ value: Int8, forKey key: Key) throws { try set(.integer(Int64(value)), .integer16, key) }
    func encode(_ value: Int16, forKey key: Key) throws { try set(.integer(Int64(value)), .integer16, key) }
    func encode(_ value: Int32, forKey key: Key) throws { try set(.integer(Int64(value)), .integer32, key) }
    func encode(_ value: Int64, forKey key: Key) throws { try set(.integer(value), .integer64, key) }
    func encode(_ value: UInt8, forKey key: Key) throws { try set(.integer(Int64(value)), .integer16, key) }
    func encode(_ value: UInt16, forKey key: Key) throws { try set(.integer(Int64(value)), .integer32, key) }
    func encode(_ value: UInt32, forKey key: Key) throws { try set(.integer(Int64(value)), .integer64, key) }
    func encode(_ value: UInt, forKey key: Key) throws { try encode(UInt64(value), forKey: key) }

    func encode(_ value: UInt64, forKey key: Key) throws {
        let field = try field(key)
        try encoder.set(try AttributeEncoder.integer(value), .integer64, at: field)
    }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        try encoder.set(value, at: try field(key))
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        KeyedEncodingContainer(RefusingKeyedContainer<Nested>(record: "a nested container"))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        RefusingContainer(record: encoder.record.name)
    }

    func superEncoder() -> any Encoder { RefusingEncoder(record: "a nested container") }
    func superEncoder(forKey key: Key) -> any Encoder { RefusingEncoder(record: "a nested container") }
}
