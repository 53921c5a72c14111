import StoreSession

/// A decoder that returns made-up values and records what it was asked for.
///
/// A model's initializer runs once, and shows its keys, their types, and which of them are optional.
final class TypeProbe: Decoder {
    /// What a type asked its decoder for.
    enum Form {
        case nothing
        case keyed([ProbedField])
        case single(AttributeKind)
        /// A value without a fixed shape: an array, a dictionary, an enumeration with associated values.
        case loose
    }

    /// The type that is decoded, for messages.
    let name: String
    /// The types that lead here, to detect a type that contains itself.
    let path: [ObjectIdentifier]
    /// The values that are handed out, here and within.
    let values: MadeUp
    var form = Form.nothing
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    init(_ type: Any.Type, _ values: MadeUp = MadeUp()) {
        name = "\(type)"
        path = [ObjectIdentifier(type)]
        self.values = values
    }

    /// A probe of the type of a property.
    init(_ type: Any.Type, within outer: TypeProbe) {
        name = "\(type)"
        path = outer.path + [ObjectIdentifier(type)]
        values = outer.values
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        switch form {
        case .nothing: form = .keyed([])
        // A value that is read as one and by keys is one or the other: it has no fixed shape.
        case .single: form = .loose
        case .keyed, .loose: break
        }
        return KeyedDecodingContainer(ProbeKeyedContainer<Key>(probe: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        form = .loose
        return ProbeUnkeyedContainer(probe: self)
    }

    func singleValueContainer() throws -> any SingleValueDecodingContainer { ProbeSingleContainer(probe: self) }

    /// The fields that were asked for by key.
    var fields: [ProbedField] {
        if case .keyed(let fields) = form { return fields }
        return []
    }

    func append(_ field: ProbedField) {
        guard case .keyed(var fields) = form, !fields.contains(where: { $0.key == field.key }) else { return }
        fields.append(field)
        form = .keyed(fields)
    }
}

/// A key that a type asked for.
struct ProbedField {
    let key: String
    /// The name of the key's case, if it is one of an enumeration.
    let caseName: String?
    let isOptional: Bool
    let kind: FieldKind
    let type: Any.Type
    /// The made-up value that was returned; nil for none.
    let value: Any?

    init(_ key: any CodingKey, isOptional: Bool, kind: FieldKind, type: Any.Type, value: Any?) {
        self.key = key.stringValue
        caseName = key.caseName
        self.isOptional = isOptional
        self.kind = kind
        self.type = type
        self.value = value
    }

    /// The type of its values, without their optionality.
    var wrappedType: Any.Type { (type as? any CodedOptional.Type)?.wrapped ?? type }

    /// The type of its values if it is optional and they are, too.
    var optionalContent: Any.Type? { isOptional && Pippin.isOptional(wrappedType) ? wrappedType : nil }

    /// The JSON of an empty list, if the type is one; it is the default of a field that must have a value.
    var emptyValue: Data? {
        guard case .json = kind, !isOptional, let list = value as? any Collection & Encodable, list.isEmpty else {
            return nil
        }
        return try? ValueJSON.data(of: list)
    }
}
