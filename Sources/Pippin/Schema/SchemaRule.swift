/// One thing that a ``Schema`` says.
public struct SchemaRule<Model>: Sendable {
    let fact: SchemaFact

    /// An index over properties, for filters and orders that use them.
    ///
    /// - Parameter keyPaths: the properties, the most significant first.
    /// - SQL: `CREATE INDEX … ON Z<ENTITY> (<property>, …)`
    public static func index(_ keyPaths: PartialKeyPath<Model>...) -> Self {
        Self(fact: .index(keyPaths.map(PropertyName.init)))
    }

    /// No two models share the values of these properties. That the identifier is unique goes without saying.
    ///
    /// - Parameter keyPaths: the properties.
    /// - SQL: `CREATE UNIQUE INDEX … ON Z<ENTITY> (<property>, …)`
    public static func unique(_ keyPaths: PartialKeyPath<Model>...) -> Self {
        Self(fact: .unique(keyPaths.map(PropertyName.init)))
    }

    /// The models in a property belong to this one alone: those that leave it are deleted when it is saved, and all of
    /// them when it is deleted.
    ///
    /// Without this rule they are shared: they may be in several models at once, and stay when these go.
    ///
    /// - Parameter keyPath: a property with a model, or with an array or a set of them.
    public static func owns<Value>(_ keyPath: KeyPath<Model, Value>) -> Self {
        Self(fact: .owns(PropertyName(keyPath)))
    }

    /// What the property has in stores that were made before there was such a property. Arrays, sets and dictionaries are empty
    /// there unless you say otherwise.
    ///
    /// ```swift
    /// Schema(.defaultValue(\.address, Address(street: "", city: "")), .defaultValue(\.terms.days, 30))
    /// ```
    ///
    /// - Parameters:
    ///   - keyPath: the property, which may be one of a nested struct. Models and references have no default value.
    ///   - value: its value there.
    public static func defaultValue<Value: Encodable & Sendable>(
        _ keyPath: KeyPath<Model, Value>, _ value: Value
    ) -> Self {
        Self(fact: .defaultValue(PropertyName(keyPath), value))
    }

    /// The property had another name in earlier versions of the model; migration brings its values along.
    ///
    /// - Parameters:
    ///   - keyPath: the property.
    ///   - former: its former name.
    public static func renamed<Value>(_ keyPath: KeyPath<Model, Value>, from former: String) -> Self {
        Self(fact: .renamed(PropertyName(keyPath), from: former))
    }

    /// The model had another name in earlier versions.
    ///
    /// - Parameter former: its former name.
    public static func renamed(from former: String) -> Self { Self(fact: .entityRenamed(from: former)) }
}

/// What a rule says, by names.
enum SchemaFact: Sendable {
    case index([PropertyName])
    case unique([PropertyName])
    case owns(PropertyName)
    case inverse(PropertyName, of: PropertyName, in: ObjectIdentifier)
    case defaultValue(PropertyName, any Encodable & Sendable)
    case renamed(PropertyName, from: String)
    case entityRenamed(from: String)
}
