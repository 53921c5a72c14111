/// A type as the “Custom Class” of a transformable attribute names it: a class, a collection, a generic type, an
/// existential one.
///
/// Reads what is a type and writes it anew, so that nothing else gets into a source.
struct TypeExpression {
    /// The type as Swift takes it.
    let text: String

    /// - Returns: nil for a text that is not a type, and for one of closures, tuples of several types or attributes,
    ///   which no transformable attribute has.
    init?(_ text: String) {
        var parser = Parser(text)
        guard let type = parser.type(depth: 0), parser.isAtEnd else { return nil }
        self.text = type
    }

    private struct Parser {
        private var rest: Substring

        init(_ text: String) { rest = text[...] }

        var isAtEnd: Bool {
            mutating get {
                skipSpaces()
                return rest.isEmpty
            }
        }

        private mutating func skipSpaces() { rest = rest.drop { $0 == " " } }

        private mutating func take(_ character: Character) -> Bool {
            skipSpaces()
            guard rest.first == character else { return false }
            rest.removeFirst()
            return true
        }

        private mutating func name() -> String? {
            skipSpaces()
            let name = String(rest.prefix { !" .,:<>[]()&?!".contains($0) })
            guard SwiftIdentifier.isIdentifier(name) else { return nil }
            rest = rest.dropFirst(name.count)
            return name
        }

        /// `any Named & Other`, or one type.
        mutating func type(depth: Int) -> String? {
            guard depth < 32 else { return nil }
            skipSpaces()
            if rest.hasPrefix("any ") {
                rest.removeFirst("any".count)
                guard let names = names(depth: depth) else { return nil }
                let type = "any " + names.joined(separator: " & ")
                // Swift takes an optional one in parentheses only.
                return rest.first == "?" ? "(\(type))" + marks() : type
            }
            if rest.first == "[" || rest.first == "(" {
                guard let type = enclosed(depth: depth) else { return nil }
                return type + marks()
            }
            guard let names = names(depth: depth) else { return nil }
            if names.count == 1 { return names[0] + marks() }
            // `A & B?` is not a type.
            return rest.first == "?" ? nil : names.joined(separator: " & ")
        }

        /// The question marks that follow. A property is optional already, so its type has no exclamation mark.
        private mutating func marks() -> String {
            let marks = rest.prefix { $0 == "?" }
            rest = rest.dropFirst(marks.count)
            return String(marks)
        }

        /// `Named & Other`, or `(Named & Other)` behind `any`: what is optional or a collection is in no composition.
        private mutating func names(depth: Int) -> [String]? {
            guard depth < 32 else { return nil }
            var names: [String] = []
            repeat {
                if take("(") {
                    guard let inner = self.names(depth: depth + 1), take(")") else { return nil }
                    names.append("(\(inner.joined(separator: " & ")))")
                } else {
                    guard let name = named(depth: depth) else { return nil }
                    names.append(name)
                }
            } while take("&")
            return names
        }

        /// `[Element]`, `[Key: Value]` or `(Type)`
        private mutating func enclosed(depth: Int) -> String? {
            if take("(") {
                guard let inner = type(depth: depth + 1), take(")") else { return nil }
                return "(\(inner))"
            }
            guard take("["), var text = type(depth: depth + 1) else { return nil }
            if take(":") {
                guard let value = type(depth: depth + 1) else { return nil }
                text += ": " + value
            }
            return take("]") ? "[\(text)]" : nil
        }

        /// `Module.Name<Argument, Argument>.Inner`
        private mutating func named(depth: Int) -> String? {
            // A class that may have subclasses has no property of the type `Self`.
            guard let first = name(), first != "Self", first != "any" else { return nil }
            // `Any` is a type itself.
            var text = first == "Any" ? first : first.asIdentifier
            while true {
                if take("<") {
                    var arguments: [String] = []
                    repeat {
                        guard let argument = type(depth: depth + 1) else { return nil }
                        arguments.append(argument)
                    } while take(",")
                    guard take(">") else { return nil }
                    text += "<\(arguments.joined(separator: ", "))>"
                }
                guard take(".") else { return text }
                guard let next = name() else { return nil }
                // A metatype is `Name.Type`.
                text += "." + (next == "Type" || next == "Protocol" ? next : next.asIdentifier)
            }
        }
    }
}

