/// A model identified by its identifier alone: a back reference, or a link that reading does not follow.
///
/// ```swift
/// struct Review: CoreModel {
///     let id: UUID
///     var book: Reference<Book>
///     var text: String
/// }
///
/// let review = Review(id: UUID(), book: Reference(emma), text: "Badly done, Emma!")
/// ```
///
/// The store keeps it as a relationship, like that of a nested model. Saving looks the model up, and throws
/// ``PersistenceError/Code/missingReference`` if it is neither stored nor part of the same save. In JSON and other
/// encodings it is the identifier.
public struct Reference<Model: CoreModel>: Hashable, Sendable, Identifiable, Codable {
    /// The identifier of the model.
    public let id: Model.ID

    /// A reference to the model with that identifier.
    ///
    /// - Parameter id: the identifier.
    public init(id: Model.ID) { self.id = id }

    /// A reference to a model.
    ///
    /// - Parameter model: the model; only its identifier matters.
    public init(_ model: Model) { id = model.id }

    /// Encodes the identifier alone, as a single value.
    ///
    /// - Parameter encoder: the encoder, which receives a single value.
    /// - Throws: what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(id)
    }

    /// Decodes the identifier.
    ///
    /// - Parameter decoder: the decoder, which provides a single value.
    /// - Throws: what the decoder throws.
    public init(from decoder: any Decoder) throws {
        id = try decoder.singleValueContainer().decode(Model.ID.self)
    }
}
