/// A string as a key: equal to another of the same bytes only. Swift's own `==` would find the predicate for "é" when asked
/// for that of an "e" with an accent after it.
struct LiteralString: Hashable, Sendable {
    let string: String

    init(_ string: String) {
        self.string = string
    }

    static func == (first: LiteralString, second: LiteralString) -> Bool {
        first.string.isLiterallyEqual(to: second.string)
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(string)
    }
}
