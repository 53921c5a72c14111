extension PredicateTree {
    /// The tree with every expression replaced by a function's result for it, from the leaves up.
    package func mapExpressions(_ transform: (ExpressionTree) throws -> ExpressionTree) rethrows -> PredicateTree {
        try mapSides { try $0.mapExpressions(transform) }
    }

    /// The tree with both sides of every comparison replaced by a function's results for them.
    package func mapSides(_ transform: (ExpressionTree) throws -> ExpressionTree) rethrows -> PredicateTree {
        try mapComparisons { comparison in
            var comparison = comparison
            comparison.left = try transform(comparison.left)
            comparison.right = try transform(comparison.right)
            return .comparison(comparison)
        }
    }

    /// The tree with every comparison replaced by a function's result for it, apart from those within expressions.
    package func mapComparisons(_ transform: (ComparisonTree) throws -> PredicateTree) rethrows -> PredicateTree {
        switch self {
        case .constant: self
        case .and(let parts): .and(try parts.map { try $0.mapComparisons(transform) })
        case .or(let parts): .or(try parts.map { try $0.mapComparisons(transform) })
        case .not(let part): .not(try part.mapComparisons(transform))
        case .comparison(let comparison): try transform(comparison)
        }
    }
}

extension ExpressionTree {
    /// The tree with every expression, including itself, replaced by a function's result for it, from the leaves up.
    package func mapExpressions(_ transform: (ExpressionTree) throws -> ExpressionTree) rethrows -> ExpressionTree {
        let mapped = try mapParts(
            { try $0.mapExpressions(transform) }, predicates: { try $0.mapExpressions(transform) })
        return try transform(mapped)
    }

    /// The tree with its direct parts, expressions and predicates, replaced.
    package func mapParts(
        _ transform: (ExpressionTree) throws -> ExpressionTree,
        predicates transformPredicate: (PredicateTree) throws -> PredicateTree
    ) rethrows -> ExpressionTree {
        switch self {
        case .constant, .argument, .evaluatedObject, .keyPath, .variable, .anyKey:
            return self
        case .path(let origin, let keys):
            return .path(from: try transform(origin), keys)
        case .element(let collection, .at(let index)):
            return .element(of: try transform(collection), at: .at(try transform(index)))
        case .element(let collection, let index):
            return .element(of: try transform(collection), at: index)
        case .assignment(let name, let value):
            return .assignment(name, try transform(value))
        case .function(let function, let arguments):
            return .function(function, try arguments.map(transform))
        case .call(let operand, let name, let arguments):
            return .call(on: try transform(operand), name: name, arguments: try arguments.map(transform))
        case .cast(let expression, let type):
            return .cast(try transform(expression), to: try transform(type))
        case .listed(let list, let kind):
            return .listed(try transform(list), kind)
        case .aggregate(let elements):
            return .collection(of: try elements.map(transform))
        case .subquery(let collection, let variable, let predicate):
            return .subquery(of: try transform(collection), variable: variable, try transformPredicate(predicate))
        case .conditional(let condition, let first, let second):
            return .conditional(
                try transformPredicate(condition), then: try transform(first), otherwise: try transform(second))
        case .set(let operation, let first, let second):
            return .set(operation, try transform(first), try transform(second))
        case .fetch(let request, let context, let countOnly):
            return .fetch(try transform(request), in: try transform(context), countOnly: countOnly)
        case .block(let block, let arguments):
            return .block(block, try arguments.map(transform))
        }
    }

    /// A collection, as a constant if all its elements are constants.
    package static func collection(of elements: [ExpressionTree]) -> ExpressionTree {
        var values: [Value] = []
        values.reserveCapacity(elements.count)
        for element in elements {
            guard case .constant(let value) = element else { return .aggregate(elements) }
            values.append(value)
        }
        return .constant(.collection(values))
    }
}

/// The keys of a path; empty for `self`, by which every object returns itself.
func keys(ofPath path: String?) -> [String] {
    (path ?? "").split(separator: ".").map(String.init).withoutSelf
}

extension [String] {
    /// The keys without a `self` before them.
    var withoutSelf: [String] {
        first?.uppercased() == "SELF" ? Array(dropFirst()) : self
    }
}

extension ExpressionTree {
    /// The expression for the value under keys starting at the evaluated object; without keys, the object itself.
    static func keys(_ keys: [String]) -> ExpressionTree {
        keys.isEmpty ? .evaluatedObject : .keyPath(keys)
    }
}

/// How the two sides of a comparison are compared. Raw values are those of `NSComparisonPredicate.Operator`.
package enum ComparisonOperator: UInt, Hashable, Sendable, CaseIterable {
    /// `<`
    case lessThan = 0
    /// `<=`, also `=<`
    case lessThanOrEqualTo = 1
    /// `>`
    case greaterThan = 2
    /// `>=`, also `=>`
    case greaterThanOrEqualTo = 3
    /// `==`, also `=`
    case equalTo = 4
    /// `!=`, also `<>`
    case notEqualTo = 5
    /// `MATCHES`: the whole string matches a regular expression.
    case matches = 6
    /// `LIKE`: the whole string matches a pattern in which `?` is one character and `*` any number of them.
    case like = 7
    /// `BEGINSWITH`
    case beginsWith = 8
    /// `ENDSWITH`
    case endsWith = 9
    /// `IN`: the left side is an element of the right, or a substring of it.
    case `in` = 10
    /// `CONTAINS`: the right side is an element of the left, or a substring of it.
    case contains = 99
    /// `BETWEEN`: not less than the first element of the right side, and not greater than its second.
    case between = 100
}

/// Which elements of a collection on the left side must satisfy a comparison. Raw values are those of
/// `NSComparisonPredicate.Modifier`.
package enum ComparisonModifier: UInt, Hashable, Sendable, CaseIterable {
    /// The sides are compared as they are.
    case direct = 0
    /// `ALL`: every element; true for an empty collection.
    case all = 1
    /// `ANY`, also `SOME`: at least one element. `NONE` is `NOT ANY`.
    case any = 2
}

/// A comparison of two expressions: `ANY books.title BEGINSWITH[cd] "a"`.
package struct ComparisonTree: Hashable, Sendable {
    package var left: ExpressionTree
    package var comparison: ComparisonOperator
    package var right: ExpressionTree
    package var modifier: ComparisonModifier
    package var options: StringOptions

    package init(
        _ left: ExpressionTree, _ comparison: ComparisonOperator, _ right: ExpressionTree,
        modifier: ComparisonModifier = .direct, options: StringOptions = []
    ) {
        self.left = left
        self.comparison = comparison
        self.right = right
        self.modifier = modifier
        self.options = options
    }
}

/// The options of string comparisons: the letters in brackets after an operator. Raw values are those of
/// `NSComparisonPredicate.Options`.
package struct StringOptions: OptionSet, Hashable, Sendable {
    package let rawValue: UInt

    package init(rawValue: UInt) {
        self.rawValue = rawValue
    }

    /// `[c]`
    package static let caseInsensitive = StringOptions(rawValue: 1)
    /// `[d]`
    package static let diacriticInsensitive = StringOptions(rawValue: 2)
    /// `[n]`: the strings need no preparation and are compared byte by byte; overrides the other options.
    package static let normalized = StringOptions(rawValue: 4)
    /// `[l]`: by the rules of the current locale.
    package static let localeSensitive = StringOptions(rawValue: 8)
}
