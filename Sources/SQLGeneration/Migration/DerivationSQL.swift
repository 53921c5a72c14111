import CoreDataModel

/// The statements that compute derived attributes of existing rows, and that find wrong values. Pure.
package enum DerivationSQL {
    /// `UPDATE ZBOOK SET ZPAGESCOUNT = (SELECT COUNT(*) FROM ZPAGE o WHERE o.ZBOOK = ZBOOK.Z_PK) WHERE Z_ENT = 1`
    ///
    /// - Parameters:
    ///   - column: the attribute's column.
    ///   - derivation: the computation.
    ///   - mapping: the entity.
    ///   - schema: the tables.
    ///   - keys: selects the keys of the rows; nil for all of the entity.
    /// - Returns: the statement; nil if no statement can compute it.
    package static func fill(
        _ column: String, _ derivation: Derivation, _ mapping: EntityMapping, _ schema: SQLSchema,
        ofKeys keys: SQLFragment? = nil
    ) -> SQLFragment? {
        value(derivation, mapping, schema).map { value in
            let rows = keys.map { "\(.key) IN (\($0))" } ?? SQLFragment.isEntity(mapping.numbers)
            return "UPDATE \(name: mapping.table) SET \(name: column) = \(value) WHERE \(rows)"
        }
    }

    /// The rows whose value is not what the expression says: the key, the value, and the right one. Each table is read
    /// once, with an index or without: `SELECT t0.Z_PK, t0.ZPAGESCOUNT, IFNULL(t1.V, 0) FROM ZBOOK t0 LEFT JOIN (SELECT
    /// o.ZBOOK K, COUNT(*) V FROM ZPAGE o GROUP BY 1) t1 ON t1.K = t0.Z_PK WHERE t0.Z_ENT = 1 AND t0.ZPAGESCOUNT IS NOT
    /// IFNULL(t1.V, 0)`.
    ///
    /// Fractions may differ by a millionth, since a sum depends on the order of its terms.
    ///
    /// - Parameters:
    ///   - column: the attribute's column.
    ///   - derivation: the computation.
    ///   - mapping: the entity.
    ///   - schema: the tables.
    ///   - onlyKeys: whether the keys alone are selected.
    /// - Returns: the statement; nil for a time, and for what no statement can compute.
    package static func wrong(
        _ column: SlotColumn, _ derivation: Derivation, _ mapping: EntityMapping, _ schema: SQLSchema,
        onlyKeys: Bool = false
    ) -> SQLFragment? {
        guard let (right, join) = joined(derivation, mapping, schema) else { return nil }
        let value: SQLFragment = "\(SQLColumn(column.name, of: "t0"))"
        let key: SQLFragment = "\(.key, of: "t0")"
        let own = mapping.sharesTable ? SQLFragment.isEntity(mapping.numbers, "\(.entity, of: "t0")") : "1"
        var isWrong: SQLFragment = "\(value) IS NOT \(right)"
        if [.double, .float, .decimal].contains(column.storage) {
            let bound: SQLFragment = "MAX(ABS(\(value)), ABS(\(right))) * 0.000001"
            isWrong = "\(isWrong) AND NOT IFNULL(ABS(\(value) - \(right)) <= \(bound), 0)"
        }
        let result = onlyKeys ? key : "\(key), \(value), \(right)"
        return "SELECT \(result) FROM \(name: mapping.table) t0 \(join)WHERE \(own) AND \(isWrong)"
    }

    /// The value that a row should have, and the join by which it is found.
    private static func joined(
        _ derivation: Derivation, _ mapping: EntityMapping, _ schema: SQLSchema
    ) -> (value: SQLFragment, join: SQLFragment)? {
        switch derivation {
        case .now: return nil
        case .value(let path, let function):
            guard let first = mapping.column(named: path[0]) else { return nil }
            let own: SQLFragment = "\(SQLColumn(first.name, of: "t0"))"
            if path.count == 1 { return (applied(function, own), .empty) }
            guard let destination = first.destination.flatMap({ schema.mapping(of: $0) }),
                let column = destination.column(named: path[1])
            else { return nil }
            let join: SQLFragment = "LEFT JOIN \(name: destination.table) t1 ON \(.key, of: "t1") = \(own) "
            return (applied(function, "\(SQLColumn(column.name, of: "t1"))"), join)
        case .aggregate(let name, let aggregate, let attribute):
            guard case .toMany(let index)? = mapping.layout.propertyByName[name], let toMany = mapping.toManys[index]
            else { return nil }
            let destination = schema.mapping(of: mapping.layout.relationships[index].destination)
            let column = attribute.flatMap { destination?.column(named: $0) }.map { other($0.name) }
            guard let result = aggregate.result(column) else { return nil }
            let (table, key): (String, String)
            switch toMany {
            case .foreignKey(let foreign): (table, key) = (foreign.table, foreign.column)
            case .joinTable(let join) where aggregate == .count: (table, key) = (join.table, join.sourceColumn)
            case .joinTable: return nil
            }
            let groups: SQLFragment = "SELECT \(other(key)) K, \(result) V FROM \(name: table) o GROUP BY 1"
            let join: SQLFragment = "LEFT JOIN (\(groups)) t1 ON t1.K = \(.key, of: "t0") "
            return ([.count, .sum].contains(aggregate) ? .call(.ifNull, "t1.V", "0") : "t1.V", join)
        }
    }

    private static func value(
        _ derivation: Derivation, _ mapping: EntityMapping, _ schema: SQLSchema
    ) -> SQLFragment? {
        switch derivation {
        case .now: return .call(.now)
        case .value(let path, let function):
            guard let first = mapping.column(named: path[0]) else { return nil }
            if path.count == 1 { return applied(function, "\(name: first.name)") }
            guard let destination = first.destination.flatMap({ schema.mapping(of: $0) }),
                let column = destination.column(named: path[1])
            else { return nil }
            let value = applied(function, other(column.name))
            let own: SQLFragment = "\(.key, of: "o") = \(name: mapping.table).\(name: first.name)"
            return .select("SELECT \(value) FROM \(name: destination.table) o WHERE \(own)")
        case .aggregate(let name, let aggregate, let attribute):
            guard case .toMany(let index)? = mapping.layout.propertyByName[name], let toMany = mapping.toManys[index]
            else { return nil }
            let destination = schema.mapping(of: mapping.layout.relationships[index].destination)
            let column = attribute.flatMap { destination?.column(named: $0) }.map { other($0.name) }
            guard let result = aggregate.result(column) else { return nil }
            let key: SQLFragment = "\(name: mapping.table).\(.key)"
            switch toMany {
            case .foreignKey(let foreign):
                let own: SQLFragment = "\(other(foreign.column)) = \(key)"
                return .select("SELECT \(result) FROM \(name: foreign.table) o WHERE \(own)")
            case .joinTable(let join) where aggregate == .count:
                let own: SQLFragment = "\(other(join.sourceColumn)) = \(key)"
                return .select("SELECT \(result) FROM \(name: join.table) o WHERE \(own)")
            case .joinTable: return nil
            }
        }
    }

    private static func other(_ column: String) -> SQLFragment { "\(SQLColumn(column, of: "o"))" }

    private static func applied(_ function: SQLFunction?, _ value: SQLFragment) -> SQLFragment {
        function.map { .call($0, value) } ?? value
    }
}

