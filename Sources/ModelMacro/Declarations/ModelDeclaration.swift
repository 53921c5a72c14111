/// The declaration of a model, as its source shows it.
package struct ModelDeclaration: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        case structure, finalClass
        /// The keyword of a declaration that cannot be a model.
        case other(String)
    }

    package var kind: Kind
    package var name: String
    /// The stored properties, in order.
    package var properties: [Property] = []
    /// Whether it declares an `id` or a `uid`, stored or computed.
    package var hasIdentifier = false
    /// The offset of its name in the source.
    package var offset = 0
    /// Whether a stored property is deprecated.
    package var hasDeprecatedProperties = false
    /// Why it is read and written by its own coding; nil where the compiler would synthesize that.
    package var reason: CodingReason?

    /// A stored property.
    package struct Property: Equatable, Sendable {
        package var name: String
        /// Its type as it is written; nil for one that the compiler finds out.
        package var type: String?
        /// Whether it has `willSet` or `didSet`, so that Swift shows its key path as a computed property's, and is
        /// neither lazy nor wrapped.
        package var isObserved = false
        /// Whether an attribute may be a wrapper, which Swift shows as a computed property, too.
        package var isWrapped = false
        /// The initial value of a variable without a wrapper.
        package var value: InitialValue?
        /// The offset of its name in the declaration.
        package var offset = 0

        /// The initial value, if an extension of the type may repeat it.
        func initial(isNested: Bool) -> String? {
            // What is optional is missing where it is not given.
            guard let value, value.isPlain(isNested: isNested), type?.hasSuffix("?") != true,
                type?.hasPrefix("Optional<") != true
            else { return nil }
            return value.source
        }

        /// The type, or the one that is optional, where it may be coded by a raw value: a name that is not that of a
        /// type with columns of its own. Nil for any other type.
        var possiblyRaw: String? {
            guard let type else { return nil }
            var tokens = Lexer.tokens(of: type)
            if tokens.last?.isSign("?") == true { tokens.removeLast() }
            let isName = tokens.enumerated().allSatisfy { place, token in
                place.isMultiple(of: 2) ? token.name != nil : token.isSign(".")
            }
            guard isName, tokens.count % 2 == 1, let last = tokens.last?.name, !Self.columnTypes.contains(last) else {
                return nil
            }
            return type.hasSuffix("?") ? String(type.dropLast()) : type
        }

        private static let columnTypes: Set<String> = [
            "String", "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "Bool",
            "Double", "Float", "Date", "UUID", "URL", "Data", "Decimal", "Self",
        ]

        /// What a type is that cannot be coded, as far as its spelling says; nil for any other.
        var uncodable: String? {
            guard let type else { return nil }
            let tokens = Lexer.tokens(of: type)
            if tokens.contains(where: { $0.isSign("->") }) { return "a function" }
            if tokens.first?.isSign("(") == true, tokens.contains(where: { $0.isSign(",") }),
                tokens.last?.isSign(")") == true
            {
                return "a tuple"
            }
            return tokens.count == 1 && ["Any", "AnyObject"].contains(type) ? "of any type" : nil
        }
    }

    /// The initial value of a property, as it is written.
    package struct InitialValue: Equatable, Sendable {
        package var source: String

        /// Types of the standard library and of Foundation, which an extension of a nested type sees, too.
        private static let knownTypes: Set<String> = [
            "Date", "Decimal", "Data", "URL", "String", "Int", "Double", "Float", "Bool", "Set", "Array", "Dictionary",
        ]

        /// Whether the value means the same in an extension: literals, cases, and calls of types with these.
        ///
        /// A value that is another one each time, such as a `UUID()`, is none that objects can have in common.
        func isPlain(isNested: Bool) -> Bool {
            let tokens = Lexer.tokens(of: source)
            guard !tokens.isEmpty else { return false }
            for (index, token) in tokens.enumerated() {
                switch token.kind {
                case .literal: if token.text.contains("\\") && token.text.contains("(") { return false }
                case .sign: if !["[", "]", "(", ")", ",", ":", "-", "."].contains(token.text) { return false }
                case .name(let isQuoted):
                    if index > 0, tokens[index - 1].isSign(".") { continue }
                    if !isQuoted, ["true", "false", "nil"].contains(token.text) { continue }
                    let next = index + 1 < tokens.count ? tokens[index + 1] : nil
                    if next?.isSign(":") == true, index > 0,
                        tokens[index - 1].isSign("(") || tokens[index - 1].isSign(",")
                    {
                        continue
                    }
                    let isType = token.text.first?.isUppercase == true && token.text != "UUID"
                    let isUsed = next.map { $0.isSign(".") || $0.isSign("(") } ?? false
                    guard isType, isUsed, !isNested || Self.knownTypes.contains(token.text) else { return false }
                }
            }
            return true
        }
    }

    /// Why the columns of a model are left to `Codable`.
    package enum CodingReason: Equatable, Sendable {
        /// It declares `init(from:)`, `encode(to:)` or `CodingKeys`.
        case codedByHand(String)
        /// A property that is lazy, wrapped, a constant with a value, or one of several in a pattern.
        case property(String)
        /// Conditions of compilation are among its members.
        case condition
        case isClass
    }
}
