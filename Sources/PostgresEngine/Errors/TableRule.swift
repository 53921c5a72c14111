import PostgresConnection
import SQLGeneration

/// What to do about errors of what others have put on a store's tables, or set in them.
enum TableRule {
    /// The advice for an error. Pure.
    ///
    /// - Parameters:
    ///   - error: the server's error.
    ///   - schema: the schema of the store's tables.
    /// - Returns: nil for an error that does not come from a table's constraints, sequence or triggers.
    static func advice(_ error: PostgresError, schema: String) -> String? {
        if error.isUniqueViolation, let table = error.table, error.constraint?.hasSuffix("_pkey") == true {
            let name = quotedName(QualifiedName.make(schema: schema, name: table))
            let key = ColumnName.key
            return "The sequence of the table's keys was set back, or rows have keys that it did not give. Set it: "
                + "SELECT setval(pg_get_serial_sequence(\(quotedText(name)), '\(key)'), max(\(key))) FROM \(name)."
        }
        if let constraint = error.constraint, let table = error.table {
            return "The constraint “\(constraint)” of the table “\(table)” forbids it: "
                + "save other values, or change what the constraint says."
        }
        if error.isNullInRequiredColumn, let column = error.column, let table = error.table {
            return "The column “\(column)” of the table “\(table)” needs a value, and the model has none for it: "
                + "give the column a default, or drop its NOT NULL."
        }
        guard let context = error.context, context.contains("PL/pgSQL") || context.contains("SQL function") else {
            return nil
        }
        let places = context.split(separator: "\n").joined(separator: "; ")
        return "A trigger that others have put on the table ended with this error: see \(places)."
    }
}
