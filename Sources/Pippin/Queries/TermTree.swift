/// Terms side by side, in a balanced tree. A filter that is built in a loop then neither nests as deep as it is long,
/// nor copies all of itself in each step.
indirect enum TermTree {
    case leaf(FilterTerm)
    case pair(TermTree, TermTree, height: Int, depth: Int)

    private init(_ left: TermTree, _ right: TermTree) {
        self = .pair(
            left, right, height: max(left.height, right.height) + 1, depth: max(left.depth, right.depth))
    }

    /// The terms of both, in their order.
    init(joining left: TermTree, _ right: TermTree) {
        if case .pair(let first, let second, let height, _) = left, height > right.height + 1 {
            self = Self.balanced(first, TermTree(joining: second, right))
        } else if case .pair(let first, let second, let height, _) = right, height > left.height + 1 {
            self = Self.balanced(TermTree(joining: left, first), second)
        } else {
            self = TermTree(left, right)
        }
    }

    /// The levels that the terms nest, whatever their number.
    var depth: Int {
        switch self {
        case .leaf(let term): term.depth
        case .pair(_, _, _, let depth): depth
        }
    }

    /// The terms, in their order.
    var terms: [FilterTerm] {
        var terms: [FilterTerm] = []
        append(to: &terms)
        return terms
    }

    private func append(to terms: inout [FilterTerm]) {
        switch self {
        case .leaf(let term): terms.append(term)
        case .pair(let left, let right, _, _):
            left.append(to: &terms)
            right.append(to: &terms)
        }
    }

    private var height: Int {
        if case .pair(_, _, let height, _) = self { return height }
        return 0
    }

    /// Balances two trees of which one may have become higher than the other by two.
    private static func balanced(_ left: TermTree, _ right: TermTree) -> TermTree {
        if case .pair(let near, let far, let height, _) = right, height > left.height + 1 {
            if case .pair(let first, let second, let inner, _) = near, inner > far.height {
                return TermTree(TermTree(left, first), TermTree(second, far))
            }
            return TermTree(TermTree(left, near), far)
        }
        if case .pair(let far, let near, let height, _) = left, height > right.height + 1 {
            if case .pair(let first, let second, let inner, _) = near, inner > far.height {
                return TermTree(TermTree(far, first), TermTree(second, right))
            }
            return TermTree(far, TermTree(near, right))
        }
        return TermTree(left, right)
    }
}
