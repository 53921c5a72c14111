import CoreData

/// The stored properties of a struct, or the cases of an enumeration, as the compiler describes them.
///
/// Unsafe memory: it reads the descriptions that the compiler writes into the program, whose layout is part of Swift's
/// stable ABI. A type's metadata begin with a kind and a reference to its description, which refers to those of its
/// fields by distances.
struct TypeFields {
    enum Kind { case structure, enumeration }

    /// A stored property or a case.
    struct Field {
        let name: String
        /// The property's type, or that of a case's associated values; nil for a case without.
        let type: Any.Type?
    }

    let kind: Kind
    /// Properties in their order; of cases, those with associated values come first.
    let fields: [Field]

    /// Fails for a class, a tuple, an optional, and a type whose description was left out of the program.
    ///
    /// - Parameter type: the type.
    init?(of type: Any.Type) {
        let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
        switch metadata.load(as: Int.self) {
        case 0x200: kind = .structure
        case 0x201: kind = .enumeration
        default: return nil
        }
        let description = metadata.load(fromByteOffset: MemoryLayout<Int>.size, as: UnsafeRawPointer.self)
        guard let fieldsDescription = description.reference(at: 16) else { return nil }
        let size = Int(fieldsDescription.load(fromByteOffset: 10, as: UInt16.self))
        let count = Int(fieldsDescription.load(fromByteOffset: 12, as: UInt32.self))
        guard size >= 12 else { return nil }
        // Arguments of a generic type follow the description in the metadata.
        let arguments = metadata + 2 * MemoryLayout<Int>.size
        fields = (0..<count).compactMap { index in
            let record = fieldsDescription + 16 + index * size
            guard let name = record.reference(at: 8) else { return nil }
            let type = record.reference(at: 4).flatMap { name in
                _getTypeByMangledNameInContext(
                    name.assumingMemoryBound(to: UInt8.self), UInt(Self.length(ofMangledName: name)),
                    genericContext: description, genericArguments: arguments)
            }
            return Field(name: String(cString: name.assumingMemoryBound(to: CChar.self)), type: type)
        }
        if fields.count != count { return nil }
    }

    /// The elements of a tuple, with their labels; nil for any other type.
    static func tuple(_ type: Any.Type) -> [Field]? {
        let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
        guard metadata.load(as: Int.self) == 0x301 else { return nil }
        let word = MemoryLayout<Int>.size
        let count = metadata.load(fromByteOffset: word, as: Int.self)
        let labels = metadata.load(fromByteOffset: 2 * word, as: UnsafePointer<CChar>?.self)
        // Labels stand one after the other with a blank behind each.
        let names = labels.map { String(cString: $0).split(separator: " ", omittingEmptySubsequences: false) } ?? []
        return (0..<count).map { index in
            let type = metadata.load(fromByteOffset: (3 + 2 * index) * word, as: Any.Type.self)
            return Field(name: names.indices.contains(index) ? String(names[index]) : "", type: type)
        }
    }

    /// The length of a mangled name, in which references follow control characters.
    private static func length(ofMangledName name: UnsafeRawPointer) -> Int {
        var length = 0
        while true {
            switch name.load(fromByteOffset: length, as: UInt8.self) {
            case 0: return length
            case 0x01...0x17: length += 5
            case 0x18...0x1F: length += 1 + MemoryLayout<Int>.size
            default: length += 1
            }
        }
    }

    /// The values of an enumeration without associated values, in the order of its cases; nil for any other type.
    ///
    /// Such an enumeration is stored as the number of its case, in one byte, or in nothing if it has one case.
    static func cases<Value>(of type: Value.Type) -> [(name: String, value: Value)]? {
        guard let fields = TypeFields(of: type), fields.kind == .enumeration, _isPOD(type),
            fields.fields.allSatisfy({ $0.type == nil }), (1...256).contains(fields.fields.count),
            MemoryLayout<Value>.size == (fields.fields.count == 1 ? 0 : 1)
        else { return nil }
        return fields.fields.enumerated().map { index, field in
            withUnsafeTemporaryAllocation(byteCount: 1, alignment: 1) { bytes in
                bytes.storeBytes(of: UInt8(index), as: UInt8.self)
                return (field.name, bytes.load(as: Value.self))
            }
        }
    }
}

