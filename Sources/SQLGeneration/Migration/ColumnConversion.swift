import CompactCollections
import CoreDataModel

/// The SQL that computes a destination column from a source column. Pure.
package enum ColumnConversion {
    /// The value of an attribute that existed before.
    ///
    /// - Parameters:
    ///   - name: its column in the source.
    ///   - source: the attribute in the source.
    ///   - sourceStorage: how the source stores it.
    ///   - destination: the attribute in the destination.
    ///   - storage: how the destination stores it.
    ///   - fallback: the default value, for an attribute that became mandatory.
    /// - Returns: the value, in SQL.
    package static func value(
        _ name: String, from source: AttributeLayout, _ sourceStorage: ColumnStorage, to destination: AttributeLayout,
        _ storage: ColumnStorage, fallback: SQLFragment?
    ) -> MovedValue {
        let converted = converted("\(name: name)", source, sourceStorage, destination, storage)
        let value: MovedValue = converted.map { .computed($0) } ?? .column(name)
        return value.orElse(fallback)
    }

    /// The SQL of the conversion; nil for a value that stays as it is.
    private static func converted(
        _ column: SQLFragment, _ source: AttributeLayout, _ sourceStorage: ColumnStorage,
        _ destination: AttributeLayout, _ storage: ColumnStorage
    ) -> SQLFragment? {
        switch (sourceStorage, storage) {
        case (.data(let before), .data(let now)), (.transformable(let before), .transformable(let now)):
            if before == now { return nil }
            return .call(now ? .markedContent : .fileContent, column)
        case (_, .integer) where destination.type == .booleanAttributeType && source.type != .booleanAttributeType:
            return "(\(column) <> 0)"
        case (.integer, .integer): return nil
        case (_, .integer): return "CAST(\(column) AS INTEGER)"
        case (.double, .double), (.float, .float), (.double, .float), (.float, .double): return nil
        case (_, .double), (_, .float): return "CAST(\(column) AS REAL)"
        default: return nil
        }
    }

    /// A value if a condition holds, and NULL otherwise: `CASE WHEN Z2_OWNER IN (2, 3) THEN ZOWNER END`.
    package static func value(_ value: SQLFragment, where condition: SQLFragment) -> SQLFragment {
        "CASE WHEN \(condition) THEN \(value) END"
    }

    /// A value if a column is not NULL: `CASE WHEN ZOWNER IS NOT NULL THEN 3 END`.
    package static func value(_ value: SQLFragment, wherePresent column: String) -> SQLFragment {
        self.value(value, where: "\(name: column) IS NOT NULL")
    }

    /// Whether any of some columns has a value: `(ZSTREET IS NOT NULL OR ZTOWN IS NOT NULL)`; `FALSE` for none.
    package static func isAnyPresent(_ columns: [String]) -> SQLFragment {
        if columns.isEmpty { return "FALSE" }
        return SQLFragment.joined(columns.map { "\(name: $0) IS NOT NULL" }, separator: " OR ").inParentheses
    }
}
