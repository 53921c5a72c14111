import CoreData

/// Reads the values of a snapshot by its coding, as they are: nothing is turned into bytes.
final class SnapshotReading: Encoder {
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]
    private(set) var values: [String: SnapshotValue] = [:]

    /// The values of a snapshot, by the names of the properties.
    ///
    /// - Throws: the errors of the snapshot's coding.
    static func values(of snapshot: any DataStoreSnapshot) throws -> [String: SnapshotValue] {
        if let snapshot = snapshot as? DefaultSnapshot { return snapshot.values }
        let reading = SnapshotReading()
        try snapshot.encode(to: reading)
        return reading.values
    }

    fileprivate func note(_ value: Any, _ key: String) {
        values[key] = (StoredValue.unwrapped(value) as? any Codable).map { SnapshotValue($0) }
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(SnapshotKeys<Key>(reading: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer { UnreadValues() }

    func singleValueContainer() -> any SingleValueEncodingContainer { UnreadValues() }
}

private struct SnapshotKeys<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let reading: SnapshotReading
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) throws {}

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { reading.note(value, key.stringValue) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy keyType: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { KeyedEncodingContainer(SnapshotKeys<Nested>(reading: SnapshotReading())) }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { UnreadValues() }
    func superEncoder() -> any Encoder { SnapshotReading() }
    func superEncoder(forKey key: Key) -> any Encoder { SnapshotReading() }
}

/// Values without names of properties do not belong to a model.
private struct UnreadValues: UnkeyedEncodingContainer, SingleValueEncodingContainer {
    var codingPath: [any CodingKey] { [] }
    var count: Int { 0 }

    func encodeNil() throws {}
    func encode<Value: Encodable>(_ value: Value) throws {
        throw EncodingError.invalidValue(
            value,
            EncodingError.Context(
                codingPath: [],
                debugDescription: "A snapshot encodes its values by the names of the model's properties."))
    }
    func nestedContainer<Nested: CodingKey>(keyedBy keyType: Nested.Type) -> KeyedEncodingContainer<Nested> {
        KeyedEncodingContainer(SnapshotKeys<Nested>(reading: SnapshotReading()))
    }
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { self }
    func superEncoder() -> any Encoder { SnapshotReading() }
}
