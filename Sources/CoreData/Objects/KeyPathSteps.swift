/// The properties and subscripts that a key path reads one after the other, as far as its description shows them.
///
/// Swift prints `\Book.<computed 0x55 (Optional<Author>)>?.<computed 0x56 (Array<String>)>.<computed 0x7f (String)>`:
/// for a computed property the type, but no name. Pure.
package struct KeyPathSteps {
    /// The result type of each step, without `Optional`; the name for a stored property.
    package let types: [Substring]
    /// Whether an optional value is force-unwrapped.
    package let unwraps: Bool

    package init(_ keyPath: AnyKeyPath) { self.init(description: keyPath.debugDescription) }

    init(description: String) {
        var types: [Substring] = []
        var rest = description.drop { $0 != "." }
        var unwraps = false
        while rest.first == "." {
            rest = rest.dropFirst()
            let name: Substring
            if rest.hasPrefix("<computed "), let type = Self.parenthesized(in: rest) {
                name = type
                // The type is followed by `)>`.
                rest = rest[type.endIndex...].dropFirst(2)
            } else {
                name = rest.prefix { !".?!".contains($0) }
                rest = rest.dropFirst(name.count)
            }
            types.append(Self.unwrapped(name))
            while let mark = rest.first, mark == "?" || mark == "!" {
                if mark == "!" { unwraps = true }
                rest = rest.dropFirst()
            }
        }
        self.types = types
        self.unwraps = unwraps
    }

    /// The text between the first parenthesis and its closing one; types contain parentheses themselves.
    private static func parenthesized(in text: Substring) -> Substring? {
        guard let start = text.firstIndex(of: "(") else { return nil }
        var depth = 0
        for index in text.indices[start...] {
            if text[index] == "(" { depth += 1 }
            if text[index] == ")" { depth -= 1 }
            if depth == 0 { return text[text.index(after: start)..<index] }
        }
        return nil
    }

    /// Whether an element or another property of a collection is read, which has no name; an empty collection, as a
    /// probe returns it, has no element to read.
    package var leadIntoCollection: Bool {
        types.dropLast().contains { type in
            let name = type.prefix { $0 != "<" }
            return Self.collections.contains(String(name))
        }
    }

    private static let collections: Set<String> = [
        "Array", "ArraySlice", "ContiguousArray", "Data", "Dictionary", "IndexSet", "NSArray", "NSDictionary",
        "NSMutableArray", "NSMutableDictionary", "NSMutableOrderedSet", "NSMutableSet", "NSOrderedSet", "NSSet", "Set",
        "String", "Substring",
    ]

    private static func unwrapped(_ type: Substring) -> Substring {
        let start = "Optional<"
        guard type.hasPrefix(start), type.hasSuffix(">") else { return type }
        return unwrapped(type.dropFirst(start.count).dropLast())
    }
}
