extension SQLSchema {
    /// Whether a store has exactly the tables and columns of the schema, with their types, and numbers only these
    /// entities.
    ///
    /// For a store that keeps no copy of its model, and whose version hashes cannot be compared, its tables identify
    /// the version of the model: every stored property of that version is a column, and every column is a property.
    package func makesTables(of catalog: StoreCatalog) -> Bool {
        guard findings.isEmpty, catalog.numbers.count == mappings.lazy.compactMap({ $0 }).count else { return false }
        var remaining = catalog.tables.filter { Self.isOfModel($0.key) }
        for table in tables + joinTables.map(\.table) {
            guard let columns = remaining.removeValue(forKey: table.name),
                Self.fits(Self.types(of: columns), Self.types(of: table.columns))
            else { return false }
        }
        return remaining.isEmpty
    }

    /// Tables of entities are named like `ZCAR`, join tables like `Z_5TAGS`; others, such as those of iCloud, belong to
    /// no model.
    private static func isOfModel(_ table: String) -> Bool {
        guard !StoreTables.isReserved(table), table.hasPrefix("Z") else { return false }
        let rest = table.dropFirst()
        return !rest.hasPrefix("_") || (rest.dropFirst().first?.isNumber ?? false)
    }

    /// Whether columns have the types of others. Up to Mac OS X 10.5, those of join tables had none.
    private static func fits(_ columns: [String: String], _ expected: [String: String]) -> Bool {
        columns.count == expected.count
            && columns.allSatisfy { name, type in expected[name].map { type.isEmpty || type == $0 } ?? false }
    }

    private static func types(of columns: [TableDefinition.Column]) -> [String: String] {
        // SQLite does not report the primary key as part of the type.
        let keyless = columns.filter { $0.name != "Z_PK" }
        return Dictionary(
            keyless.map { ($0.name, $0.declaredType.uppercased()) }, uniquingKeysWith: { first, _ in first })
    }
}
