extension PredicateTree {
    /// Whether a path starts at a constant or an argument, or something is computed of these, including in subqueries.
    var hasConstantParts: Bool {
        switch self {
        case .constant: false
        case .and(let parts), .or(let parts): parts.contains(where: \.hasConstantParts)
        case .not(let part): part.hasConstantParts
        case .comparison(let comparison): comparison.left.hasConstantParts || comparison.right.hasConstantParts
        }
    }
}

extension ExpressionTree {
    fileprivate var hasConstantParts: Bool {
        switch self {
        case .path(from: .constant, _), .path(from: .argument, _): true
        case _ where isComputedOfConstants: true
        case .subquery(let collection, _, let predicate): collection.hasConstantParts || predicate.hasConstantParts
        case .conditional(let condition, _, _) where condition.hasConstantParts: true
        default: parts.contains(where: \.hasConstantParts)
        }
    }

    /// Whether it is a cast, or a function or method with arguments, whose value is the same for every object: it
    /// depends on constants and the time only. Random numbers are others for each object.
    var isComputedOfConstants: Bool {
        switch self {
        case .function(.random, _), .function(.randomBelow, _), .function(.noIndex, _): false
        case .function, .call, .cast: !parts.isEmpty && parts.allSatisfy(\.isFixed)
        default: false
        }
    }

    private var isFixed: Bool {
        switch self {
        case .constant, .argument, .function(.now, _): true
        default: isComputedOfConstants
        }
    }
}
