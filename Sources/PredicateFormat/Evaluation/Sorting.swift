extension Sequence where Element: KeyedOperand {
    /// The objects in the order of some terms, the first the most significant; equal ones stay in their order.
    ///
    /// Each object's values are read once, not at each comparison.
    package func sorted(by terms: [SortTerm]) -> [Element] {
        let rows = map { element in
            (element: element, values: terms.map { Value.object(element).value(forKeyPath: $0.keyPath) })
        }
        return rows.sorted { first, second in
            for (index, term) in terms.enumerated() {
                switch term.comparison.compare(first.values[index], second.values[index]) {
                case .orderedAscending: return term.ascending
                case .orderedDescending: return !term.ascending
                case .orderedSame: continue
                }
            }
            return false
        }.map(\.element)
    }
}
