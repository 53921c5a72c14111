import PostgresConnection

/// The rights that roles have on the tables of a store, for the tables that take their place.
package struct TableGrants {
    private let place: StorePlace
    private let connection: PostgresConnection
    private let structure: DatabaseStructure
    /// The store's tables, qualified with the schema's name.
    package let tables: [String]

    /// Reads the rights on the tables of a store that exists.
    package init(_ place: StorePlace, _ connection: PostgresConnection) throws {
        (self.place, self.connection) = (place, connection)
        structure = try DatabaseStructure(place, connection)
        tables = try Self.tables(place, connection).map { QualifiedName.make(schema: place.schema, name: $0) }
    }

    /// The names of the tables of a store.
    package static func tables(_ place: StorePlace, _ connection: PostgresConnection) throws -> [String] {
        let result = try connection.query(
            "SELECT table_name FROM pippin.tables WHERE schema_name = $1 AND to_regclass(format('%I.%I', schema_name, table_name)) "
                + "IS NOT NULL ORDER BY 1", parameters(place.schema))
        return (0..<result.count).map { result.string($0, 0) }
    }

    private static func parameters(_ text: String) -> PostgresParameters {
        var parameters = PostgresParameters()
        parameters.append(text)
        return parameters
    }

    /// Gives a table the owner of the former one of the same name, and grants the rights on that; for a table of
    /// another name, those that a role had on all tables.
    ///
    /// - Parameter table: the name of the new table, which is in the store's schema.
    /// - Throws: the server's errors.
    package func grant(on table: String) throws {
        let table = QualifiedName.make(schema: place.schema, name: table)
        let name = quotedName(table)
        if let owner = structure.owner(fromRowsOf: [table], orAll: tables), !owner.isCurrent {
            try connection.execute(DatabaseStructure.giving(table, to: owner))
        }
        var sequence: String?
        for grant in structure.grants(fromRowsOf: [table], orAll: tables) {
            var object = name
            if grant.isOfSequence {
                // The table of a many-to-many relationship has none.
                let hasKeys =
                    try connection.query(
                        "SELECT FROM pg_attribute WHERE attrelid = $1::text::regclass AND attidentity <> ''",
                        Self.parameters(name)
                    ).count > 0
                guard hasKeys else { continue }
                let own =
                    try sequence
                    ?? connection.query(
                        "SELECT pg_get_serial_sequence($1, '\(ColumnName.key)')", Self.parameters(name)
                    ).string(0, 0)
                (sequence, object) = (own, "SEQUENCE " + own)
            }
            let role = grant.role.isEmpty ? "PUBLIC" : quotedName(grant.role)
            try connection.execute("GRANT \(grant.right) ON \(object) TO \(role)")
        }
    }
}
