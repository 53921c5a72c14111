/// A word or a sign of Swift source.
package struct Token: Equatable, Sendable {
    package enum Kind: Equatable, Sendable {
        /// A name or a keyword. A name in backticks has none in `text`, and is never a keyword.
        case name(isQuoted: Bool)
        /// Brackets, operators, commas: one character each, but `->`.
        case sign
        /// A string, a number.
        case literal
    }

    package let kind: Kind
    package let text: String
    /// Whether it is the first of its line.
    package let startsLine: Bool
    /// The offset in the source, in bytes of UTF-8.
    package let offset: Int

    /// The length in bytes.
    var length: Int { text.utf8.count + (kind == .name(isQuoted: true) ? 2 : 0) }

    func isSign(_ sign: String) -> Bool { kind == .sign && text == sign }

    /// Whether it makes a type one that only the compiler can name.
    var isOpenType: Bool { kind == .name(isQuoted: false) && (text == "some" || text == "_") }

    /// The name that it is; nil for a sign or a literal.
    var name: String? {
        if case .name = kind { return text }
        return nil
    }
}
