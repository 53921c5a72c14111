import StoreSession

/// One rule of a ``Schema``.
public struct SchemaRule<Model>: Sendable {
    let fact: SchemaFact
    /// What the rule says besides.
    var others: [SchemaFact] = []

    /// The rule, with entries for the `userInfo` of the model's entity.
    ///
    /// - Parameter userInfo: makes the entries from the names of the rule's properties, where these are to be unique.
    /// - Returns: the rule.
    package func adding(_ userInfo: (_ unique: [String]) -> [String: String]) -> Self {
        var rule = self
        rule.others.append(.entityUserInfo(userInfo(uniqueNames)))
        return rule
    }

    /// The rule, with something that another module looks for in ``ModelRegistry/attachments``, such as a closure.
    ///
    /// - Parameter attachment: makes it from the names of the rule's properties, where these are to be unique.
    /// - Returns: the rule.
    package func attaching(_ attachment: (_ unique: [String]) -> any Sendable) -> Self {
        var rule = self
        rule.others.append(.attached(attachment(uniqueNames)))
        return rule
    }

    private var uniqueNames: [String] {
        if case .unique(let properties, _) = fact { properties.compactMap(\.path) } else { [] }
    }

    /// An index over properties, for filters and orders that use them.
    ///
    /// - Parameter keyPaths: the properties, the most significant first. They may be those of nested structs.
    /// - Returns: the rule, for ``Schema``.
    /// - SQL: `CREATE INDEX … ON Z<ENTITY> (<property>, …)`
    public static func index(_ keyPaths: PartialKeyPath<Model>...) -> Self {
        Self(fact: .index(keyPaths.map { PropertyName($0) }))
    }

    /// No two models have the same values of these properties. The identifier needs no rule: it is always unique.
    ///
    /// Saving a second model with the same values, under another identifier, is an error
    /// (``PersistenceError/Code/conflict``). If a store has such models already, `load()` throws
    /// ``PersistenceError/Code/notUnique``. Models without a value are exempt.
    ///
    /// - Parameter keyPaths: the properties, of the model itself.
    /// - Returns: the rule, for ``Schema``.
    /// - SQL: `CREATE UNIQUE INDEX … ON Z<ENTITY> (<property>, …)`
    public static func unique(_ keyPaths: PartialKeyPath<Model>...) -> Self { unique(keyPaths) }

    package static func unique(_ keyPaths: [PartialKeyPath<Model>]) -> Self {
        Self(fact: .unique(keyPaths.map { PropertyName($0) }, keeping: nil))
    }

