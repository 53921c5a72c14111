/// A model named by its identifier alone: a back reference, or a link that is not to be followed when reading.
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
/// In the store it is a relationship like that of a nested model. Saving looks the model up, and throws
/// ``PersistenceError/Code/missingReference`` where it is neither stored nor part of the same save. In JSON and
/// other encodings it is the identifier.
public struct Reference<Model: CoreModel>: Hashable, Sendable, Identifiable, Codable {
    /// The identifier of the model that is meant.
    public let id: Model.ID

    /// A reference to the model with that identifier.
    ///
    /// - Parameter id: the identifier.
    public init(id: Model.ID) { self.id = id }

    /// A reference to a model.
    ///
    /// - Parameter model: the model; only its identifier matters.
    public init(_ model: Model) { id = model.id }

    /// Encodes the identifier, without anything around it.
    ///
    /// - Parameter encoder: the encoder, which gets a single value.
    /// - Throws: what the encoder throws.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(id)
    }

    /// Decodes the identifier.
    ///
    /// - Parameter decoder: the decoder, which gives a single value.
    /// - Throws: what the decoder throws.
    public init(from decoder: any Decoder) throws {
        id = try decoder.singleValueContainer().decode(Model.ID.self)
    }
}
