import CoreDataModel

/// The statements that find and repair defects of a store: counters, and references that lead to no row. Pure.
package enum StoreCheckSQL {
    /// The least and the greatest number in a column that is not zero: `SELECT MIN(ZSENT), MAX(ZSENT) FROM ZLETTER
    /// WHERE ZSENT <> 0 AND typeof(ZSENT) IN ('integer', 'real')`.
    package static func range(of column: SlotColumn, in mapping: EntityMapping) -> SQLFragment {
        let name: SQLFragment = "\(SQLColumn(column.name))"
        return """
            SELECT MIN(\(name)), MAX(\(name)) FROM \(name: mapping.table) WHERE \(name) <> 0 AND typeof(\(name)) IN ('integer', 'real')
            """
    }

    /// The greatest key of a table's rows: `SELECT MAX(CAST(Z_PK AS INTEGER)) FROM ZCAR`. In a table that was made by
    /// hand, keys can be texts, of which “9” would be the greatest.
    package static func greatestKey(of table: String) -> SQLFragment {
        "SELECT MAX(CAST(\(.key) AS INTEGER)) FROM \(name: table)"
    }

    /// The counter of an entity: `SELECT Z_MAX FROM Z_PRIMARYKEY WHERE Z_ENT = 3`.
    package static func counter(of number: Int) -> SQLFragment {
        "SELECT Z_MAX FROM Z_PRIMARYKEY WHERE \(SQLFragment.isEntity([number]))"
    }

    /// `UPDATE Z_PRIMARYKEY SET Z_MAX = 12 WHERE Z_ENT = 3`
    package static func setCounter(of number: Int, to key: Int64) -> SQLFragment {
        "UPDATE Z_PRIMARYKEY SET Z_MAX = \(number: key) WHERE \(SQLFragment.isEntity([number]))"
    }

    /// The keys of the rows that belong to none of the entities that share their table, with the kind and the text of
    /// what they have for a number: `SELECT Z_PK, typeof(Z_ENT), CAST(Z_ENT AS TEXT) FROM ZCAR WHERE Z_ENT IS NULL OR
    /// (Z_ENT < 1 AND NOT Z_ENT IN (1, 2)) OR (Z_ENT > 1 AND Z_ENT < 2 AND …) OR (Z_ENT > 2 AND …) ORDER BY +Z_PK`. An
    /// index by entities finds each of the ranges; with `NOT IN` alone, or in the order of the table, all rows would be
    /// read. A column for texts has the numbers in another order, so that the ranges have known ones, too.
    package static func strangers(in mapping: EntityMapping) -> SQLFragment {
        let numbers = mapping.numbers.sorted()
        let between = zip(numbers, numbers.dropFirst()).map {
            "\(.entity) > \(number: $0) AND \(.entity) < \(number: $1)" as SQLFragment
        }
        let below = numbers.first.map { "\(.entity) < \(number: $0)" as SQLFragment }
        let above = numbers.last.map { "\(.entity) > \(number: $0)" as SQLFragment }
        let ranges = ([below].compactMap { $0 } + between + [above].compactMap { $0 }).map {
            "(\($0) AND NOT \(SQLFragment.isEntity(numbers)))" as SQLFragment
        }
        let rows: SQLFragment =
            "SELECT \(.key), typeof(\(.entity)), CAST(\(.entity) AS TEXT) FROM \(name: mapping.table)"
        return "\(rows) WHERE \(.joined(["\(.entity) IS NULL"] + ranges, separator: " OR ")) ORDER BY +\(.key)"
    }

    /// The columns of a table's unique indexes, each after the name of its index: `SELECT l.name, i.name FROM
    /// pragma_index_list('ZCAR') l JOIN pragma_index_info(l.name) i WHERE l."unique" = 1`.
    package static func uniqueColumns(of table: String) -> SQLFragment {
        "SELECT l.name, i.name FROM pragma_index_list(\(text: table)) l JOIN pragma_index_info(l.name) i WHERE l.\"unique\" = 1"
    }

    /// How many values, or combinations of values, several rows of an entity share:
    /// `SELECT COUNT(*) FROM (SELECT 1 FROM ZCAR WHERE ZPLATE IS NOT NULL GROUP BY ZPLATE HAVING COUNT(*) > 1)`.
    ///
    /// - Returns: nil if the store has no column for one of the properties.
    package static func sharedValues(of properties: [String], in mapping: EntityMapping) -> SQLFragment? {
        var columns: [SQLFragment] = []
        for property in properties {
            guard let column = mapping.column(named: property) else { return nil }
            columns.append("\(SQLColumn(column.name))")
        }
        guard let first = columns.first else { return nil }
        let list = columns.dropFirst().reduce(first) { "\($0), \($1)" }
        let filled = columns.reduce(
            "\(SQLFragment.isEntity(mapping.numbers, sharesTable: mapping.sharesTable))" as SQLFragment
        ) {
            "\($0) AND \($1) IS NOT NULL"
        }
        let groups: SQLFragment =
            "SELECT 1 FROM \(name: mapping.table) WHERE \(filled) GROUP BY \(list) HAVING COUNT(*) > 1"
        return "SELECT COUNT(*) FROM (\(groups))"
    }

    /// Clears the references of a to-one relationship that lead to no row: `UPDATE ZPAGE SET ZBOOK = NULL WHERE ZBOOK
    /// IS NOT NULL AND ZBOOK NOT IN (SELECT Z_PK FROM ZBOOK)`.
    package static func clearDangling(_ column: SlotColumn, of source: EntityMapping, destination: EntityMapping)
        -> SQLFragment
    {
        let reference: SQLFragment = "\(SQLColumn(column.name))"
        return "UPDATE \(name: source.table) SET \(reference) = NULL WHERE \(isDangling(reference, destination))"
    }

    /// Deletes the pairs of a join table that lead to no row.
    package static func deleteDangling(_ join: JoinMapping, destination: EntityMapping) -> SQLFragment {
        let reference: SQLFragment = "\(SQLColumn(join.destinationColumn))"
        return "DELETE FROM \(name: join.table) WHERE \(isDangling(reference, destination))"
    }

    private static func isDangling(_ reference: SQLFragment, _ destination: EntityMapping) -> SQLFragment {
        "\(reference) IS NOT NULL AND \(reference) NOT IN (SELECT \(.key) FROM \(name: destination.table))"
    }
}

