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
    /// How its work is done once for many rows; nil if it is little for each.
    package var recomputation: Recomputation?

    package var creation: String { creation("CREATE TRIGGER", statements) }

    /// The same trigger for one connection. If many rows are changed, it only collects the keys of objects whose values
    /// are computed later.
    package var temporaryCreation: String {
        creation("CREATE TEMP TRIGGER", recomputation.map { [$0.collection] } ?? statements)
    }

    private func creation(_ verb: String, _ statements: [String]) -> String {
        let when = condition.map { " WHEN (\($0))" } ?? ""
        let body = statements.map { $0 + ";" }.joined(separator: " ")
        return "\(verb) \(quoted(name)) \(event) FOR EACH ROW\(when) BEGIN \(body) END"
    }
}

/// The computation of an aggregate for several objects.
package struct Recomputation: Sendable, Equatable {
    /// The key of the object that a changed row belongs to: `NEW.ZCART`.
    let key: String
    /// What distinguishes the temporary table of the keys.
    package let purpose: String
    var table: String { KeyTable.name(purpose) }
    /// Adds the key to that table, once. `OR IGNORE` would be replaced by the clause of the statement that runs the
    /// trigger, which is `OR ABORT` in an upsert. A damaged reference that is no whole number leads to no object.
    var collection: String {
        "INSERT INTO \(quoted(table)) (Z_PK) SELECT \(key) WHERE \(key) = CAST(\(key) AS INTEGER) "
            + "ON CONFLICT DO NOTHING"
    }
    /// Computes the values of the objects in that table, and reports them.
    package let statements: [String]
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
    ///   - isInsert: whether an insertion is the occasion, of the object itself or of the one that it leads to.
    /// - Returns: the statements.
    func set(_ value: String, where condition: String, isInsert: Bool = false) -> [String] {
        let function = isInsert ? SQLFunctionName.valueInserted : SQLFunctionName.valueUpdated
        return [
            "UPDATE \(table) SET \(column) = \(value) WHERE \(condition)",
            "SELECT \(function)(\(literal(mapping.table)), Z_ENT, Z_PK, \(literal(property)), \(column)) FROM \(table) "
                + "WHERE \(condition)",
        ]
    }

    /// Sets the attribute of several objects later.
    ///
    /// - Parameters:
    ///   - key: the key of an object, in a trigger.
    ///   - value: makes the value of a key's object, in SQL.
    /// - Returns: the computation.
    func recomputation(_ key: String, _ value: (String) -> String) -> Recomputation {
        // Numbers: two entities and attributes may read the same when their names are joined, and SQLite ignores case.
        let purpose = "aggregate_\(mapping.number)_\(mapping.layout.slotIndex(forName: property) ?? 0)"
        let selected = "WHERE Z_PK IN (SELECT Z_PK FROM temp.\(quoted(KeyTable.name(purpose))))"
        let arguments = "\(literal(mapping.table)), Z_ENT, Z_PK, \(literal(property)), \(column)"
        return Recomputation(
            key: key, purpose: purpose,
            statements: [
                "UPDATE \(table) AS owner SET \(column) = \(value("owner.Z_PK")) \(selected)",
                "SELECT \(SQLFunctionName.valueUpdated)(\(arguments)) FROM \(table) \(selected)",
            ])
    }

    /// Limits a trigger on the attribute's own table to the rows of its entity; nil if all rows are of that entity.
    var entityCondition: String? {
        guard mapping.sharesTable, mapping.layout.superentity != nil else { return nil }
        return "NEW.Z_ENT IN (\(mapping.numbers.map(String.init).joined(separator: ", ")))"
    }
}
