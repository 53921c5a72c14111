import SQLiteEngine
import CoreDataModel
import SQLGeneration

/// Statements that tell how much a store has of something. Pure.
enum RowCountSQL {
    /// How many rows an entity has: `SELECT COUNT(*) FROM ZNOTE WHERE Z_ENT = 3`.
    static func rows(of mapping: EntityMapping) -> String {
        "SELECT COUNT(*) FROM \(quoted(mapping.table))\(condition(mapping).map { " WHERE \($0)" } ?? "")"
    }

    /// How many rows of an entity have a value for a property: `SELECT COUNT(*) FROM ZBOOK WHERE ZTITLE NOT NULL`; nil for what
    /// has no column.
    ///
    /// - Parameters:
    ///   - path: the property, or an element of a composite attribute as `address.street`.
    ///   - mapping: the entity's table and columns.
    /// - Returns: the statement, which gives one number.
    static func values(of path: String, _ mapping: EntityMapping) -> String? {
        let property = path.split(separator: ".").first.map(String.init) ?? path
        if let relationship = mapping.layout.relationship(named: property), relationship.isToMany {
            return pairs(of: relationship, mapping)
        }
        let columns = (mapping.column(named: property)?.flattened ?? []).filter {
            $0.property == path || $0.property.hasPrefix(path + ".")
        }
        guard !columns.isEmpty else { return nil }
        let values = "(\(columns.map { "\(quoted($0.name)) NOT NULL" }.joined(separator: " OR ")))"
        let conditions = [condition(mapping), values].compactMap { $0 }.joined(separator: " AND ")
        return "SELECT COUNT(*) FROM \(quoted(mapping.table)) WHERE \(conditions)"
    }

    /// How many rows have destinations: `SELECT COUNT(DISTINCT ZSHOP) FROM ZBOOK WHERE ZSHOP NOT NULL`.
    private static func pairs(of relationship: RelationshipLayout, _ mapping: EntityMapping) -> String? {
        guard mapping.toManys.indices.contains(relationship.index) else { return nil }
        let (table, column): (String, String)
        switch mapping.toManys[relationship.index] {
        case .foreignKey(let key): (table, column) = (key.table, key.column)
        case .joinTable(let join): (table, column) = (join.table, join.sourceColumn)
        case nil: return nil
        }
        return "SELECT COUNT(DISTINCT \(quoted(column))) FROM \(quoted(table)) WHERE \(quoted(column)) NOT NULL"
    }

    /// Values that several rows share: `SELECT ZNAME, COUNT(*) FROM ZTAG WHERE ZNAME NOT NULL GROUP BY ZNAME HAVING COUNT(*) > 1 …`.
    static func shared(_ columns: [SlotColumn], _ mapping: EntityMapping, limit: Int) -> String {
        let list = columns.map { quoted($0.name) }.joined(separator: ", ")
        let values = columns.map { "\(quoted($0.name)) NOT NULL" }
        let conditions = ([condition(mapping)].compactMap { $0 } + values).joined(separator: " AND ")
        return "SELECT \(list), COUNT(*) FROM \(quoted(mapping.table)) WHERE \(conditions) GROUP BY \(list) "
            + "HAVING COUNT(*) > 1 ORDER BY MIN(Z_PK) LIMIT \(limit)"
    }

    private static func condition(_ mapping: EntityMapping) -> String? {
        mapping.sharesTable ? entityCondition(mapping.numbers) : nil
    }
}