    /// No two models have the same values of these properties. If a second one is saved, the rule says which one stays.
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
        Self(fact: .unique(keyPaths.map { PropertyName($0) }, keeping: kept))
    }

    /// These properties need not be unique any more. Without this rule a store keeps its uniqueness constraints, since
    /// another program may rely on them.
    ///
    /// - Parameter keyPaths: the properties.
    /// - Returns: the rule, for ``Schema``.
    /// - SQL: `DROP INDEX …`
    public static func notUnique(_ keyPaths: PartialKeyPath<Model>...) -> Self {
        Self(fact: .notUnique(keyPaths.map { PropertyName($0) }))
    }

    /// This model owns the models in a property: those that leave it are deleted when it is saved, and all of them when
    /// it is deleted.
    ///
    /// Without this rule they are shared: they may be in several models at once, and stay when these are deleted.
    ///
    /// The rule can be added later. `load()` then throws ``PersistenceError/Code/notUnique`` for a store in which one
    /// of them is in several models, with examples. A step of a ``MigrationPlan`` cannot add it.
    ///
    /// - Parameter keyPath: a property with a model, or with an array or a set of them.
    /// - Returns: the rule, for ``Schema``.
    public static func owns<Value>(_ keyPath: KeyPath<Model, Value>) -> Self {
        Self(fact: .owns(PropertyName(keyPath)))
    }

    /// The value of the property for models that were stored before the property existed. Arrays, sets and dictionaries
    /// are empty by default.
    ///
    /// ```swift
    /// Schema(.defaultValue(\.address, Address(street: "", city: "")), .defaultValue(\.terms.days, 30))
    /// ```
    ///
    /// - Parameters:
    ///   - keyPath: the property, which may be one of a nested struct. Models and references have no default value.
    ///   - value: the value for these models.
    /// - Returns: the rule, for ``Schema``.
    public static func defaultValue<Value: Encodable & Sendable>(
        _ keyPath: KeyPath<Model, Value>, _ value: Value
    ) -> Self {
        Self(fact: .defaultValue(PropertyName(keyPath), value))
    }

    /// The property had another name in earlier versions of the model; migration keeps its values.
    ///
    /// - Parameters:
    ///   - keyPath: the property.
    ///   - former: its former name. If it had several, this is the first one, under which the stores of all later
    ///     versions know it. A property of a nested struct is renamed within it: `\.size.width` from `w` or `size.w`.
    /// - Returns: the rule, for ``Schema``.
    public static func renamed<Value>(_ keyPath: KeyPath<Model, Value>, from former: String) -> Self {
        let name = former.split(separator: ".").last.map(String.init) ?? former
        return Self(fact: .renamed(PropertyName(keyPath), from: name))
    }

    /// The model had that property in earlier versions, and no longer has it: `load()` removes its values from a store
    /// that still has them.
    ///
    /// Without this rule, `load()` throws ``PersistenceError/Code/wouldLose`` for such a store. If the model now has a
    /// property of that name whose type does not fit the stored values, that property starts without them. The rule can
    /// be deleted once no store has the old property.
    ///
    /// - Parameter property: the property's name, such as `address.street` for a nested struct's property. A
    ///   relationship is removed with its inverse.
    /// - Returns: the rule, for ``Schema``.
    public static func removed(_ property: String) -> Self { Self(fact: .removed(property)) }

    /// A model of earlier versions no longer exists: `load()` removes its entity from a store, with all its rows.
    ///
    /// Without this rule the entity is left alone, since it may belong to another program.
    ///
    /// - Parameter entity: the entity's name. The rule may stand in the schema of any model.
    /// - Returns: the rule, for ``Schema``.
    public static func removed(entity: String) -> Self { Self(fact: .entityRemoved(entity)) }

    /// The property's type can hold less than before: `load()` converts the values, truncating fractions, dropping the
    /// order of an array that has become a set, and what a struct that was a dictionary has no property for.
    ///
    /// An integer that does not fit the new type stops the migration. Without this rule, `load()` throws
    /// ``PersistenceError/Code/wouldLose``.
    ///
    /// - Parameter keyPath: the property.
    /// - Returns: the rule, for ``Schema``.
    public static func narrowed<Value>(_ keyPath: KeyPath<Model, Value>) -> Self {
        Self(fact: .narrowed(PropertyName(keyPath)))
    }

    /// The property's value is kept as JSON in one column, and read by its own `init(from:)` alone.
    ///
    /// It is for types with an `init(from:)` that asks for other keys from value to value, so that decoding one value
    /// does not show them all. Enumerations need no rule: those with associated values are kept as JSON anyway.
    ///
    /// ```swift
    /// struct Shape: Codable {   // {"type": "circle", "radius": 1} or {"type": "square", "side": 2}
    ///     …
    /// }
    /// Schema(.json(\.shape))
    /// ```
    ///
    /// Filters cannot look into the value.
    ///
    /// - Parameter keyPath: the property, which may be one of a nested struct. It is not a number, text or other value
    ///   that has a column of its own, and no model.
    /// - Returns: the rule, for ``Schema``.
    public static func json<Value>(_ keyPath: KeyPath<Model, Value>) -> Self {
        Self(fact: .json(PropertyName(keyPath)))
    }

    /// Entries for the `userInfo` of the model's entity. A store in PostgreSQL takes the name of the table from
    /// `PippinSQLName`, and its partitioning from `PippinPartitions`.
    ///
    /// ```swift
    /// Schema(.userInfo(["PippinSQLName": "books"]), .userInfo(\.title, ["PippinSQLName": "book_title"]))
    /// ```
    ///
    /// - Parameter userInfo: keys and values, in addition to those of other rules.
    /// - Returns: the rule, for ``Schema``.
    public static func userInfo(_ userInfo: [String: String]) -> Self { Self(fact: .entityUserInfo(userInfo)) }

    /// Entries for a property's `userInfo`. A store in PostgreSQL takes the name of the column from `PippinSQLName`.
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
    /// - Parameter former: its former name; the first one if it had several.
    /// - Returns: the rule, for ``Schema``.
    public static func renamed(from former: String) -> Self { Self(fact: .entityRenamed(from: former)) }
}

/// Which model stays if two would share values that must be unique: see ``SchemaRule/unique(_:keeping:)``.
public enum KeptModel: Sendable {
    /// The model that is in the store already, or came first. The one being saved is left out with what it owns, or
    /// keeps its stored values if it is stored, too; references to one that is left out lead to the one that stays.
    case stored
    /// The model that is being saved. It replaces the stored one, with its own identifier and relationships; what the
    /// stored one owned is deleted, and references to it lead to the new one.
    case new
}

/// A rule, with names instead of key paths.
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
    /// Makes the value of a stored one, of an entity.
    case derived(PropertyName, from: String, @Sendable (StoredValue, String) throws -> any Encodable & Sendable)
    case json(PropertyName)
    /// The date of a save.
    case stamp(PropertyName, Stamp.Kind)
    case userInfo(PropertyName, [String: String])
    /// The text is searched: what the user info says of it. It may be one of related models.
    case searched(PropertyName, [String: String])
    case entityUserInfo([String: String])
    /// What another module has added to the rule.
    case attached(any Sendable)
}

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
    var facts: [SchemaFact] { rules.flatMap { [$0.fact] + $0.others } }
}

/// The property that a key path reads, or a path of several: `author.name`.
struct PropertyName: Sendable, Hashable {
    /// The properties' names; nil for a computed property, which a store does not have.
    let path: String?
    /// The key path as Swift prints it, for messages.
    let spelling: String

