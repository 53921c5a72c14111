/// Anything with a unique identifier that is to be saved: a struct of your app, usually.
///
/// ```swift
/// struct Person: CoreModel, Codable {
///     let uid: String
///     var name: String
/// }
/// ```
///
/// A model that is `Codable` needs nothing else to be saved and fetched by a manager that was made for it
/// (`PersistenceManager(models:)`). Others are converted by a record (``RecordFromModel``,
/// ``RecordToModel``).
public protocol CoreModel: SendableMetatype {
    /// The type of the identifier: `String`, `Int`, `UUID` and the like.
    associatedtype UidType: UniqueIdentifier

    /// ``Schema`` of the model.
    associatedtype SchemaType: SchemaDescription = Schema<Self>

    /// The identifier. No two models of a type share one.
    var uid: UidType { get }

    /// What the properties of a `Codable` model do not say: indexes, owned models, defaults, former names. Unless you say
    /// otherwise, nothing.
    static var schema: SchemaType { get }
}

extension CoreModel where SchemaType == Schema<Self> {
    /// A schema without rules.
    public static var schema: Schema<Self> { Schema() }
}
