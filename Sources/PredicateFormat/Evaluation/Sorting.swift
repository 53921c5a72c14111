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
        let rows = map { element in
            SortedRow(element: element, values: terms.map { Value.object(element).value(forKeyPath: $0.keyPath) })
        }
        // To find the first few of many, most of the others need only one comparison each.
        let sorted =
            count < rows.count / 8
            ? rows.first(count) { $0.precedes($1, by: terms) } : rows.sorted { $0.precedes($1, by: terms) }
        return sorted.prefix(Swift.max(count, 0)).map { $0.element }
    }
}

/// An element with the values to compare.
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
    /// The first elements in an order; equal ones keep their order.
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
