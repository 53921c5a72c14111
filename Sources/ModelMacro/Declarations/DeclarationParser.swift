/// Finds what a macro must know of a type in its source.
package struct DeclarationParser {
    private var cursor: TokenCursor
    private var declaration = ModelDeclaration(kind: .other(""), name: "")

    /// - Parameter source: the declaration, with its attributes and comments.
    /// - Returns: what of it matters; an empty name where there is no declaration.
    package static func declaration(in source: String) -> ModelDeclaration {
        var parser = DeclarationParser(cursor: TokenCursor(source))
        parser.parse()
        return parser.declaration
    }

    private init(cursor: TokenCursor) { self.cursor = cursor }

    private mutating func parse() {
        let (modifiers, _) = cursor.takeModifiers()
        let keyword = cursor.next?.text ?? ""
        switch keyword {
        case "struct": declaration.kind = .structure
        case "class":
            declaration.kind = modifiers.contains("final") ? .finalClass : .other("class that is not final")
            declaration.reason = .isClass
        default: declaration.kind = .other(keyword)
        }
        cursor.advance()
        declaration.name = cursor.next?.name ?? ""
        while let token = cursor.next, !token.isSign("{") { cursor.advance() }
        cursor.advance()
        while let token = cursor.next, !token.isSign("}") { parseMember() }
    }

    private mutating func parseMember() {
        let (modifiers, written) = cursor.takeModifiers()
        let attributes = written.map(\.name)
        guard let token = cursor.next, !token.isSign("}") else { return }
        if token.isSign("#") { return skipCondition() }
        let keyword = token.name ?? ""
        cursor.advance()
        switch keyword {
        case "var", "let":
            if modifiers.contains("static") || modifiers.contains("class") { return cursor.skipMember() }
            let isPlain = !modifiers.contains("lazy") && attributes.allSatisfy(Keywords.plainAttributes.contains)
            let first = declaration.properties.count
            parseProperties(isConstant: keyword == "let", isPlain: isPlain)
            if attributes.contains("deprecated"), declaration.properties.count > first {
                declaration.hasDeprecatedProperties = true
            }
        case "init":
            if cursor.next?.isSign("(") == true, cursor.after(1)?.name == "from" { codedByHand("init(from:)") }
            cursor.skipMember()
        case "func":
            if cursor.next?.name == "encode", cursor.after(2)?.name == "to" { codedByHand("encode(to:)") }
            cursor.skipMember()
        case "enum", "struct", "typealias":
            if cursor.next?.name == "CodingKeys" { codedByHand("CodingKeys") }
            cursor.skipMember()
        default: cursor.skipMember()
        }
    }

    private mutating func codedByHand(_ what: String) {
        declaration.reason = declaration.reason ?? .codedByHand(what)
    }

    /// Conditions, and the macros that are used like declarations.
    ///
    /// It is the reason that counts: nothing is known for certain of properties behind a condition.
    private mutating func skipCondition() {
        declaration.reason = .condition
        cursor.advance()
        cursor.skipMember()
    }

    // MARK: Properties

    /// The properties of one `var` or `let`.
    private mutating func parseProperties(isConstant: Bool, isPlain: Bool) {
        while true {
            guard let name = cursor.next?.name else {
                // A pattern: `let (a, b) = …`.
                declaration.reason = declaration.reason ?? .property("(")
                return cursor.skipMember()
            }
            cursor.advance()
            let form = cursor.takeProperty()
            if !form.isComputed {
                declaration.properties.append(
                    ModelDeclaration.Property(name: name, type: form.type, isObserved: form.isObserved && isPlain))
                if !isPlain || isConstant && form.hasValue {
                    declaration.reason = declaration.reason ?? .property(name)
                }
            }
            guard form.isFollowed else { return }
        }
    }
}
