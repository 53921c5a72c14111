import StoreSession

/// How an ``Order`` compares texts.
public enum TextOrder: Sendable, Hashable {
    /// By their code points, capitals before small letters: “Zoe”, “anna”, “Émile”. This is what an order does by
    /// default; it is the same everywhere, and may use an index.
    case lexical
    /// Like `lexical`, without regard to case: “anna”, “Zoe”, “Émile”.
    case caseInsensitive
    /// By the rules of the program's locale: “anna”, “Émile”, “Zoe”.
    case localized
    /// By the rules of the program's locale, without regard to case.
    case localizedCaseInsensitive
    /// As a file browser sorts, by the rules of the program's locale, and numbers by value: “Part 2”, “Part 10”.
    case localizedStandard

    /// Core Data's name for the comparison; nil for that of all values.
    private var method: String? {
        switch self {
        case .lexical: nil
        case .caseInsensitive: "caseInsensitiveCompare:"
        case .localized: "localizedCompare:"
        case .localizedCaseInsensitive: "localizedCaseInsensitiveCompare:"
        case .localizedStandard: "localizedStandardCompare:"
        }
    }

    func sortDescriptor(_ path: String, ascending: Bool) -> NSSortDescriptor {
        guard let method else { return NSSortDescriptor(key: path, ascending: ascending) }
        return NSSortDescriptor(key: path, ascending: ascending, selector: NSSelectorFromString(method))
    }
}

extension NSSortDescriptor {
    /// Whether values are compared as they are, texts by their code points.
    var isLexical: Bool { selector.map { NSStringFromSelector($0) == "compare:" } ?? false }
}