/// Names that Swift accepts. The texts of a model are untrusted: no other text of it goes into generated source.
enum SwiftIdentifier {
    /// Whether a text is an identifier by Swift's grammar, or a keyword, which is one in backticks.
    ///
    /// Characters that cannot be seen, or that change the direction of writing, are refused, although the compiler
    /// takes them: a reader would see another name. Those that join letters and emoji are fine.
    static func isIdentifier(_ text: String) -> Bool {
        guard let first = text.unicodeScalars.first, text != "_", isHead(first) else { return false }
        return text.unicodeScalars.dropFirst().allSatisfy { isHead($0) || isTail($0) }
    }

    private static func isHead(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x30...0x39: false
        case 0x41...0x5A, 0x5F, 0x61...0x7A: true
        case _ where scalar.properties.generalCategory == .format: false
        case 0xA8, 0xAA, 0xAF, 0xB2...0xB5, 0xB7...0xBA, 0xBC...0xBE, 0xC0...0xD6, 0xD8...0xF6, 0xF8...0x2FF: true
        case 0x370...0x167F, 0x1681...0x180D, 0x180F...0x1DBF, 0x1E00...0x1FFF: true
        case 0x203F...0x2040, 0x2054, 0x2070...0x20CF, 0x2100...0x218F, 0x2460...0x24FF, 0x2776...0x2793: true
        case 0x2C00...0x2DFF, 0x2E80...0x2FFF, 0x3004...0x3007, 0x3021...0x302F, 0x3031...0x303F: true
        case 0x3040...0xD7FF, 0xF900...0xFD3D, 0xFD40...0xFDCF, 0xFDF0...0xFE1F, 0xFE30...0xFE44, 0xFE47...0xFFFD: true
        // Planes 1 to 14; the last two code points of each are not characters.
        case 0x10000...0xEFFFD: scalar.value & 0xFFFF <= 0xFFFD
        default: false
        }
    }

    private static func isTail(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x30...0x39, 0x200C, 0x200D, 0x300...0x36F, 0x1DC0...0x1DFF, 0x20D0...0x20FF, 0xFE20...0xFE2F: true
        default: false
        }
    }

    /// Whether a text is an identifier, or several with points between them: `Library.Book`.
    static func isPath(_ text: String) -> Bool {
        text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { isIdentifier(String($0)) }
    }
}

extension String {
    /// The name as Swift takes it for a declaration: in backticks where it is a keyword.
    var asIdentifier: String { Self.keywords.contains(self) ? "`\(self)`" : self }

    /// The name of a class, with its module or without: each part in backticks where it is a keyword.
    var asTypeName: String {
        split(separator: ".", omittingEmptySubsequences: false).map { String($0).asIdentifier }.joined(separator: ".")
    }

    /// The name with its first letter in upper case, as it is in the names of accessors.
    var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }

    /// The text as a literal of Swift, the quotes included.
    var asLiteral: String { "\"" + escaped + "\"" }

    /// The text in one line that says nothing to a compiler or a terminal: for comments and messages.
    package var escaped: String {
        var text = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "\\", "\"": text += "\\\(scalar)"
            case "\n": text += "\\n"
            case "\r": text += "\\r"
            case "\t": text += "\\t"
            case _ where Self.isHidden(scalar.properties.generalCategory):
                text += "\\u{\(String(scalar.value, radix: 16))}"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text
    }

    private static func isHidden(_ category: Unicode.GeneralCategory) -> Bool {
        switch category {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned: true
        default: false
        }
    }

    private static let keywords: Set = [
        "associatedtype", "class", "deinit", "enum", "extension", "fileprivate", "func", "import", "init", "inout",
        "internal", "let", "open", "operator", "private", "precedencegroup", "protocol", "public", "rethrows", "static",
        "struct", "subscript", "typealias", "var", "break", "case", "catch", "continue", "default", "defer", "do",
        "each",
        "else", "fallthrough", "for", "guard", "if", "in", "repeat", "return", "switch", "throw", "where", "while",
        "Any", "as", "await", "false", "is", "nil", "self", "Self", "super", "throws", "true", "try", "Type",
        "Protocol",
    ]
}
