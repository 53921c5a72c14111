extension SQLSchema {
    /// The join tables that a store has beside the tables and columns of the schema; nil if it does not have these,
    /// with their types, or has other tables of entities, or numbers other entities.
    ///
    /// For a store that keeps no copy of its model, and whose version hashes cannot be compared, its tables identify
    /// the version of the model: every stored property of that version is a column, and every column is a property. A
    /// join table may be left of a relationship that is gone.
    package func leftJoinTables(of catalog: StoreCatalog) -> [String]? {
        guard findings.isEmpty, catalog.numbers.count == mappings.lazy.compactMap({ $0 }).count else { return nil }
        var remaining = catalog.tables.filter { Self.isOfModel($0.key) }
        for table in tables + joinTables.map(\.table) {
            guard let columns = remaining.removeValue(forKey: table.name),
                Self.fits(Self.types(of: columns), Self.types(of: table.columns))
            else { return nil }
        }
        guard remaining.keys.allSatisfy({ $0.hasPrefix("Z_") }) else { return nil }
        return remaining.keys.sorted()
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