extension Derivation.Aggregate {
    /// `COUNT(*)`, `IFNULL(SUM(o.ZPRICE), 0)`; nil if a column is needed and not given.
    package func result(_ column: SQLFragment?) -> SQLFragment? {
        if self == .count { return "COUNT(*)" }
        guard let column else { return nil }
        let computed: SQLFragment = "\(word: rawValue)(\(column))"
        return self == .sum ? .call(.ifNull, computed, "0") : computed
    }
}

/// Statements that are only compiled, with the triggers that they would fire, and change nothing.
package enum CompilationSQL {
    /// One statement of each kind that changes rows: `EXPLAIN INSERT INTO ZCAR DEFAULT VALUES`, `EXPLAIN UPDATE ZCAR
    /// SET ZNAME = ZNAME`, `EXPLAIN DELETE FROM ZCAR`. A trigger that names something the table does not have is an
    /// error.
    ///
    /// - Parameters:
    ///   - table: the table.
    ///   - columns: all of its columns, since triggers may depend on any.
    /// - Returns: the statements.
    package static func changes(of table: String, _ columns: [String]) -> [SQLFragment] {
        let values = columns.map { "\(name: $0) = \(name: $0)" as SQLFragment }
        return [
            "EXPLAIN INSERT INTO \(name: table) DEFAULT VALUES",
            "EXPLAIN UPDATE \(name: table) SET \(.list(values))",
            "EXPLAIN DELETE FROM \(name: table)",
        ]
    }
}
