import CoreDataModel
import StoreEngine

extension EntityMapping {
    /// The condition that distinguishes the entity's rows from others in its table, `t0.Z_ENT IN (3, 4)`; nil if all
    /// rows are wanted.
    func filter(includesSubentities: Bool = true, alias: String) -> SQLFragment? {
        guard sharesTable else { return nil }
        guard layout.superentity != nil || !includesSubentities else {
            // The plus keeps SQLite from looking almost all rows up by an index.
            return leavesOutStrangers ? "+\(SQLFragment.isEntity(numbers, "\(.entity, of: alias)"))" : nil
        }
        return .isEntity(includesSubentities ? numbers : [number], "\(.entity, of: alias)")
    }
}

extension SQLFragment {
    /// Whether an entity's number is one of the given ones: `Z_ENT = 3`, `Z_ENT IN (3, 4)`.
    ///
    /// - Parameters:
    ///   - numbers: the numbers.
    ///   - column: the column with the number.
    /// - Returns: the condition.
    package static func isEntity(_ numbers: [Int], _ column: SQLFragment = "\(.entity)") -> SQLFragment {
        if numbers.count == 1, let number = numbers.first { return "\(column) = \(number: number)" }
        return "\(column) IN (\(.list(numbers.map { "\(number: $0)" })))"
    }
}
