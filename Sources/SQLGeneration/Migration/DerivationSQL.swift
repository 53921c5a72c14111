import CompactCollections
import CoreDataModel

/// The statements that compute derived attributes of existing rows. Pure.
package enum DerivationSQL {
    /// `UPDATE ZBOOK SET ZPAGESCOUNT = (SELECT COUNT(*) FROM ZPAGE o WHERE o.ZBOOK = ZBOOK.Z_PK) WHERE Z_ENT = 1`
    ///
    /// - Parameters:
    ///   - column: the attribute's column.
    ///   - derivation: the computation.
    ///   - mapping: the entity.
    ///   - schema: the tables.
    /// - Returns: the statement; nil if no statement can compute it.
    package static func fill(
        _ column: String, _ derivation: Derivation, _ mapping: EntityMapping, _ schema: SQLSchema
    ) -> SQLFragment? {
        value(derivation, mapping, schema).map { value in
            let rows = SQLFragment.isEntity(mapping.numbers)
            return "UPDATE \(name: mapping.table) SET \(name: column) = \(value) WHERE \(rows)"
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
