/// A struct that is to be saved: `Codable`, and told from others of its type by its `id`.
///
/// ```swift
/// struct Person: CoreModel {
///     let id: UUID
///     var name: String
/// }
/// ```
///
/// That is all that `PersistenceManager(models:)` needs. An identifier is any value that a single attribute can hold: a `String`, an `Int`,
/// a `UUID`, a `Date`, an enumeration with raw values, or a type of your own that is coded as one of these.
///
/// With ``CoreModel()`` in place of the conformance, reading and writing it takes less time.
///
/// Code that comes from elsewhere may call it `uid`. That is the same: a model has one of the two as a property, and the other for nothing.
public protocol CoreModel: Codable, Sendable, Identifiable where ID: Codable & Sendable {
    /// The type of the identifier.
    associatedtype ID = UidType

    /// The type of the identifier, for a model that calls it `uid`.
    associatedtype UidType = ID

    /// ``Schema`` of the model.
    associatedtype SchemaType: SchemaDescription = Schema<Self>

    /// The identifier. No two models of a type share one.
    var id: ID { get }

    /// The identifier by another name.
    var uid: UidType { get }

    /// What the properties of a model do not say: indexes, owned models, defaults, former names. Unless you say otherwise, nothing.
    static var schema: SchemaType { get }

    /// What reads and writes the model's columns in place of its coding; nil for a model that ``CoreModel()`` has written nothing for.
    static var compiledColumns: ModelColumns? { get }
}

extension CoreModel {
    /// None: the model is read and written by its coding.
    public static var compiledColumns: ModelColumns? { nil }
}

extension CoreModel where UidType == ID {
    /// The identifier: that of a model with a property `uid`.
    public var id: UidType { uid }

    /// The identifier: that of a model with a property `id`.
    public var uid: UidType { id }
}

extension CoreModel where SchemaType == Schema<Self> {
    /// A schema without rules.
    public static var schema: Schema<Self> { Schema() }
}
