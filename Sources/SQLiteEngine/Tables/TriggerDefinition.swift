import CompactCollections
import PredicateFormat
import CoreDataModel
import SQLGeneration
/// A trigger that keeps a derived attribute up to date.
package struct TriggerDefinition: Sendable, Equatable {
    package let name: String
    /// The event: `AFTER INSERT ON ZPAGE`.
    package let event: String
    /// The condition after WHEN; nil for none.
    package var condition: String?
    /// The statements of its body, without semicolons.
    package let statements: [String]

    package var creation: String {
        let when = condition.map { " WHEN (\($0))" } ?? ""
        let body = statements.map { $0 + ";" }.joined(separator: " ")
        return "CREATE TRIGGER \(quoted(name)) \(event) FOR EACH ROW\(when) BEGIN \(body) END"
    }
}

/// A derived attribute in its table, with the statements of its triggers.
struct DerivedColumn {
    let mapping: EntityMapping
    let property: String
    let column: String

    var table: String { quoted(mapping.table) }

    /// `Z_DA_ZPAGE_Book_pagesCount_PARAMETER_INSERT`: the trigger's table, the attribute, the occasion.
    func name(on table: String, _ occasion: String) -> String {
        "Z_DA_\(table)_\(mapping.layout.name)_\(property)_\(occasion)"
    }

    /// Sets the attribute of the rows that a condition selects, and reports it to the store.
    ///
    /// - Parameters:
    ///   - value: the value, in SQL.
    ///   - condition: the condition on the rows, in SQL.
    ///   - isInsert: whether the object itself is just being inserted.
    /// - Returns: the statements.
    func set(_ value: String, where condition: String, isInsert: Bool = false) -> [String] {
        let function = isInsert ? SQLFunctionName.valueInserted : SQLFunctionName.valueUpdated
        return [
            "UPDATE \(table) SET \(column) = \(value) WHERE \(condition)",
            "SELECT \(function)(\(literal(mapping.table)), Z_ENT, Z_PK, \(literal(property)), \(column)) FROM \(table) "
                + "WHERE \(condition)",
        ]
    }

    /// Limits a trigger on the attribute's own table to the rows of its entity; nil if all rows are of that entity.
    var entityCondition: String? {
        guard mapping.sharesTable, mapping.layout.superentity != nil else { return nil }
        return "NEW.Z_ENT IN (\(mapping.numbers.map(String.init).joined(separator: ", ")))"
    }
}
