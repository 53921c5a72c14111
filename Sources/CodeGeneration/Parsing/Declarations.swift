/// The access level of a declaration, as far as generated code depends on it.
enum Access: Sendable, Equatable {
    case `private`, `fileprivate`
    /// `internal` or `package`: within the module at least.
    case module(String?)
    /// `public` or `open`.
    case `public`

    init(_ keyword: String?) {
        switch keyword {
        case "private": self = .private
        case "fileprivate": self = .fileprivate
        case "public", "open": self = .public
        case "package": self = .module("package")
        default: self = .module(nil)
        }
    }

    var isLimitedToFile: Bool { self == .private || self == .fileprivate }
}

/// A type that a source declares, with the types inside it.
struct TypeDeclaration: Sendable {
    /// `class`, `struct`, `enum`, `protocol` or `typealias`.
    var keyword: String
    var name: String
    /// The types around it, outermost first; for a type in an extension, the extended type comes first.
    var enclosing: [String]
    /// The generic parameters without their constraints: `<Key, Value>`.
    var genericParameters: String
    /// The type that a `typealias` stands for.
    var aliased: String?
    /// The first name after the colon of a class: its superclass, or a protocol.
    var superclass: String?
    var access: Access
    var conditions: [String]
    /// The offset of its name.
    var offset: Int

    var path: [String] { enclosing + [name] }
}

/// A property or method that is declared `@NSManaged`.
struct ManagedDeclaration: Sendable {
    enum Kind: Sendable, Equatable {
        case property(type: String, setterAccess: Access?)
        case method(parameters: [Parameter], result: String?)
    }

    struct Parameter: Sendable, Equatable {
        /// As written before the colon: `_ value`, `at index`, `value`.
        var names: String
        var type: String

        /// The label at the call, `nil` for `_`.
        var label: String? {
            let label = names.split(separator: " ").first.map(String.init)
            return label == "_" ? nil : label
        }

        /// The name inside the method.
        var name: String { names.split(separator: " ").last.map(String.init) ?? names }
    }

    var kind: Kind
    /// As written, in backticks if it was.
    var name: String
    /// The class that the declaration belongs to, as a path of type names.
    var owner: [String]
    /// Whether it stands in an extension.
    var isInExtension: Bool
    /// The access level, inherited from the extension where the declaration has none.
    var access: Access
    var conditions: [String]
    /// The offset of the attribute.
    var offset: Int

    /// The name without backticks: the key.
    var plainName: String { name.filter { $0 != "`" } }
}

/// A method that checks the values of one property, by Core Data's naming: `validateTitle(_:)`.
struct ValidatorDeclaration: Sendable {
    static let prefix = "validate"
    /// The type of its parameter, by which it differs from other methods of such names.
    static let parameterType = "AutoreleasingUnsafeMutablePointer<AnyObject?>"

    var name: String
    /// The class that the method belongs to, as a path of type names.
    var owner: [String]
    var access: Access
    var conditions: [String]
    /// The offset of the declaration.
    var offset: Int

    /// The key with a capital: `Title`.
    var capitalizedKey: String { String(name.dropFirst(Self.prefix.count)) }
}

/// The declarations of one source.
struct SourceDeclarations: Sendable {
    let source: SourceText
    var types: [TypeDeclaration] = []
    var managed: [ManagedDeclaration] = []
    var validators: [ValidatorDeclaration] = []
    /// The modules it imports, with the conditions of each.
    var imports: [ModuleImport] = []
    var problems: [Problem] = []
}

/// An `import` declaration.
struct ModuleImport: Sendable, Hashable {
    /// `Foundation`, or `Darwin.C`.
    var module: String
    var isPublic: Bool
    var conditions: [String]
}
