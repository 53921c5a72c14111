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
