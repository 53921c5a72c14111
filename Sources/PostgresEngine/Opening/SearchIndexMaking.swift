import CoreDataModel
import PostgresConnection
import SQLGeneration
import StoreEngine

extension DatabaseOpening {
    /// The indexes of the store's searched entities. Those that are missing, or of something else, are made, empty. A
    /// role that may not do so, or a server that refuses it, does without: texts are compared one by one then.
    func searchIndexes(of schema: SQLSchema, generation: Int64, isReadOnly: Bool) -> [SearchIndex] {
        let indexes = SearchIndex.indexes(of: schema)
        guard !indexes.isEmpty else { return [] }
        let mayMake = !isReadOnly && !connection.isReadOnlyByDefault && !connection.isInTransaction
        do { return try searchIndexes(indexes, generation, mayMake: mayMake) } catch { return [] }
    }

    private func searchIndexes(_ indexes: [SearchIndex], _ generation: Int64, mayMake: Bool) throws -> [SearchIndex] {
        if try !hasTable("search") || !hasTable("search_pairs") {
            guard mayMake else { return [] }
            try connection.transaction {
                try lock()
                try connection.execute(BookkeepingTables.search)
            }
        }
        return try indexes.compactMap { index in
            let (name, definition) = (index.fields.entity.name, index.definition(generation))
            var parameters = PostgresParameters()
            parameters.append(place.schema)
            parameters.append(name)
            parameters.append(definition)
            func known() throws -> Int32? {
                let result = try connection.query(
                    "SELECT number FROM pippin.searches WHERE schema_name = $1 AND entity = $2 AND definition = $3",
                    parameters)
                return result.count == 1 ? Int32(truncatingIfNeeded: result.integer(0, 0)) : nil
            }
            var number = try known()
            if number == nil, mayMake {
                number = try? connection.transaction {
                    try lock()
                    if let number = try known() { return number }
                    var former = PostgresParameters()
                    former.append(place.schema)
                    former.append(name)
                    try connection.query(
                        "DELETE FROM pippin.searches WHERE schema_name = $1 AND entity = $2", former)
                    let result = try connection.query(
                        "INSERT INTO pippin.searches (schema_name, entity, definition) VALUES ($1, $2, $3) RETURNING number",
                        parameters)
                    let number = Int32(truncatingIfNeeded: result.integer(0, 0))
                    // Numbers begin anew where the table of the indexes was dropped.
                    for table in ["search_related", "search_pairs"] {
                        try connection.query(
                            """
                            DELETE FROM pippin.\(table) WHERE number = \(number) \
                            OR number NOT IN (SELECT number FROM pippin.searches)
                            """)
                    }
                    return number
                }
            }
            guard let number else { return nil }
            var table = PostgresParameters()
            var tables = PostgresArray(.text)
            for table in [index.table] + index.relations.map(\.table) { tables.append(table) }
            table.append(tables)
            let rights = try connection.query(
                """
                SELECT bool_and(has_table_privilege('pippin.' || n, 'INSERT') AND has_table_privilege('pippin.' || n, 'UPDATE') \
                AND has_table_privilege('pippin.' || n, 'DELETE')), bool_and(has_table_privilege('pippin.' || n, 'SELECT')) \
                AND (SELECT NOT bool_or(row_security_active(t)) FROM unnest($1::text[]) t) \
                FROM unnest(ARRAY[\(index.relations.isEmpty ? "'search'" : "'search', 'search_related', 'search_pairs'")]) n
                """, table)
            var index = index
            index.take(number, mayWrite: rights.integer(0, 0) == 1, mayRead: rights.integer(0, 1) == 1)
            return index
        }
    }
}