extension SQLFragment {
    fileprivate static func isEntity(_ numbers: [Int], sharesTable: Bool) -> SQLFragment {
        sharesTable ? isEntity(numbers) : "1"
    }
}

// The sizes in a report.
extension StoreCheckSQL {
    /// The bytes of each table and index, if SQLite was built with `dbstat`: `SELECT name, SUM(pgsize) FROM dbstat
    /// GROUP BY name`.
    package static let sizes: SQLFragment = "SELECT name, SUM(pgsize) FROM dbstat GROUP BY name"

    /// The largest values of a column, with their rows' keys:
    /// `SELECT Z_PK, LENGTH(ZCOVER) FROM ZBOOK WHERE LENGTH(ZCOVER) > 100000 ORDER BY 2 DESC LIMIT 3`.
    package static func largest(_ column: SlotColumn, in mapping: EntityMapping, above bytes: Int, limit: Int)
        -> SQLFragment
    {
        let length: SQLFragment = "LENGTH(\(SQLColumn(column.name)))"
        return
            "SELECT \(.key), \(length) FROM \(name: mapping.table) WHERE \(length) > \(number: bytes) ORDER BY 2 DESC LIMIT \(number: limit)"
    }
}

// The statements for a page of the history about transactions with very many changes.
extension StoreCheckSQL {
    /// `SELECT COUNT(*) FROM ACHANGE WHERE ZTRANSACTIONID > 3`
    package static func changeCount(after transaction: Int64) -> SQLFragment {
        "SELECT COUNT(*) FROM ACHANGE WHERE ZTRANSACTIONID > \(number: transaction)"
    }

    /// `SELECT COUNT(*) FROM ACHANGE WHERE ZTRANSACTIONID = 3`
    package static func changeCount(of transaction: Int64) -> SQLFragment {
        "SELECT COUNT(*) FROM ACHANGE WHERE ZTRANSACTIONID = \(number: transaction)"
    }

    /// The first changes of a transaction: `SELECT ZCHANGETYPE, ZENTITY, ZENTITYPK, ZCOLUMNS, Z_PK FROM ACHANGE WHERE
    /// ZTRANSACTIONID = 3 LIMIT 60`.
    package static func changes(of transaction: Int64, limit: Int) -> SQLFragment {
        "SELECT ZCHANGETYPE, ZENTITY, ZENTITYPK, ZCOLUMNS, \(.key) FROM ACHANGE WHERE ZTRANSACTIONID = \(number: transaction) LIMIT \(number: limit)"
    }
}