extension TypeFields {
    /// Where the instances of a class have one of its own stored variables, in bytes from their beginning; nil for a
    /// variable that the compiler did not describe, and for a class whose superclass may change without it.
    ///
    /// Unsafe memory: as above. A class's metadata have the distances of its variables, at a place that its description
    /// tells.
    static func offset(of variable: String, in type: AnyClass) -> Int? {
        let metadata = unsafeBitCast(type, to: UnsafeRawPointer.self)
        guard metadata.load(as: Int.self) == 0 else { return nil }
        let description = metadata.load(fromByteOffset: 40, as: UnsafeRawPointer.self)
        let hasResilientSuperclass = description.load(as: UInt32.self) & (1 << 29) != 0
        guard !hasResilientSuperclass, let fields = description.reference(at: 16) else { return nil }
        let size = Int(fields.load(fromByteOffset: 10, as: UInt16.self))
        let count = Int(fields.load(fromByteOffset: 12, as: UInt32.self))
        let offsets = Int(description.load(fromByteOffset: 40, as: UInt32.self))
        guard size >= 12, offsets > 0 else { return nil }
        for index in 0..<count {
            guard let name = (fields + 16 + index * size).reference(at: 8),
                String(cString: name.assumingMemoryBound(to: CChar.self)) == variable
            else { continue }
            return metadata.load(fromByteOffset: (offsets + index) * MemoryLayout<Int>.size, as: Int.self)
        }
        return nil
    }
}

extension UnsafeRawPointer {
    /// The address to which the distance at an offset leads; nil for none.
    fileprivate func reference(at offset: Int) -> UnsafeRawPointer? {
        let distance = load(fromByteOffset: offset, as: Int32.self)
        return distance == 0 ? nil : self + offset + Int(distance)
    }
}

/// Makes a value of a type of which the store has none that can be read: with zeros, empty texts and collections, and
/// the first case of an enumeration.
enum EmptyValue {
    /// - Returns: nil for a type that does not decode any such value.
    static func value<Value>(of type: Value.Type) -> Value? {
        if let primitive = type as? any StoredPrimitive.Type { return primitive.absent as? Value }
        if let first = TypeFields.cases(of: type)?.first?.value { return first }
        return (type as? any Decodable.Type).flatMap { decoded($0) } as? Value
    }

    private static func decoded<Value: Decodable>(_ type: Value.Type) -> Value? {
        try? Value(from: EmptyDecoder(depth: 0))
    }
}

/// Answers every question of a type's coding with an empty value.
private struct EmptyDecoder: Decoder {
    /// How many values this one is in: a type that contains itself has no empty value.
    let depth: Int
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(EmptyKeys<Key>(depth: depth))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { EmptyList() }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { EmptySingle(depth: depth) }

    static func value<Value: Decodable>(_ type: Value.Type, _ depth: Int) throws -> Value {
        if let primitive = type as? any StoredPrimitive.Type, let value = primitive.absent as? Value { return value }
        if let first = TypeFields.cases(of: type)?.first?.value { return first }
        guard depth < 32 else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: [], debugDescription: "\(type) contains itself."))
        }
        return try Value(from: EmptyDecoder(depth: depth + 1))
    }
}

private struct EmptyKeys<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let depth: Int
    var codingPath: [any CodingKey] { [] }
    /// Of the keys of an enumeration with associated values, one must be there.
    var allKeys: [Key] { TypeFields.cases(of: Key.self)?.first.map { [$0.value] } ?? [] }

    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) throws -> Bool { true }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try EmptyDecoder.value(type, depth)
    }
    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { KeyedDecodingContainer(EmptyKeys<Nested>(depth: depth)) }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { EmptyList() }
    func superDecoder() throws -> any Decoder { EmptyDecoder(depth: depth) }
    func superDecoder(forKey key: Key) throws -> any Decoder { EmptyDecoder(depth: depth) }
}

private struct EmptyList: UnkeyedDecodingContainer {
    var codingPath: [any CodingKey] { [] }
    var count: Int? { 0 }
    var isAtEnd: Bool { true }
    var currentIndex: Int { 0 }

    private var end: DecodingError {
        DecodingError.dataCorrupted(DecodingError.Context(codingPath: [], debugDescription: "The list is empty."))
    }
    func decodeNil() throws -> Bool { throw end }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { throw end }
    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) throws -> KeyedDecodingContainer<Nested> {
        throw end
    }
    func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { throw end }
    func superDecoder() throws -> any Decoder { throw end }
}

private struct EmptySingle: SingleValueDecodingContainer {
    let depth: Int
    var codingPath: [any CodingKey] { [] }
    func decodeNil() -> Bool { true }
    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try EmptyDecoder.value(type, depth) }
}