    /// - Parameter path: the properties' names.
    init(path: String) { (self.path, spelling) = (path, path) }

    private init(path: String?, spelling: String) { (self.path, self.spelling) = (path, spelling) }

    /// The property of a related model that another key path leads to.
    func appending(_ other: PropertyName) -> PropertyName {
        let paths = [path, other.path].compactMap(\.self)
        return PropertyName(
            path: paths.count == 2 ? paths.joined(separator: ".") : nil, spelling: "\(spelling), \(other.spelling)")
    }

    /// The property that a key path reads. Those of key paths that were asked for before are kept: printing one takes
    /// longer than a short fetch.
    init(_ keyPath: AnyKeyPath) { self = PropertyNames.shared.name(of: keyPath) }

    fileprivate init(printing keyPath: AnyKeyPath) {
        let (root, value) = (type(of: keyPath).rootType, type(of: keyPath).valueType)
        // Swift prints a property that takes no memory as the one that begins at the same place.
        guard Self.size(of: value) > 0 else {
            (path, spelling) = (nil, "\\\(root).<property of type \(value)>")
            return
        }
        let printed = "\(keyPath)"
        spelling = Self.readable(printed)
        path = Self.path(in: printed, root: "\(root)") ?? Self.observed(root)[keyPath] ?? Self.identifier(keyPath, root)
    }

    /// The identifier, as generic code names it, whose key path is that of the protocol's requirement.
    private static func identifier(_ keyPath: AnyKeyPath, _ root: Any.Type) -> String? {
        func isIdentifier<Model: Identifiable>(_ type: Model.Type) -> Bool { keyPath == \Model.id }
        guard let model = root as? any Identifiable.Type else { return nil }
        return isIdentifier(model) ? "id" : nil
    }

    private static func observed(_ root: Any.Type) -> [AnyKeyPath: String] {
        (root as? any ObservedProperties.Type)?.observedProperties ?? [:]
    }

    private static func size<Value>(of type: Value.Type) -> Int { MemoryLayout<Value>.size }

    /// A key path printed without addresses, which mean nothing to a reader: `\Book.<computed property of type Int>`.
    static func readable(_ printed: String) -> String {
        var readable = ""
        var rest = Substring(printed)
        while let start = rest.range(of: "<computed "), let end = rest[start.upperBound...].range(of: ")>") {
            let inside = rest[start.upperBound..<end.lowerBound]
            let type = inside.range(of: "(").map { inside[$0.upperBound...] } ?? inside
            readable += rest[..<start.lowerBound] + "<computed property of type \(type)>"
            rest = rest[end.upperBound...]
        }
        return readable + rest
    }

    /// The path in a printed key path. Swift prints `\Person.author?.name?`, and an address for a computed property.
    static func path(in spelling: String, root: String) -> String? {
        let prefix = "\\\(root)."
        guard !spelling.contains("<computed"), let dot = spelling.firstIndex(of: ".") else { return nil }
        let rest = spelling.hasPrefix(prefix) ? spelling.dropFirst(prefix.count) : spelling[dot...].dropFirst()
        let path = rest.filter { $0 != "?" && $0 != "!" }
        return path.isEmpty ? nil : path
    }
}

/// The properties of key paths, which a program has few of: the compiler makes one object of each that it writes down.
private final class PropertyNames: Sendable {
    static let shared = PropertyNames()

    /// Those that are made while the program runs could be many.
    private static let most = 1_000

    /// By the object's identity; the key path is kept, so that no other one gets its address.
    private let names = Locked<[ObjectIdentifier: (keyPath: AnyKeyPath, name: PropertyName)]>([:])

    func name(of keyPath: AnyKeyPath) -> PropertyName {
        if let known = names.withLock({ $0[ObjectIdentifier(keyPath)]?.name }) { return known }
        let name = PropertyName(printing: keyPath)
        names.withLock { names in
            if names.count < Self.most { names[ObjectIdentifier(keyPath)] = (keyPath, name) }
        }
        return name
    }
}

/// A type that names its stored properties with `willSet` or `didSet`, whose key paths look like those of computed
/// ones, and an identifier that is computed.
///
/// Each ``CoreModel`` is one; ``CoreModel()`` writes the names.
public protocol ObservedProperties {
    /// The names, by key path; empty for a model without ``CoreModel()``.
    static var observedProperties: [AnyKeyPath: String] { get }
}

extension SchemaFact {
    /// Whether it fills in a property with the date of saves.
    func stamps(_ property: PropertyName) -> Bool {
        if case .stamp(let other, _) = self { other.path == property.path } else { false }
    }
}

/// A property that saves fill in with their date.
struct Stamp: Sendable {
    enum Kind: Sendable {
        /// The first save of the model.
        case created
        /// Its latest change.
        case changed
    }

    let field: Int
    let kind: Kind

    /// The date of a save that happens now.
    static var now: StoredValue { .date(Date().timeIntervalSinceReferenceDate) }
}
