/// A model named by its identifier alone: a back reference, or a link that is not to be followed when reading.
///
/// ```swift
/// struct Review: CoreModel, Codable {
///     let uid: UUID
///     var book: Reference<Book>
///     var text: String
/// }
///
/// let review = Review(uid: UUID(), book: Reference(emma), text: "Badly done, Emma!")
/// ```
///
/// In the store it is a relationship like that of a nested model. Saving looks the model up, and throws
/// ``PersistenceError/missingReference(entity:key:uid:)`` where it is neither stored nor part of the same save. In JSON and
/// other encodings it is the identifier.
public struct Reference<Model: CoreModel>: Hashable, Sendable {
    /// The identifier of the model that is meant.
    public let uid: Model.UidType

    /// A reference to the model with that identifier.
    ///
    /// - Parameter uid: the identifier.
    public init(uid: Model.UidType) { self.uid = uid }

    /// A reference to a model.
    ///
    /// - Parameter model: the model; only its identifier matters.
    public init(_ model: Model) { uid = model.uid }
}

extension Reference: Encodable where Model.UidType: Encodable {
    /// Encodes the identifier, without anything around it.
    ///
    /// - Parameter encoder: the encoder, which gets a single value.
    /// - Throws: what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(uid)
    }
}

extension Reference: Decodable where Model.UidType: Decodable {
    /// Decodes the identifier.
    ///
    /// - Parameter decoder: the decoder, which gives a single value.
    /// - Throws: what the decoder throws.
    public init(from decoder: any Decoder) throws {
        uid = try decoder.singleValueContainer().decode(Model.UidType.self)
    }
}
