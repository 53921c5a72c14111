/// A type as the “Custom Class” of a transformable attribute names it: a class, a collection, a generic type, an
/// existential one.
///
/// Reads what is a type and writes it anew, so that nothing else gets into a source.
struct TypeExpression {
    /// The type as Swift takes it.
    let text: String

    /// - Returns: nil for a text that is no type, and for one of closures, tuples of several types or attributes, which
    ///   no transformable attribute has.
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
            // `A & B?` is no type.
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
