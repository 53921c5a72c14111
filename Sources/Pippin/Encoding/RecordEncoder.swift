import StoreSession

/// The values of a model's or composite value's fields, and the models in it.
struct EncodedRecord {
    /// By field; `.null` for relationships.
    var values: ContiguousArray<StoredValue>
    var links: [Link] = []

    /// The models that a relationship shall have.
    struct Link {
        let field: Int
        /// Models, or references to them.
        let targets: any LinkedModels
    }
}

/// Encodes models field by field, one after the other.
final class RecordEncoder: Encoder {
    let record: RecordPlan
    // Only one thread at a time uses an encoder, so checking its accesses for overlaps would find nothing.
    /// The values of the current model, after those of the models that were appended before.
    @exclusivity(unchecked) private(set) var values: ValueRows
    /// The current model's relationships.
    @exclusivity(unchecked) private var links: [EncodedRecord.Link] = []
    @exclusivity(unchecked) var cursor = 0
    /// The index at which the values of the current model begin.
    @exclusivity(unchecked) private(set) var base = 0
    /// Whether the values are those of the models that were appended.
    private var hasRows = false
    /// The fields of the containers' keys. Containers refer to them as long as the encoder exists.
    private var places: [FieldPlaces] = []
    /// The fields of the key type that was asked for last.
    @exclusivity(unchecked) private var latest: FieldPlaces?
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    /// A copy of the record's kinds, since each value is checked against them and an array would be retained for that.
    /// Unsafe memory: initialized in `init`, for all the fields, and never written again.
    let kinds: UnsafeMutableBufferPointer<AttributeKind?>

    init(_ record: RecordPlan) {
        self.record = record
        kinds = .allocate(capacity: record.attributeKinds.count)
        _ = kinds.initialize(from: record.attributeKinds)
        values = ValueRows(nulls: record.fields.count)
    }

    deinit { kinds.deallocate() }

    func encode<Value: Encodable>(_ value: Value) throws -> EncodedRecord {
        begin(with: record.fields.count)
        try encodeValues(of: value, by: columns(of: Value.self))
        return EncodedRecord(values: values[0..<values.count], links: links)
    }

    /// Encodes a value after those that were encoded before. It is passed `inout` to avoid a copy, and not changed.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - columns: the functions that write it, as `columns(of:)` returns them: looked up once for many values.
    /// - Returns: the relationships, and the index of its first value among all values, which `finish()` returns.
    /// - Throws: what encoding throws.
    func append<Value: Encodable>(
        _ value: inout Value, by columns: ColumnFunctionsOf<Value>?
    ) throws -> (row: Int, links: [EncodedRecord.Link]) {
        if !hasRows { beginRows() }
        base = values.count
        values.append(nulls: kinds.count)
        try encodeValues(of: value, by: columns)
        defer { if !links.isEmpty { links = [] } }
        return (base, links)
    }

    /// Makes room for the values of more models.
    func reserve(_ count: Int) {
        if !hasRows { beginRows() }
        values.reserve(count * record.fields.count)
    }

    /// Forgets the values that were appended, and keeps their memory for the next ones.
    func removeAll() {
        values.removeAll()
        base = 0
    }

    /// Begins anew.
    private func begin(with nulls: Int) {
        (values, base, hasRows) = (ValueRows(nulls: nulls), 0, false)
        if !links.isEmpty { links = [] }
    }

    private func beginRows() {
        begin(with: 0)
        hasRows = true
    }

    /// The values of all models that were appended, one after the other.
    func finish() -> ValueRows {
        defer { begin(with: record.fields.count) }
        return hasRows ? values : ValueRows()
    }

    /// The functions that write values of a type; nil for one that is encoded by its coding.
    func columns<Value: Encodable>(of type: Value.Type) -> ColumnFunctionsOf<Value>? {
        record.columns?.functions(of: type)
    }

    private func encodeValues<Value: Encodable>(of value: Value, by columns: ColumnFunctionsOf<Value>?) throws {
        cursor = 0
        if let columns {
            try columns.write(value, ColumnWriter(sink: self))
        } else {
            try value.encode(to: self)
        }
        if let mark = record.presenceMark { values[base + mark] = .integer(1) }
    }

    /// Encodes a value within a model. It throws if a part that decoding requires has no value.
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

    /// A type may encode another one in its own place.
    func singleValueContainer() -> any SingleValueEncodingContainer { RecordAsValue(encoder: self) }

    /// The property that was encoded last, which an error is about; nil if it is about none.
    var lastProperty: String? { cursor > 0 ? record.fields[cursor - 1].name : nil }

