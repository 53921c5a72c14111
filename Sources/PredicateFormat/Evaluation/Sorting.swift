import Foundation

extension Sequence where Element: KeyedOperand {
    /// The objects sorted by some terms, the first the most significant; equal ones keep their order.
    ///
    /// Each object's values are read once, not at each comparison.
    ///
    /// - Parameters:
    ///   - terms: the sort terms.
    ///   - count: the largest number of results.
    /// - Returns: the first `count` objects.
    package func sorted(by terms: [SortTerm], first count: Int = .max) -> [Element] {
        let elements = Array(self)
        var rows = SortedRows(terms, count: elements.count)
        for element in elements { rows.append(.object(element)) }
        return rows.places(first: count).map { elements[$0] }
    }
}

/// The values to compare, of some elements that it knows by their places: code that is the same for elements of all
/// types, and is compiled once.
private struct SortedRows {
    private let terms: [SortTerm]
    private let count: Int
    /// The values of one element after those of the other.
    private var values: ContiguousArray<Value> = []

    init(_ terms: [SortTerm], count: Int) {
        (self.terms, self.count) = (terms, count)
        values.reserveCapacity(terms.count * count)
    }

    mutating func append(_ element: Value) {
        for term in terms { values.append(element.value(forKeyPath: term.keyPath)) }
    }

    /// The places of the first elements in the order of the terms.
    func places(first limit: Int) -> ArraySlice<Int> {
        // To find the first few of many, most of the others need only one comparison each.
        limit < count / 8 ? first(limit) : (0..<count).sorted(by: precedes).prefix(Swift.max(limit, 0))
    }

    private func first(_ limit: Int) -> ArraySlice<Int> {
        guard limit > 0 else { return [] }
        var first: [Int] = []
        first.reserveCapacity(limit)
        for place in 0..<count {
            if first.count == limit {
                guard precedes(place, first[limit - 1]) else { continue }
                first.removeLast()
            }
            var (low, high) = (0, first.count)
            while low < high {
                let middle = (low + high) / 2
                if precedes(place, first[middle]) { high = middle } else { low = middle + 1 }
            }
            first.insert(place, at: low)
        }
        return first[...]
    }

    /// Whether the element at one place comes before the one at another; of equal ones the one that was before.
    private func precedes(_ left: Int, _ right: Int) -> Bool {
        for (index, term) in terms.enumerated() {
            switch term.comparison.compare(values[left * terms.count + index], values[right * terms.count + index]) {
            case .orderedAscending: return term.ascending
            case .orderedDescending: return !term.ascending
            case .orderedSame: continue
            }
        }
        return left < right
    }
}

extension SortTerm.Comparison {
    /// The order of two values in a sort. It is total, so that sorting is well defined: `nil` comes first, then
    /// numbers, then the other kinds, each among themselves.
    package func compare(_ first: Value, _ second: Value) -> ComparisonResult {
        if case .string(let a) = first, case .string(let b) = second { return compare(a, b) }
        if let order = first.comparison(with: second) { return order }
        if case .object(let a) = first, case .object(let b) = second, let a = a.operand.orderKey,
            let b = b.operand.orderKey
        {
            return a < b ? .orderedAscending : a > b ? .orderedDescending : .orderedSame
        }
        let (firstRank, secondRank) = (first.sortRank, second.sortRank)
        return firstRank < secondRank ? .orderedAscending : firstRank > secondRank ? .orderedDescending : .orderedSame
    }

    /// The order of two strings. Collations of a SQL store must use this order, too.
    package func compare(_ first: String, _ second: String) -> ComparisonResult {
        switch self {
        case .plain: first.literalComparison(with: second)
        case .caseInsensitive:
            first.folded(.caseInsensitive).literalComparison(with: second.folded(.caseInsensitive))
        case .localized: first.compare(second, locale: .current)
        case .localizedCaseInsensitive: first.compare(second, options: .caseInsensitive, locale: .current)
        case .localizedStandard: first.localizedStandardCompare(second)
        }
    }
}

extension Value {
    fileprivate var sortRank: Int {
        switch self {
        case .null: 0
        case .integer, .double, .decimal: 1
        case .date: 2
        case .string: 3
        case .url: 4
        case .data: 5
        case .uuid: 6
        case .collection: 7
        case .object: 8
        }
    }
}

extension ComparisonTree {
    /// Why a constant is not allowed as an operand, such as a number on the right of `BEGINSWITH`; nil if the operands
    /// are valid.
    ///
    /// - Parameter constant: the value of an expression that is a constant; nil for all others.
    /// - Returns: the reason; nil if there is none.
    package func operandObstacle(constantOf constant: (ExpressionTree) -> Value?) -> String? {
        switch comparison {
        case .between:
            if case .aggregate(let bounds) = right, bounds.count != 2 {
                return twoBounds("a collection of \(bounds.count)")
            }
            guard let value = constant(right), value.elements?.count != 2 else { return nil }
            return twoBounds(value.kindDescription)
        case .in:
            guard let value = constant(right), value.isSingle else { return nil }
            return "IN takes a collection or a text on its right, not \(value.kindDescription)"
        case .contains:
            guard let value = constant(left), value.isSingle else { return nil }
            return "CONTAINS takes a collection or a text on its left, not \(value.kindDescription)"
        case .beginsWith, .endsWith, .like, .matches:
            for value in [modifier == .direct ? constant(left) : nil, constant(right)].compactMap({ $0 })
            where value.isSingle || value.elements != nil {
                return "\(comparison.format) compares texts, not \(value.kindDescription)"
            }
            return nil
        default: return nil
        }
    }

    /// `ANY books CONTAINS %@` with an object asks what it asks without `ANY`, whether the object is one of the books:
    /// an object itself contains nothing.
    package func findingObject(_ isObject: (ExpressionTree) -> Bool) -> ComparisonTree {
        guard modifier == .any, comparison == .contains, isObject(right) else { return self }
        return ComparisonTree(left, .equalTo, right, modifier: .any)
    }

    private func twoBounds(_ found: String) -> String {
        "BETWEEN takes two bounds on its right, such as {1, 10}, not \(found)"
    }

    /// Refuses a collection where the comparison takes one value; Core Data raises an exception for it. A fetch throws,
    /// since a transformable attribute shows only here that it holds a collection; `evaluate(with:)` stops the program.
    func demandOneValue(_ value: Value, of side: ExpressionTree) {
        guard case .collection = value else { return }
        let reason =
            "\(format): \(side.format) gives a collection, where \(comparison.format) compares one value. Put ANY, ALL or NONE "
            + "before it, or compute one value with @count, @sum, @min, @max or @avg"
        guard EvaluationFailure.isThrown else { programmerError(reason + ".") }
        EvaluationFailure.note(reason)
    }

    /// Whether each side must be one value rather than a collection.
    var comparesOneValue: Bool {
        switch comparison {
        case .equalTo, .notEqualTo, .in, .contains: false
        default: modifier == .direct
        }
    }
}

extension Value {
    /// Whether the value is a number, a date or similar: not a text, a collection, or an object, which may be one.
    fileprivate var isSingle: Bool {
        switch self {
        case .integer, .double, .decimal, .date, .data, .uuid, .url: true
        case .null, .string, .collection, .object: false
        }
    }
}
