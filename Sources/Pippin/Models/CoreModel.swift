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

    /// The initial values of properties, by name, as far as ``CoreModel()`` sees them: what objects have that a store
    /// has without them, unless ``schema`` says otherwise.
    static var initialValues: [String: any Encodable & Sendable] { get }
}

extension CoreModel {
    /// Nil: the model is read and written by its coding.
    public static var compiledColumns: ModelColumns? { nil }

    /// Empty: no initial value is known.
    public static var initialValues: [String: any Encodable & Sendable] { [:] }

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

/// Makes a struct a ``CoreModel`` whose rows are read and written column by column, by code that is generated at
/// compile time.
///
/// ```swift
/// @CoreModel
/// struct Person {
///     let id: UUID
///     var name: String
///     private var note: String?
/// }
/// ```
///
/// The model is stored exactly as with `: CoreModel` and synthesized coding; it is only faster. The stored properties
/// are the columns, including private ones. Filters and orders take those with `willSet` or `didSet`, and wrapped ones,
/// too.
///
/// An initial value is the default: `var stars = 3` over a store without `stars` gives each stored object 3, and so
/// does an import without that column. That goes for literals, cases, and calls of types with these, such as `Date()`,
/// which is evaluated once; for everything else say ``SchemaRule/defaultValue(_:_:)``.
///
/// If a type declares `init(from:)`, `encode(to:)` or `CodingKeys`, is a final class, or has lazy or wrapped properties
/// or constants with a value, it is read and written by its coding: the macro adds only the conformance. Declare your
/// own coding in the type itself; the compiler rejects it in an extension as a redeclaration.
///
/// In a module whose declarations belong to the main actor by default, models belong to no actor. Mark the structs that
/// are their values `nonisolated`, since they are coded off the main actor.
@attached(
    extension, conformances: CoreModel, names: named(CodingKeys), named(init(from:)), named(encode(to:)),
    named(init(columns:)), named(write(columns:)), named(compiledColumns), named(observedProperties),
    named(initialValues))
public macro CoreModel() = #externalMacro(module: "PippinMacros", type: "CoreModelMacro")

extension SchemaRule {
    /// Declares two properties to be the two sides of one relationship, so that changing one changes the other.
    ///
    /// One of the two models declares it. The other side should be a ``Reference``, or an array or a set of references,
    /// since structs cannot contain each other endlessly.
    ///
    /// ```swift
    /// Schema(.inverse(\.reviews, of: \Review.book))
    /// ```
    ///
    /// - Parameters:
    ///   - keyPath: a property of this model.
    ///   - other: the property of the other model that leads back.
    /// - Returns: the rule, for the model's schema.
    public static func inverse<Value, Other: CoreModel, Back>(
        _ keyPath: KeyPath<Model, Value>, of other: KeyPath<Other, Back>
    ) -> Self {
        Self(fact: .inverse(PropertyName(keyPath), of: PropertyName(other), in: ObjectIdentifier(Other.self)))
    }
}