    /// The field of a key. Decoding must know it too, since a value that is never read would be lost.
    @inline(__always)
    fileprivate func field<Key: CodingKey>(_ key: Key, _ place: FieldPlace) throws -> Int {
        let index = place(key) { name in record.index(of: name, cursor: &cursor) }
        cursor = index + 1
        guard index < 0 else { return index }
        throw EncodingError.refusal("“\(record.name)” encodes “\(key.stringValue)”, which it does not decode.")
    }

    func set(_ value: StoredValue, _ kind: AttributeKind, at index: Int) throws {
        if let expected = kinds[index], kind == expected || value.fits(expected) {
            values[base + index] = try AttributeEncoder.kept(value)
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
            values[base + index] = try AttributeEncoder.kept(leaf)
            return
        }
        let field = record.fields[index]
        if isOptional(type(of: value)), field.optionalContent != type(of: value),
            let optional = value as? any OptionalValue
        {
            guard let wrapped = optional.wrappedValue else { return values[base + index] = .null }
            return try set(wrapped, at: index)
        }
        switch field.kind {
        case .attribute(let kind):
            values[base + index] = try AttributeEncoder.kept(
                AttributeEncoder.storedValue(of: value, kind, name: "\(record.name).\(field.name)"))
        case .composite(let inner): values[base + index] = .object(try composite(value, inner))
        case .json: values[base + index] = .data(try ValueJSON.data(of: value))
        case .toOne: links.append(EncodedRecord.Link(field: index, targets: linkedModel(value)))
        case .toMany:
            guard let members = (value as? any ModelCollection)?.linked else { return }
            if let mark = record.listMarks[index] { values[base + mark] = .integer(1) }
            links.append(EncodedRecord.Link(field: index, targets: members))
        }
    }
}

/// Takes the one value that a type is encoded as, if that has keys.
private struct RecordAsValue: SingleValueEncodingContainer {
    let encoder: RecordEncoder
    let codingPath: [any CodingKey] = []

    private var refusing: RefusingContainer { RefusingContainer(record: encoder.record.name) }

    func encodeNil() throws { try refusing.encodeNil() }
    func encode(_ value: Bool) throws { try refusing.encode(value) }
    func encode(_ value: String) throws { try refusing.encode(value) }
    func encode(_ value: Double) throws { try refusing.encode(value) }
    func encode(_ value: Float) throws { try refusing.encode(value) }
    func encode(_ value: Int) throws { try refusing.encode(value) }
    func encode(_ value: Int8) throws { try refusing.encode(value) }
    func encode(_ value: Int16) throws { try refusing.encode(value) }
    func encode(_ value: Int32) throws { try refusing.encode(value) }
    func encode(_ value: Int64) throws { try refusing.encode(value) }
    func encode(_ value: UInt) throws { try refusing.encode(value) }
    func encode(_ value: UInt8) throws { try refusing.encode(value) }
    func encode(_ value: UInt16) throws { try refusing.encode(value) }
    func encode(_ value: UInt32) throws { try refusing.encode(value) }
    func encode(_ value: UInt64) throws { try refusing.encode(value) }

    func encode<Value: Encodable>(_ value: Value) throws {
        guard AttributeKind(of: Value.self) == nil else { return try refusing.encode(value) }
        try value.encode(to: encoder)
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

    func encodeNil(forKey key: Key) throws { encoder.values[encoder.base + (try field(key))] = .null }
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

extension RecordEncoder {
    /// Checks that the model that was appended last is stored under its own identifier. A computed one may be another
    /// value than that of the property which the store finds it by, and which another model may have as well.
    ///
    /// - Parameters:
    ///   - key: the model's identifier.
    ///   - plan: the model.
    /// - Throws: ``PersistenceError/Code/unwritable``
    @inline(__always)
    func checkIdentifier(_ key: RecordKey, of plan: EntityPlan) throws {
        guard plan.computesIdentifier else { return }
        try compare(key, plan)
    }

    @inline(never)
    private func compare(_ key: RecordKey, _ plan: EntityPlan) throws {
        // In the form in which identifiers are compared, whatever the attribute's kind.
        guard let stored = RecordKey(values[base + plan.uidField]), stored != key else { return }
        throw PersistenceError.unwritable(
            entity: plan.name, uid: key.text, key: "id",
            reason:
                "the store finds it by '\(plan.uidKey)', which is '\(stored.text)'. Let the model store its identifier, or return "
                + "'\(plan.uidKey)' from it as it is.")
    }
}
