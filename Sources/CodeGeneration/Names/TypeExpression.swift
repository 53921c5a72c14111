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
            guard depth < 32, var text = part(depth: depth) else { return nil }
            while take("&") {
                guard let next = part(depth: depth) else { return nil }
                text += " & " + next
            }
            return text
        }

        private mutating func part(depth: Int) -> String? {
            // `any` leads here without `type`.
            guard depth < 32, var text = plain(depth: depth) else { return nil }
            // A property is optional already, so its type has no exclamation mark.
            while rest.first == "?" {
                rest.removeFirst()
                text.append("?")
            }
            return text
        }

        private mutating func plain(depth: Int) -> String? {
            if take("[") {
                guard var text = type(depth: depth + 1) else { return nil }
                if take(":") {
                    guard let value = type(depth: depth + 1) else { return nil }
                    text += ": " + value
                }
                return take("]") ? "[\(text)]" : nil
            }
            if take("(") {
                guard let inner = type(depth: depth + 1), take(")") else { return nil }
                return "(\(inner))"
            }
            guard let first = name() else { return nil }
            // A class that may have subclasses has no property of the type `Self`.
            if first == "Self" { return nil }
            if first == "any", rest.first == " " {
                guard let type = part(depth: depth + 1), !type.hasPrefix("any ") else { return nil }
                return "any \(type)"
            }
            return named(first, depth: depth)
        }

        /// `Module.Name<Argument, Argument>.Inner`
        private mutating func named(_ first: String, depth: Int) -> String? {
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
