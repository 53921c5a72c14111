import StoreSession

/// The source of the elements of a collection of models or references.
protocol MemberSource {
    /// A member, by its place; nil if it is not of the type.
    func member<Value: Decodable>(_ type: Value.Type, _ place: Int) throws -> Value?
}

/// Decodes an array or a set of models or references that have been made already.
struct ModelsDecoder: Decoder, UnkeyedDecodingContainer {
    private let source: any MemberSource
    private let total: Int
    private let related: RelatedModel
    private(set) var currentIndex = 0
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    var count: Int? { total }
    var isAtEnd: Bool { currentIndex == total }

    /// - Parameters:
    ///   - source: has the members.
    ///   - count: how many there are.
    ///   - related: the kind of the members.
    init(_ source: any MemberSource, count: Int, of related: RelatedModel) {
        self.source = source
        total = count
        self.related = related
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { self }
    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> { throw form }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw form }

    mutating func decodeNil() throws -> Bool { false }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        guard !isAtEnd, let value = try source.member(type, currentIndex) else { throw form }
        currentIndex += 1
        return value
    }

    mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        throw form
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { throw form }
    mutating func superDecoder() throws -> any Decoder { throw form }

    private var form: PersistenceError {
        .unreadable(
            entity: "\(related.type)", key: "", reason: "its collection is decoded differently from the first time.")
    }
}
