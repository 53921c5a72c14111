extension Sequence where Element: KeyedOperand {
    /// The objects in the order of some terms, the first the most significant; equal ones stay in their order.
    ///
    /// Each object's values are read once, not at each comparison.
    ///
    /// - Parameters:
    ///   - terms: what they are compared by.
    ///   - count: how many of the first ones are wanted.
    /// - Returns: the objects, no more than that.
    package func sorted(by terms: [SortTerm], first count: Int = .max) -> [Element] {
        let rows = map { element in
            SortedRow(element: element, values: terms.map { Value.object(element).value(forKeyPath: $0.keyPath) })
        }
        // A few of many are put in their places, with one comparison for each of most of the others.
        let sorted =
            count < rows.count / 8
            ? rows.first(count) { $0.precedes($1, by: terms) } : rows.sorted { $0.precedes($1, by: terms) }
        return sorted.prefix(Swift.max(count, 0)).map { $0.element }
    }
}

/// An element, and what it is compared by.
private struct SortedRow<Element> {
    let element: Element
    let values: [Value]

    func precedes(_ other: SortedRow, by terms: [SortTerm]) -> Bool {
        for (index, term) in terms.enumerated() {
            switch term.comparison.compare(values[index], other.values[index]) {
            case .orderedAscending: return term.ascending
            case .orderedDescending: return !term.ascending
            case .orderedSame: continue
            }
        }
        return false
    }
}

extension Array {
    /// The first elements in an order; equal ones stay in their order.
    fileprivate func first(_ count: Int, by precedes: (Element, Element) -> Bool) -> [Element] {
        guard count > 0 else { return [] }
        var first: [Element] = []
        for element in self {
            if first.count == count {
                guard precedes(element, first[count - 1]) else { continue }
                first.removeLast()
            }
            var (low, high) = (0, first.count)
            while low < high {
                let middle = (low + high) / 2
                if precedes(element, first[middle]) { high = middle } else { low = middle + 1 }
            }
            first.insert(element, at: low)
        }
        return first
    }
}
