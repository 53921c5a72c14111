import StoreEngine

extension EntityMapping {
    /// Tells the entity's rows from others of its table, `t0.Z_ENT IN (3, 4)`; nil where all rows are wanted.
    func filter(includesSubentities: Bool = true, alias: String) -> SQLFragment? {
        guard sharesTable, layout.superentity != nil || !includesSubentities else { return nil }
        let numbers = includesSubentities ? self.numbers : [number]
        if numbers.count == 1, let number = numbers.first { return "\(.entity, of: alias) = \(number: number)" }
        return "\(.entity, of: alias) IN (\(.list(numbers.map { "\(number: $0)" })))"
    }
}
