/// A string as a key that only equals another with the same bytes. Swift's own `==` would find the predicate for "é"
/// when asked for an "e" followed by an accent.
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
