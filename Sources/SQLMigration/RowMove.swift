import CompactCollections
import Ordering
import SQLGeneration

/// Rows that one statement moves from one table to another.
package struct RowMove {
    package let sourceTable: String
    /// The entities of the rows: their numbers before and after.
    package var numbers: EntityNumbers
    /// The value of each destination column.
    package var values: [String: MovedValue]
    /// The source columns that the entities' rows use.
    private var used: Set<String>

    package init(_ mapping: EntityMapping, from former: EntityMapping, _ sources: ColumnSources) {
        sourceTable = former.table
        numbers = EntityNumbers([.init(old: former.number, new: mapping.number)])
        values = sources.values
        used = Set(former.allColumns)
    }

    /// Adds the rows of another entity if one statement can move both.
    ///
    /// A column that only one of them has may be copied for both, if it is copied unchanged and empty in the other's
    /// rows.
    private mutating func absorb(_ other: RowMove) -> Bool {
        guard sourceTable == other.sourceTable else { return false }
        func fits(_ first: RowMove, _ second: RowMove) -> Bool {
            first.values.allSatisfy { column, value in
                guard let known = second.values[column] else {
                    switch value {
                    case .nothing: return true
                    case .column(let name): return !second.used.contains(name) && first.used.contains(name)
                    case .computed: return false
                    }
                }
                return known == value
            }
        }
        guard fits(self, other), fits(other, self) else { return false }
        values.merge(other.values) { first, _ in first }
        numbers.pairs += other.numbers.pairs
        used.formUnion(other.used)
        return true
    }

    /// Combines moves into as few as possible.
    package static func merged(_ moves: [RowMove]) -> [RowMove] {
        var result: [RowMove] = []
        for move in moves {
            var isAbsorbed = false
            for index in result.indices where !isAbsorbed { isAbsorbed = result[index].absorb(move) }
            if !isAbsorbed { result.append(move) }
        }
        return result
    }

    /// `INSERT INTO ZCAR (Z_PK, Z_ENT, Z_OPT, ZNAME) SELECT Z_PK, 3, Z_OPT, ZNAME FROM _T_ZCAR WHERE Z_ENT = 2`
    ///
    /// - Parameters:
    ///   - table: the destination's table.
    ///   - columns: the columns of the destination table, in order.
    ///   - source: the table with the rows.
    ///   - extra: columns that the model does not know, which stay.
    /// - Returns: the statement.
    package func insertion(into table: String, columns: [String], from source: String, extra: [String]) -> SQLFragment {
        let present = columns.compactMap { column in values[column].map { (column: column, value: $0) } }
        return RowMoveSQL.insertion(into: table, from: source, numbers: numbers, values: present, extra: extra)
    }

    /// `UPDATE ZCAR SET ZWHEELS = 4 WHERE Z_ENT = 2`; `nil` if the rows need no change.
    package func update(of table: String, newColumns: Set<String>) -> SQLFragment? {
        let changes = values.ordered { $0.key < $1.key }.filter { column, value in
            value != .column(column) && !(newColumns.contains(column) && value == .nothing)
        }
        guard !changes.isEmpty else { return nil }
        return RowMoveSQL.update(table, numbers: numbers, values: changes.map { (column: $0.key, value: $0.value) })
    }
}
