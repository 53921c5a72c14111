import CompactCollections

/// Rules about a `Codable` model that its properties cannot express, in one place.
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
/// Key paths must name stored properties; `load()` throws for a rule about anything else.
public struct Schema<Model>: Sendable {
    let name: String?
    let rules: [SchemaRule<Model>]

    /// A schema with rules.
    ///
    /// - Parameters:
    ///   - rules: the rules, in any order.
    ///   - name: the name of the entity. By default it is the type's name.
    public init(_ rules: SchemaRule<Model>..., name: String? = nil) {
        self.init(rules: rules, name: name)
    }

    init(rules: [SchemaRule<Model>], name: String?) {
        self.rules = rules
        self.name = name
    }
}

/// The type of a model's ``CoreModel/schema``: a ``Schema``.
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
