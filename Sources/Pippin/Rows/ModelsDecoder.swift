import CoreData

/// Decodes an array or a set of models, or of references, that are there already.
struct ModelsDecoder: Decoder, UnkeyedDecodingContainer {
    let nodes: [Int]
    let related: RelatedModel
    let assembler: StructAssembler
    var currentIndex = 0
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }
    var count: Int? { nodes.count }
    var isAtEnd: Bool { currentIndex == nodes.count }

    init(nodes: [Int], related: RelatedModel, assembler: StructAssembler) {
        self.nodes = nodes
        self.related = related
        self.assembler = assembler
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { self }
    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> { throw form }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw form }

    mutating func decodeNil() throws -> Bool { false }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        guard !isAtEnd, let value = try assembler.model(type, nodes[currentIndex], related) else { throw form }
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
