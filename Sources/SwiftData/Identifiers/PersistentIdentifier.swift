import CoreData

/// A store that gives its models identifiers of its own.
protocol IdentifierGiving: AnyObject {
    /// The identifier of a model; nil for one of another store.
    func identifier(of objectID: NSManagedObjectID) -> PersistentIdentifier?
}

/// The identity of a model. It can be used from any thread, and be encoded.
///
/// A model's identifier is temporary until it is first saved: the save gives it another one. The context that saved it
/// finds the model by either.
public struct PersistentIdentifier: Hashable, Identifiable, Equatable, Comparable, Codable, Sendable {
    /// What tells the identifier from others.
    public struct ID: Hashable, Equatable, Sendable {
        enum Content: Hashable {
            /// The number of a model that was never saved.
            case temporary(Int64)
            /// The store's UUID, and the key in the store.
            case stored(String, Key)
        }

        /// The key of a row, or another store's own key.
        enum Key: Hashable, Comparable {
            case number(Int64)
            case text(String)
        }

        let content: Content
    }

    /// What tells the identifier from others.
    public let id: PersistentIdentifier.ID
    /// The name of the model's entity.
    public let entityName: String

    /// The identifier of the store; nil for a model that was never saved.
    public var storeIdentifier: String? {
        if case .stored(let store, _) = id.content { store } else { nil }
    }

    init(entityName: String, _ content: ID.Content) { (self.entityName, id) = (entityName, ID(content: content)) }

    init(_ identifier: NSManagedObjectID) {
        let name = identifier.layout.name
        if let store = identifier.persistentStore as? any IdentifierGiving, let own = store.identifier(of: identifier) {
            self = own
            return
        }
        guard let store = identifier.storeIdentity else {
            self.init(entityName: name, .temporary(identifier.key))
            return
        }
        let key = identifier.reference.map { ID.Key.text("\($0)") } ?? .number(identifier.key)
        self.init(entityName: name, .stored(store.uuid, key))
    }

    /// The identifier of a model of a store.
    ///
    /// - Parameters:
    ///   - storeIdentifier: the store's identifier.
    ///   - entityName: the name of the model's entity.
    ///   - primaryKey: the key in the store: for a store of SwiftData's own the number of the row, `12` or `p12`.
    /// - Returns: the identifier, whether or not the store has the model.
    /// - Throws: nothing: the identifier is not looked up.
    public static func identifier<T>(
        for storeIdentifier: String, entityName: String, primaryKey: T
    ) throws -> PersistentIdentifier
    where T: Comparable, T: CustomStringConvertible, T: Decodable, T: Encodable, T: Hashable {
        PersistentIdentifier(entityName: entityName, .stored(storeIdentifier, ID.Key("\(primaryKey)")))
    }

    /// Whether an identifier comes before another one: by store, entity and key; temporary ones come last.
    ///
    /// - Parameters:
    ///   - lhs: an identifier.
    ///   - rhs: another one.
    /// - Returns: `true` if it does.
    public static func < (lhs: PersistentIdentifier, rhs: PersistentIdentifier) -> Bool {
        switch (lhs.id.content, rhs.id.content) {
        case (.temporary(let left), .temporary(let right)): left < right
        case (.temporary, .stored): false
        case (.stored, .temporary): true
        case (.stored(let left, let leftKey), .stored(let right, let rightKey)):
            (left, lhs.entityName, leftKey) < (right, rhs.entityName, rightKey)
        }
    }

    // MARK: Coding

    private enum CodingKeys: CodingKey { case implementation }

    private struct Implementation: Codable {
        var primaryKey: String
        var uriRepresentation: URL
        var isTemporary: Bool
        var storeIdentifier: String?
        var entityName: String
    }

    /// Decodes an identifier, of this program's or of Apple's SwiftData.
    ///
    /// - Parameter decoder: the decoder.
    /// - Throws: the errors of decoding, and one for a temporary identifier without a number.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let implementation = try container.decode(Implementation.self, forKey: .implementation)
        if let store = implementation.storeIdentifier, !implementation.isTemporary {
            self.init(entityName: implementation.entityName, .stored(store, ID.Key(implementation.primaryKey)))
            return
        }
        guard let number = Int64(implementation.primaryKey.dropFirst()) else {
            throw DecodingError.dataCorruptedError(
                forKey: .implementation, in: container,
                debugDescription: "“\(implementation.primaryKey)” is a temporary key of another program.")
        }
        self.init(entityName: implementation.entityName, .temporary(number))
    }

    /// Encodes the identifier as Apple's SwiftData does. One that is temporary is only found in this process.
    ///
    /// - Parameter encoder: the encoder.
    /// - Throws: the errors of encoding.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        let key =
            switch id.content {
            case .temporary(let number): "t\(number)"
            case .stored(_, let key): key.description
            }
        let entity = entityName.addingPercentEncoding(withAllowedCharacters: .urlPathAllowed) ?? entityName
        let path = "x-coredata://\(storeIdentifier ?? "")/\(entity)/\(key)"
        guard let uri = URL(string: path) else {
            throw EncodingError.invalidValue(
                self, EncodingError.Context(codingPath: encoder.codingPath, debugDescription: "“\(path)” is not a URL.")
            )
        }
        try container.encode(
            Implementation(
                primaryKey: key, uriRepresentation: uri, isTemporary: storeIdentifier == nil,
                storeIdentifier: storeIdentifier, entityName: entityName),
            forKey: .implementation)
    }
}

extension PersistentIdentifier.ID.Key: CustomStringConvertible {
    init(_ text: String) {
        self =
            Int64(text).map { .number($0) } ?? Int64(text.dropFirst()).flatMap { text.first == "p" ? .number($0) : nil }
            ?? .text(text)
    }

    var description: String {
        switch self {
        case .number(let number): "p\(number)"
        case .text(let text): text
        }
    }
}
