import SQLiteEngine
import CoreDataModel
import Foundation
import SQLGeneration

/// The SQL that computes a column of the destination from one of the source. Pure.
enum ColumnConversion {
    /// The value of an attribute that was there before.
    ///
    /// - Parameters:
    ///   - name: the column that it was in.
    ///   - source: the attribute in the source.
    ///   - sourceStorage: how the source stores it.
    ///   - destination: the attribute in the destination.
    ///   - storage: how the destination stores it.
    ///   - fallback: the default value's literal, for an attribute that became mandatory.
    /// - Returns: the value, in SQL.
    static func value(
        _ name: String, from source: AttributeLayout, _ sourceStorage: ColumnStorage, to destination: AttributeLayout,
        _ storage: ColumnStorage, fallback: String?
    ) -> MovedValue {
        let converted = converted(quoted(name), source, sourceStorage, destination, storage)
        let value: MovedValue = converted.map { .computed($0) } ?? .column(name)
        return value.orElse(fallback)
    }

    /// The SQL of the conversion; nil for a value that stays as it is.
    private static func converted(
        _ column: String, _ source: AttributeLayout, _ sourceStorage: ColumnStorage, _ destination: AttributeLayout,
        _ storage: ColumnStorage
    ) -> String? {
        switch (sourceStorage, storage) {
        case (.data(let before), .data(let now)), (.transformable(let before), .transformable(let now)):
            if before == now { return column }
            if now { return "CASE WHEN \(column) NOT NULL THEN CAST(X'01' || \(column) AS BLOB) END" }
            return "\(InPlaceFunction.externalContent)(\(column))"
        case (_, .integer) where destination.type == .booleanAttributeType && source.type != .booleanAttributeType:
            return "(\(column) <> 0)"
        case (.integer, .integer): return nil
        case (_, .integer): return "CAST(\(column) AS INTEGER)"
        case (.double, .double), (.float, .float), (.double, .float), (.float, .double): return nil
        case (_, .double), (_, .float): return "CAST(\(column) AS REAL)"
        default: return nil
        }
    }

    /// The bounds of the integers that an attribute can have, where a former value may lie outside.
    static func bounds(from source: AttributeLayout, to destination: AttributeLayout) -> ClosedRange<Int64>? {
        guard source.type != destination.type else { return nil }
        switch destination.type {
        case .integer16AttributeType where source.type != .booleanAttributeType:
            return Int64(Int16.min)...Int64(Int16.max)
        case .integer32AttributeType
        where source.type != .booleanAttributeType && source.type != .integer16AttributeType:
            return Int64(Int32.min)...Int64(Int32.max)
        default: return nil
        }
    }
}

/// The functions that a migration in place registers with SQLite.
enum InPlaceFunction {
    /// The content of a value that may lie in a file beside the store.
    static let externalContent = "PippinExternalContent"
    /// The history's mask of changed properties, for the destination's properties: entity number, mask.
    static let changedColumns = "PippinChangedColumns"
}
