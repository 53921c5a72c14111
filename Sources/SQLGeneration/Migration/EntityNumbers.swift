import CompactCollections

/// The numbers of entities before and after a migration. Pure.
package struct EntityNumbers: Equatable, Sendable {
    package var pairs: [Pair]

    package struct Pair: Equatable, Sendable {
        package let old: Int
        package let new: Int

        package init(old: Int, new: Int) { (self.old, self.new) = (old, new) }
    }

    package init(_ pairs: [Pair]) { self.pairs = pairs }

    /// The numbers that change.
    package var changing: EntityNumbers { EntityNumbers(pairs.filter { $0.old != $0.new }) }
    package var isEmpty: Bool { pairs.isEmpty }

    /// Whether a column holds one of the old numbers: `Z_ENT IN (3, 4)`.
    package func arePresent(in column: SQLFragment = "\(.entity)") -> SQLFragment {
        .isEntity(pairs.map(\.old), column)
    }

    /// The new number for the old one in a column; the column itself if no number changes.
    package func renumbered(_ column: SQLFragment = "\(.entity)") -> SQLFragment {
        changing.isEmpty ? column : renumberedOrNothing(column)
    }

    /// The same, with NULL for all other numbers: `CASE Z_ENT WHEN 3 THEN 2 WHEN 4 THEN 3 END`.
    package func renumberedOrNothing(_ column: SQLFragment) -> SQLFragment {
        let cases = pairs.map { "WHEN \(number: $0.old) THEN \(number: $0.new)" as SQLFragment }
        return "CASE \(column) \(.joined(cases, separator: " ")) END"
    }
}
