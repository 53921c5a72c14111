/// Returns made-up values by key, and records the keys.
struct ProbeKeyedContainer<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let probe: TypeProbe
    let codingPath: [any CodingKey] = []
    /// Whether the key asked for next may have no value.
    private let pending = Pending()

    private final class Pending { var isOptional = false }

    init(probe: TypeProbe) { self.probe = probe }

    /// Only types without a fixed shape ask which keys there are. An enumeration's first case serves as an example.
    var allKeys: [Key] {
        probe.form = .loose
        return SampleValue.firstCase(Key.self).map { [$0] } ?? []
    }

    func contains(_ key: Key) -> Bool { true }

    func decodeNil(forKey key: Key) throws -> Bool {
        // The value is asked for next, with its type.
        pending.isOptional = true
        return false
    }

    private func note<Value>(_ key: Key, _ kind: AttributeKind, _ value: Value) -> Value {
        probe.append(
            ProbedField(
                key, isOptional: pending.isOptional, kind: .attribute(kind),
                type: pending.isOptional ? Optional<Value>.self : Value.self, value: value))
        pending.isOptional = false
        return value
    }

    private func integer<Value: FixedWidthInteger>(_ key: Key, _ kind: AttributeKind) -> Value {
        note(key, kind, probe.values.integer())
    }

    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { note(key, .boolean, probe.values.flag) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { note(key, .string, probe.values.string) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { note(key, .double, probe.values.fraction) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { note(key, .float, Float(probe.values.fraction)) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { integer(key, .integer64) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { integer(key, .integer16) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { integer(key, .integer16) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { integer(key, .integer32) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { integer(key, .integer64) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { integer(key, .integer64) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { integer(key, .integer16) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { integer(key, .integer32) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { integer(key, .integer64) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { integer(key, .integer64) }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        if WideInteger.isOne(type) { throw WideInteger.refusal(of: type, in: probe, key) }
        if let optional = try codedOptional(type, forKey: key) { return optional }
        let shape = try TypeShape(of: type, isOptional: pending.isOptional, within: probe)
        let value = try value(shape, key)
        probe.append(
            ProbedField(
                key, isOptional: pending.isOptional, kind: shape.kind,
                type: pending.isOptional ? Optional<Value>.self : Value.self, value: value))
        pending.isOptional = false
        guard let value else {
            throw PersistenceError.notDerivable(
                type: probe.name, property: key.stringValue,
                reason: "no value of \(type) could be made up. Let \(type) conform to CaseIterable or Prototyped.")
        }
        return value
    }

    /// A value of a property's type; nil if its coding does not show what a value looks like.
    private func value<Value: Decodable>(_ shape: TypeShape<Value>, _ key: Key) throws -> Value? {
        do { return try shape.value(within: probe) } catch let error as PersistenceError {
            throw error
        } catch {
            throw PersistenceError.notDerivable(
                type: probe.name, property: key.stringValue,
                reason:
                    "\(Value.self) refused the values it was tried with (\(error.decodingReason)). Let it conform to Prototyped."
            )
        }
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        if WideInteger.isOne(type) { throw WideInteger.refusal(of: type, in: probe, key) }
        let shape = try TypeShape(of: type, isOptional: true, within: probe)
        // Other models stay out: the ways from one to the next may be very many. So does a type that contains itself.
        let isMade = probe.values.isFull && !shape.kind.isModel
        let value = isMade ? try? shape.value(within: probe) : nil
        probe.append(
            ProbedField(
                key, isOptional: true, kind: shape.kind, type: Optional<Value>.self, value: value))
        return value
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        // The values of an enumeration's case, which are stored as JSON. A model is refused afterwards.
        probe.form = .loose
        return KeyedDecodingContainer(ProbeKeyedContainer<Nested>(probe: TypeProbe(Any.self, within: probe)))
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        probe.form = .loose
        return ProbeUnkeyedContainer(probe: probe)
    }

    func superDecoder() throws -> any Decoder {
        probe.form = .loose
        return TypeProbe(Any.self, within: probe)
    }

    func superDecoder(forKey key: Key) throws -> any Decoder { try superDecoder() }
}

/// Returns one made-up value, and records its type.
struct ProbeSingleContainer: SingleValueDecodingContainer {
    let probe: TypeProbe
    let codingPath: [any CodingKey] = []

    private func note<Value>(_ kind: AttributeKind, _ value: Value) -> Value {
        switch probe.form {
        case .nothing: probe.form = .single(kind)
        case .keyed: probe.form = .loose
        case .single, .loose: break
        }
        return value
    }

    private func integer<Value: FixedWidthInteger>(_ kind: AttributeKind) -> Value {
        note(kind, probe.values.integer())
    }

    func decodeNil() -> Bool {
        probe.form = .loose
        return true
    }

    func decode(_ type: Bool.Type) throws -> Bool { note(.boolean, probe.values.flag) }
    func decode(_ type: String.Type) throws -> String { note(.string, probe.values.string) }
    func decode(_ type: Double.Type) throws -> Double { note(.double, probe.values.fraction) }
    func decode(_ type: Float.Type) throws -> Float { note(.float, Float(probe.values.fraction)) }
    func decode(_ type: Int.Type) throws -> Int { integer(.integer64) }
    func decode(_ type: Int8.Type) throws -> Int8 { integer(.integer16) }
    func decode(_ type: Int16.Type) throws -> Int16 { integer(.integer16) }
    func decode(_ type: Int32.Type) throws -> Int32 { integer(.integer32) }
    func decode(_ type: Int64.Type) throws -> Int64 { integer(.integer64) }
    func decode(_ type: UInt.Type) throws -> UInt { integer(.integer64) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { integer(.integer16) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { integer(.integer32) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { integer(.integer64) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { integer(.integer64) }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        if let kind = AttributeKind(of: type), let value = probe.values.value(of: kind) as? Value {
            return note(kind, value)
        }
        if let sample = SampleValue.untried(type) {
            probe.form = .loose
            return sample
        }
        return try Value(from: probe)
    }
}

/// Whole numbers of 128 bits, for which no store has a column. In lists, which are JSON, they are kept like any other
/// number.
enum WideInteger {
    static func isOne(_ type: Any.Type) -> Bool {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return false }
        return type == Int128.self || type == UInt128.self
    }

    /// - Parameters:
    ///   - type: the type of the number.
    ///   - probe: the type that asked for it.
    ///   - key: the key of the number; nil where it is all that the type has.
    /// - Returns: the error.
    static func refusal(of type: Any.Type, in probe: TypeProbe, _ key: (any CodingKey)?) -> PersistenceError {
        .notDerivable(
            type: probe.name, property: key?.stringValue ?? "",
            reason:
                "a store has no column for \(type): it keeps whole numbers of 64 bits at most. Use an Int64, or a String "
                + "with the digits.")
    }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension ProbeKeyedContainer {
    func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 {
        throw WideInteger.refusal(of: type, in: probe, key)
    }

    func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 {
        throw WideInteger.refusal(of: type, in: probe, key)
    }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
extension ProbeSingleContainer {
    func decode(_ type: Int128.Type) throws -> Int128 { throw WideInteger.refusal(of: type, in: probe, nil) }

    func decode(_ type: UInt128.Type) throws -> UInt128 { throw WideInteger.refusal(of: type, in: probe, nil) }
}

/// An empty array that still returns made-up elements to a type that decodes them without checking the count, such as a
/// range or a point.
struct ProbeUnkeyedContainer: UnkeyedDecodingContainer {
    /// Knows the types around it.
    let probe: TypeProbe
    let codingPath: [any CodingKey] = []
    let count: Int? = 0
    let isAtEnd = true
    let currentIndex = 0

    func decodeNil() throws -> Bool { true }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        // Always the same number, so that the bounds of a range are in order.
        if let number = type as? any BinaryInteger.Type, let one = one(number) as? Value { return one }
        if let kind = AttributeKind(of: type), let value = probe.values.value(of: kind) as? Value { return value }
        if let sample = SampleValue.untried(type) { return sample }
        guard !probe.path.contains(ObjectIdentifier(type)) else { throw end }
        return try Value(from: TypeProbe(type, within: probe))
    }

    func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try superDecoder().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { self }
    func superDecoder() throws -> any Decoder { TypeProbe(Any.self, within: probe) }

    private func one<Number: BinaryInteger>(_ type: Number.Type) -> Any { Number(1) }

    private var end: DecodingError {
        .valueNotFound(Any.self, DecodingError.Context(codingPath: [], debugDescription: "The array has no elements."))
    }
}
