/// What the properties of a `Codable` model do not say, in one place.
///
/// ```swift
/// struct Store: CoreModel {
///     let id: String
///     var brand: String
///     var books: [Book]
///
///     static var schema: Schema<Store> {
///         Schema(.owns(\.books), .index(\.brand), .renamed(\.brand, from: "title"))
///     }
/// }
/// ```
///
/// Key paths name stored properties; a rule about anything else is an error of `load()`.
public struct Schema<Model>: Sendable {
    let name: String?
    let rules: [SchemaRule<Model>]

    /// A schema of rules.
    ///
    /// - Parameters:
    ///   - rules: the rules, in any order.
    ///   - name: the name of the entity. Unless you say otherwise, that of the type.
    public init(_ rules: SchemaRule<Model>..., name: String? = nil) {
        self.init(rules: rules, name: name)
    }

    init(rules: [SchemaRule<Model>], name: String?) {
        self.rules = rules
        self.name = name
    }
}

/// What a model's ``CoreModel/schema`` is: a ``Schema``.
public protocol SchemaDescription {}

extension Schema: SchemaDescription {}

/// A schema without its model's type.
protocol AnySchema {
    var entityName: String? { get }
    var facts: [SchemaFact] { get }
}

extension Schema: AnySchema {
    var entityName: String? { name }
    var facts: [SchemaFact] { rules.map(\.fact) }
}
