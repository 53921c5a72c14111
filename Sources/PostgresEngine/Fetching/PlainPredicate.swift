import PredicateFormat

// Computations on values can fail: a number that does not fit, a division by zero. Comparisons cannot.
extension PredicateTree {
    /// Whether stored values are only compared with given ones: such a condition cannot fail for any row.
    var computesNothing: Bool {
        switch self {
        case .constant: true
        case .and(let parts), .or(let parts): parts.allSatisfy(\.computesNothing)
        case .not(let part): part.computesNothing
        case .comparison(let comparison):
            switch comparison.comparison {
            case .matches, .like: false
            default: comparison.left.computesNothing && comparison.right.computesNothing
            }
        }
    }
}

extension ExpressionTree {
    fileprivate var computesNothing: Bool {
        switch self {
        case .constant, .argument, .evaluatedObject: true
        case .keyPath(let keys): !keys.contains { $0.hasPrefix("@") }
        default: false
        }
    }
}
