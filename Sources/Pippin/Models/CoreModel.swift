/// A struct that can be saved: it is `Codable`, and its `id` distinguishes it from others of its type.
///
/// ```swift
/// struct Person: CoreModel {
///     let id: UUID
///     var name: String
/// }
/// ```
///
/// `PersistenceManager(models:)` needs nothing more. An identifier is any value that a single attribute can hold: a
/// `String`, an `Int`, a `UUID`, a `Date`, an enumeration with raw values, or a type of your own that is coded as one
/// of these.
///
/// With ``CoreModel()`` in place of the conformance, reading and writing the struct is faster.
///
/// Existing code may call the identifier `uid`. Both work: a model declares one of the two, and gets the other from it.
public protocol CoreModel: Codable, Sendable, Identifiable, ObservedProperties where ID: Codable & Sendable {
    /// The type of the identifier.
    associatedtype ID = UidType

    /// The type of the identifier, for a model that calls it `uid`.
    associatedtype UidType = ID

    /// The model's ``Schema``.
    associatedtype SchemaType: SchemaDescription = Schema<Self>

    /// The identifier. No two models of a type share one.
    var id: ID { get }

    /// The identifier, by another name.
    var uid: UidType { get }

    /// What a model's properties cannot express: indexes, owned models, defaults, former names. By default, no rules.
    static var schema: SchemaType { get }

    /// Functions that read and write the model's columns in place of its coding; nil for a model without
    /// ``CoreModel()``.
    static var compiledColumns: ModelColumns? { get }
}

extension CoreModel {
    /// Nil: the model is read and written by its coding.
    public static var compiledColumns: ModelColumns? { nil }

    /// Empty: no property is known to be observed.
    public static var observedProperties: [AnyKeyPath: String] { [:] }
}

extension CoreModel where UidType == ID {
    /// The identifier, for a model with a property `uid`.
    public var id: UidType { uid }

    /// The identifier, for a model with a property `id`.
    public var uid: UidType { id }
}

extension CoreModel where SchemaType == Schema<Self> {
    /// A schema without rules.
    public static var schema: Schema<Self> { Schema() }
}
