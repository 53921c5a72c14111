/// The declaration of a class or an actor to which one of SwiftData's macros is attached, as its source shows it.
package struct ClassDeclaration: Equatable, Sendable {
    /// The keyword: `class`, `actor`, or that of a declaration that cannot have the macro.
    package var keyword = ""
    package var name = ""
    /// The access level as it is written; nil for none.
    package var access: String?
    /// The types after the colon: the superclass, if there is one, and protocols.
    package var inheritance: [String] = []
    /// Whether the type itself declares an initializer.
    package var hasInitializer = false
    /// Whether one of its initializers throws, or makes an optional.
    package var hasFailingInitializer = false
    /// Whether it is marked `final`.
    package var isFinal = false
    /// The variables, conditions of compilation, and freestanding macros, in their order.
    package var members: [Member] = []

    package enum Member: Equatable, Sendable {
        case variable(Variable)
        /// A line that begins with `#if`, `#elseif`, `#else` or `#endif`.
        case condition(String)
        /// A macro that is used like a declaration, such as `Index<Book>([\.title])`.
        case macro(name: String, text: String)
    }

    /// A property of instances.
    package struct Variable: Equatable, Sendable {
        package var name: String
        /// Its type as it is written; nil for one that the compiler finds out.
        package var type: String?
        /// Its initial value as it is written; nil for none.
        package var value: String?
        package var attributes: [Attribute] = []
        package var isComputed = false
        /// Whether it is `static`, `class` or `lazy`.
        package var isOther = false

        package func attribute(_ name: String) -> Attribute? { attributes.first { $0.name == name } }
    }

    /// An attribute, such as `@Attribute(.unique)`.
    package struct Attribute: Equatable, Sendable {
        package var name: String
        /// The text between the parentheses; nil without these.
        package var arguments: String?
    }

    package var variables: [Variable] {
        members.compactMap { member in
            if case .variable(let variable) = member { variable } else { nil }
        }
    }
}

extension ClassDeclaration {
    /// Reads a declaration.
    ///
    /// - Parameter source: the declaration, with its attributes and comments; a member's own declaration is read, too.
    package init(_ source: String) {
        var cursor = TokenCursor(source)
        let modifiers = cursor.takeHead()
        access = modifiers.first { Keywords.access.contains($0) }
        isFinal = modifiers.contains("final")
        keyword = cursor.next?.text ?? ""
        cursor.advance()
        name = cursor.next?.name ?? ""
        var isInherited = false
        while let token = cursor.next, !token.isSign("{"), token.name != "where" {
            if token.isSign(":") {
                isInherited = true
            } else if isInherited, let name = token.name {
                // `SwiftData.PersistentModel`: the last part counts.
                if cursor.after(-1)?.isSign(".") == true { inheritance.removeLast() }
                inheritance.append(name)
            }
            cursor.advance()
        }
        while let token = cursor.next, !token.isSign("{") { cursor.advance() }
        cursor.advance()
        while let token = cursor.next, !token.isSign("}") { takeMember(&cursor) }
    }

    private mutating func takeMember(_ cursor: inout TokenCursor) {
        if cursor.next?.isSign("#") == true { return takeDirective(&cursor) }
        let (modifiers, attributes) = cursor.takeModifiers()
        guard let token = cursor.next, !token.isSign("}") else { return }
        if token.isSign("#") { return takeDirective(&cursor) }
        switch token.name {
        case "var", "let":
            let isOther = !Set(modifiers).isDisjoint(with: ["static", "class", "lazy"])
            cursor.advance()
            takeVariables(&cursor, isOther: isOther, attributes)
        case "init":
            hasInitializer = true
            cursor.advance()
            if cursor.takeFailure() { hasFailingInitializer = true }
            cursor.skipMember()
        default:
            cursor.advance()
            cursor.skipMember()
        }
    }

    private mutating func takeDirective(_ cursor: inout TokenCursor) {
        guard !Keywords.conditions.contains(cursor.after(1)?.text ?? "") else {
            return members.append(.condition(cursor.takeLine()))
        }
        cursor.advance()
        let (name, text) = cursor.takeMacro()
        members.append(.macro(name: name, text: text))
        cursor.skipMember()
    }

    private mutating func takeVariables(
        _ cursor: inout TokenCursor, isOther: Bool, _ attributes: [TokenCursor.Attribute]
    ) {
        while let name = cursor.next?.name {
            cursor.advance()
            let form = cursor.takeProperty()
            members.append(
                .variable(
                    Variable(
                        name: name, type: form.type, value: form.value,
                        attributes: attributes.map { Attribute(name: $0.name, arguments: $0.arguments) },
                        isComputed: form.isComputed, isOther: isOther)))
            guard form.isFollowed else { return }
        }
        // A pattern, such as `var (a, b) = …`, cannot be persisted.
        cursor.skipMember()
    }
}

extension ClassDeclaration.Variable {
    /// Reads the declaration of a variable.
    ///
    /// - Returns: nil for any other declaration.
    package init?(_ source: String) {
        guard let variable = ClassDeclaration("class _ {\n\(source)\n}").variables.first else { return nil }
        self = variable
    }
}

/// The words of Swift by which members are told apart.
enum Keywords {
    static let access: Set<String> = ["public", "package", "internal", "fileprivate", "private", "open"]

    static let modifiers = access.union([
        "static", "class", "final", "lazy", "weak", "unowned", "mutating", "nonmutating", "nonisolated", "override",
        "convenience", "required", "indirect", "dynamic", "isolated", "borrowing", "consuming", "distributed",
        "prefix", "postfix", "infix", "optional", "async", "unsafe", "safe",
    ])

    static let declarations: Set<String> = [
        "var", "let", "func", "init", "deinit", "subscript", "struct", "enum", "class", "actor", "extension",
        "typealias", "associatedtype", "protocol", "import", "case", "operator", "precedencegroup", "macro",
    ]

    /// The attributes of a property that leave its coding as it is.
    static let plainAttributes: Set<String> = ["available", "deprecated", "usableFromInline", "nonobjc", "objc"]

    static let observers: Set<String> = ["willSet", "didSet"]

    /// The words of conditions of compilation, after their number sign.
    static let conditions: Set<String> = ["if", "elseif", "else", "endif"]
}
