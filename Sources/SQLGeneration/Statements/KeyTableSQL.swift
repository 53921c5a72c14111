/// The statements for keys that a request has collected in a table of the engine, with the columns `Z_PK`, `Z_ENT` and
/// `Z_CASCADED`: the round in which a delete rule added the key, from 1, or NULL. Pure.
package struct KeyTableSQL: Sendable {
    /// The table.
    package let table: SQLFragment

    package init(_ table: SQLFragment) { self.table = table }

    /// The keys, as an operand of IN: `(SELECT Z_PK FROM temp.KEYS)`.
    package var keys: SQLFragment { .select("SELECT \(.key) FROM \(table)") }

    /// The condition on rows of a table `t`: `t.Z_PK IN (SELECT Z_PK FROM temp.KEYS)`.
    package var selects: SQLFragment { "\(.key, of: "t") IN \(keys)" }

    /// `DELETE FROM temp.KEYS`
    package var clear: SQLFragment { "DELETE FROM \(table)" }

    /// `INSERT INTO temp.KEYS (Z_PK) VALUES (?) ON CONFLICT DO NOTHING`
    package var insert: SQLFragment {
        "INSERT INTO \(table) (\(.key)) VALUES (\(SQLFragment(.placeholder))) ON CONFLICT DO NOTHING"
    }

    /// `INSERT INTO temp.KEYS (Z_PK, Z_ENT) SELECT …`
    ///
    /// - Parameter selection: keys and entities.
    /// - Returns: the statement.
    package func fill(_ selection: SQLFragment) -> SQLFragment {
        "INSERT INTO \(table) (\(.key), \(.entity)) \(selection)"
    }

    /// Removes keys that no row has, and adds the entities of the others.
    ///
    /// ```sql
    /// DELETE FROM temp.KEYS WHERE Z_PK NOT IN (SELECT Z_PK FROM ZCAR)
    /// UPDATE temp.KEYS AS k SET Z_ENT = (SELECT t.Z_ENT FROM ZCAR t WHERE t.Z_PK = k.Z_PK)
    /// ```
    ///
    /// - Parameter mapping: the entity whose table has the rows.
    /// - Returns: the statements, in order.
    package func complete(from mapping: EntityMapping) -> [SQLFragment] {
        let present = SQLFragment.select("SELECT \(.key) FROM \(name: mapping.table)")
        let own: SQLFragment = "\(.key, of: "t") = \(.key, of: "k")"
        let number = SQLFragment.select("SELECT \(.entity, of: "t") FROM \(name: mapping.table) t WHERE \(own)")
        return [
            "DELETE FROM \(table) WHERE \(.key) NOT IN \(present)", "UPDATE \(table) AS k SET \(.entity) = \(number)",
        ]
    }

    private static let isAskedFor: SQLFragment = "Z_CASCADED IS NULL"

    /// The condition on the keys that delete rules added in a round; in round 0, the request itself selected them.
    static func isAdded(in round: Int) -> SQLFragment {
        round == 0 ? isAskedFor : "Z_CASCADED = \(binding: .value(.integer(Int64(round))))"
    }

    /// The index, in SQLite, by which the keys of a round are found without the others.
    ///
    /// - Parameter table: the name of the temporary table.
    /// - Returns: `CREATE INDEX … ON KEYS (Z_CASCADED) WHERE Z_CASCADED IS NOT NULL`.
    package static func roundIndex(of table: String) -> SQLFragment {
        let index = table + "_rounds"
        return
            "CREATE INDEX IF NOT EXISTS temp.\(name: index) ON \(name: table) (Z_CASCADED) WHERE Z_CASCADED IS NOT NULL"
    }

    /// How many keys the request itself selects, without those that delete rules added.
    package var count: SQLFragment { "SELECT COUNT(*) FROM \(table) WHERE \(Self.isAskedFor)" }

    /// How many keys there are.
    package var total: SQLFragment { "SELECT COUNT(*) FROM \(table)" }

    /// The keys that the request itself selects, and their entities.
    package var rows: SQLFragment {
        "SELECT \(.key), \(.entity) FROM \(table) WHERE \(Self.isAskedFor) ORDER BY \(.key)"
    }

    /// `DELETE FROM ZCAR WHERE Z_PK IN (SELECT Z_PK FROM temp.KEYS)`
    package func delete(from table: String) -> SQLFragment { "DELETE FROM \(name: table) WHERE \(.key) IN \(keys)" }
}
