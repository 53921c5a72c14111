// Combines filters: conditions side by side stay in one level, and a filter that nests too deep to be read is refused.
extension FilterTerm {
    /// The most levels that predicates may nest, few enough for the stack of any thread.
    private static let maximumDepth = 500

    /// The number of levels that the term nests.
    var depth: Int {
        switch self {
        case .and(let parts), .or(let parts): parts.depth + 1
        case .not(let term), .members(_, let term, _): term.depth + 1
        case .all, .predicate, .comparison, .list, .failed: 1
        }
    }

    func and(_ other: FilterTerm) -> FilterTerm {
        FilterTerm.and(TermTree(joining: conjunction, other.conjunction)).checked
    }

    func or(_ other: FilterTerm) -> FilterTerm {
        FilterTerm.or(TermTree(joining: disjunction, other.disjunction)).checked
    }

    var negated: FilterTerm {
        if case .not(let term) = self { return term }
        return FilterTerm.not(self).checked
    }

    private var conjunction: TermTree {
        if case .and(let parts) = self { return parts }
        return .leaf(self)
    }

    private var disjunction: TermTree {
        if case .or(let parts) = self { return parts }
        return .leaf(self)
    }

    private var checked: FilterTerm { depth > Self.maximumDepth ? .failed(PersistenceError.deepFilter) : self }
}

extension PersistenceError {
    fileprivate static let deepFilter = PersistenceError(
        .malformedFilter,
        "The filter nests more than 500 levels deep. Make a simpler one; conditions side by side may be many.")
}
