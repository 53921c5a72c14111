/// One thing that a ``Schema`` says.
public struct SchemaRule<Model>: Sendable {
    let fact: SchemaFact

    /// An index over properties, for filters and orders that use them.
    ///
    /// - Parameter keyPaths: the properties, the most significant first.
    /// - Returns: the rule, for ``Schema``.
    /// - SQL: `CREATE INDEX … ON Z<ENTITY> (<property>, …)`
    public static func index(_ keyPaths: PartialKeyPath<Model>...) -> Self {
        Self(fact: .index(keyPaths.map(PropertyName.init)))
    }

    /// No two models share the values of these properties. The identifier needs no rule: it is always unique.
    ///
    /// Saving a second model with the same values, under another identifier, is an error (``PersistenceError/Code/conflict``). In a store that has such models
    /// already, `load()` throws ``PersistenceError/Code/notUnique``. Models without a value do not count.
    ///
    /// - Parameter keyPaths: the properties.
    /// - Returns: the rule, for ``Schema``.
    /// - SQL: `CREATE UNIQUE INDEX … ON Z<ENTITY> (<property>, …)`
    public static func unique(_ keyPaths: PartialKeyPath<Model>...) -> Self {
        Self(fact: .unique(keyPaths.map(PropertyName.init), keeping: nil))
    }

    /// No two models share the values of these properties, and the schema says which one stays where a second one is saved.
    ///
    /// ```swift
    /// Schema(.unique(\.name, keeping: .stored))   // a second tag of a name becomes the stored one
    /// ```
    ///
    /// - Parameters:
    ///   - keyPaths: the properties.
    ///   - kept: which of the two stays.
    /// - Returns: the rule, for ``Schema``.
    /// - SQL: `CREATE UNIQUE INDEX … ON Z<ENTITY> (<property>, …)`
    public static func unique(_ keyPaths: PartialKeyPath<Model>..., keeping kept: KeptModel) -> Self {
        Self(fact: .unique(keyPaths.map(PropertyName.init), keeping: kept))
    }

    /// These properties need not be unique any more. Without this rule a store keeps its uniqueness constraints: another program may
    /// count on them.
    ///
    /// - Parameter keyPaths: the properties.
    /// - Returns: the rule, for ``Schema``.
    /// - SQL: `DROP INDEX …`
    public static func notUnique(_ keyPaths: PartialKeyPath<Model>...) -> Self {
        Self(fact: .notUnique(keyPaths.map(PropertyName.init)))
    }

    /// The models in a property belong to this one alone: those that leave it are deleted when it is saved, and all of
    /// them when it is deleted.
    ///
    /// Without this rule they are shared: they may be in several models at once, and stay when these go.
    ///
    /// - Parameter keyPath: a property with a model, or with an array or a set of them.
    /// - Returns: the rule, for ``Schema``.
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
    /// - Returns: the rule, for ``Schema``.
    public static func defaultValue<Value: Encodable & Sendable>(
        _ keyPath: KeyPath<Model, Value>, _ value: Value
    ) -> Self {
        Self(fact: .defaultValue(PropertyName(keyPath), value))
    }

    /// The property had another name in earlier versions of the model; migration brings its values along.
    ///
    /// - Parameters:
    ///   - keyPath: the property.
    ///   - former: its former name; the first one where it had several, by which the stores of all versions since know it.
    /// - Returns: the rule, for ``Schema``.
    public static func renamed<Value>(_ keyPath: KeyPath<Model, Value>, from former: String) -> Self {
        Self(fact: .renamed(PropertyName(keyPath), from: former))
    }

    /// The model had that property in earlier versions, and has it no more: `load()` removes its values from a store that still has it.
    ///
    /// Without this rule, `load()` throws ``PersistenceError/Code/wouldLose`` for such a store. A property of that name that the model
    /// has now begins anew where its type does not fit the values in the store. Once no store has the property, the rule may go.
    ///
    /// - Parameter property: the property's name; a nested struct's as `address.street`. A relationship goes with its
    ///   other side.
    /// - Returns: the rule, for ``Schema``.
    public static func removed(_ property: String) -> Self { Self(fact: .removed(property)) }

    /// A model that there was in earlier versions is there no more: `load()` removes its entity from a store, with all its rows.
    ///
    /// Without this rule the entity is left alone: another program may have put it there.
    ///
    /// - Parameter entity: the entity's name. The rule may stand in the schema of any model.
    /// - Returns: the rule, for ``Schema``.
    public static func removed(entity: String) -> Self { Self(fact: .entityRemoved(entity)) }

    /// The property's type holds less than it did: values are converted by `load()`, fractions cut off, the order of an array that has
    /// become a set forgotten.
    ///
    /// An integer that does not fit stops the migration. Without this rule, `load()` throws ``PersistenceError/Code/wouldLose``.
    ///
    /// - Parameter keyPath: the property.
    /// - Returns: the rule, for ``Schema``.
    public static func narrowed<Value>(_ keyPath: KeyPath<Model, Value>) -> Self {
        Self(fact: .narrowed(PropertyName(keyPath)))
    }

    /// What the model's entity has in its `userInfo`, for whoever reads it: a store in PostgreSQL takes the name of the table from
    /// `PippinSQLName`, and how it is divided from `PippinPartitions`.
    ///
    /// ```swift
    /// Schema(.userInfo(["PippinSQLName": "books"]), .userInfo(\.title, ["PippinSQLName": "book_title"]))
    /// ```
    ///
    /// - Parameter userInfo: keys and values, in addition to those of other rules.
    /// - Returns: the rule, for ``Schema``.
    public static func userInfo(_ userInfo: [String: String]) -> Self { Self(fact: .entityUserInfo(userInfo)) }

    /// What a property has in its `userInfo`, for whoever reads it: a store in PostgreSQL takes the name of the column from `PippinSQLName`.
    ///
    /// - Parameters:
    ///   - keyPath: the property, which may be one of a nested struct.
    ///   - userInfo: keys and values, in addition to those of other rules.
    /// - Returns: the rule, for ``Schema``.
    public static func userInfo<Value>(_ keyPath: KeyPath<Model, Value>, _ userInfo: [String: String]) -> Self {
        Self(fact: .userInfo(PropertyName(keyPath), userInfo))
    }

    /// The model had another name in earlier versions.
    ///
    /// - Parameter former: its former name; the first one where it had several.
    /// - Returns: the rule, for ``Schema``.
    public static func renamed(from former: String) -> Self { Self(fact: .entityRenamed(from: former)) }
}

/// Which model stays where two would share values that are unique: see ``SchemaRule/unique(_:keeping:)``.
public enum KeptModel: Sendable {
    /// The one that is in the store already, or came first. What is being saved is left out, and what refers to it refers to the one that
    /// stays.
    case stored
    /// The one that is being saved. It takes the place of the stored one, with its identifier; what refers to that refers to the new one.
    case new
}

/// What a rule says, by names.
enum SchemaFact: Sendable {
    case index([PropertyName])
    case unique([PropertyName], keeping: KeptModel?)
    case notUnique([PropertyName])
    case owns(PropertyName)
    case inverse(PropertyName, of: PropertyName, in: ObjectIdentifier)
    case defaultValue(PropertyName, any Encodable & Sendable)
    case renamed(PropertyName, from: String)
    case entityRenamed(from: String)
    case removed(String)
    case entityRemoved(String)
    case narrowed(PropertyName)
    case userInfo(PropertyName, [String: String])
    case entityUserInfo([String: String])
}
