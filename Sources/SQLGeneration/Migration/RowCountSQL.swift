import CoreDataModel

/// Statements that count rows and values of a store. Pure.
package enum RowCountSQL {
    /// How many rows an entity has: `SELECT COUNT(*) FROM ZNOTE WHERE Z_ENT = 3`.
    package static func rows(of mapping: EntityMapping) -> SQLFragment {
        count("COUNT(*)", in: mapping.table, where: own(mapping))
    }

    /// How many rows of an entity meet a condition: `SELECT COUNT(*) FROM ZNOTE WHERE Z_ENT = 3 AND …`.
    package static func rows(of mapping: EntityMapping, where condition: SQLFragment) -> SQLFragment {
        count("COUNT(*)", in: mapping.table, where: own(mapping) + [condition])
    }

    /// The column of a property, or of an element of a composite attribute as `address.street`; nil if it has none of
    /// its own.
    package static func column(of path: String, _ mapping: EntityMapping) -> String? {
        let property = path.split(separator: ".").first.map(String.init) ?? path
        return mapping.column(named: property)?.flattened.first { $0.property == path }?.name
    }

    /// How many rows of an entity have a value for a property: `SELECT COUNT(*) FROM ZBOOK WHERE (ZTITLE IS NOT NULL)`;
    /// nil if it has no column.
    ///
    /// - Parameters:
    ///   - path: the property, or an element of a composite attribute as `address.street`.
    ///   - mapping: the entity's table and columns.
    /// - Returns: the statement, which gives one number.
    package static func values(of path: String, _ mapping: EntityMapping) -> SQLFragment? {
        let property = path.split(separator: ".").first.map(String.init) ?? path
        if let relationship = mapping.layout.relationship(named: property), relationship.isToMany {
            return pairs(of: relationship, mapping)
        }
        let columns = (mapping.column(named: property)?.flattened ?? []).filter {
            $0.property == path || $0.property.hasPrefix(path + ".")
        }
        guard !columns.isEmpty else { return nil }
        let present = ColumnConversion.isAnyPresent(columns.map(\.name))
        return count("COUNT(*)", in: mapping.table, where: own(mapping) + [present])
    }

    /// How many rows have no value for a property, though that which it is a part of exists: `SELECT COUNT(*) FROM
    /// ZNOTE WHERE ZTAGS IS NULL`; nil if it has no column. An optional value exists if any part of it does.
    ///
    /// - Parameters:
    ///   - path: the property, or an element of a composite attribute as `address.street`.
    ///   - mapping: the entity's table and columns.
    /// - Returns: the statement, which gives one number.
    package static func missing(_ path: String, _ mapping: EntityMapping) -> SQLFragment? {
        guard let column = column(of: path, mapping) else { return nil }
        let names = path.split(separator: ".").map(String.init)
        let columns = mapping.column(named: names[0])?.flattened ?? []
        var attribute = mapping.layout.slotIndex(forName: names[0]).flatMap { mapping.layout.slots[$0].attribute }
        var conditions: [SQLFragment] = ["\(name: column) IS NULL"]
        for depth in names.indices.dropFirst() {
            let owner = names[..<depth].joined(separator: ".") + "."
            if let attribute, !attribute.isAlwaysPresent {
                let parts = columns.filter { $0.property.hasPrefix(owner) }.map(\.name)
                conditions.append(ColumnConversion.isAnyPresent(parts))
            }
            attribute = attribute?.elements.first { $0.name == names[depth] }
        }
        return count("COUNT(*)", in: mapping.table, where: own(mapping) + conditions)
    }

    /// How many rows have destinations: `SELECT COUNT(DISTINCT ZSHOP) FROM ZBOOK WHERE ZSHOP IS NOT NULL`.
    private static func pairs(of relationship: RelationshipLayout, _ mapping: EntityMapping) -> SQLFragment? {
        guard mapping.toManys.indices.contains(relationship.index) else { return nil }
        let (table, column): (String, String)
        switch mapping.toManys[relationship.index] {
        case .foreignKey(let key): (table, column) = (key.table, key.column)
        case .joinTable(let join): (table, column) = (join.table, join.sourceColumn)
        case nil: return nil
        }
        return count("COUNT(DISTINCT \(name: column))", in: table, where: ["\(name: column) IS NOT NULL"])
    }

    /// Values that several rows share: `SELECT ZNAME, COUNT(*) FROM ZTAG WHERE ZNAME IS NOT NULL GROUP BY ZNAME HAVING
    /// COUNT(*) > 1 …`.
    ///
    /// - Parameters:
    ///   - columns: the columns that must be unique together.
    ///   - mapping: the entity.
    ///   - limit: how many to find.
    /// - Returns: the statement.
    package static func shared(_ columns: [SlotColumn], _ mapping: EntityMapping, limit: Int) -> SQLFragment {
        let list = SQLFragment.list(columns.map { "\(name: $0.name)" })
        let present = columns.map { "\(name: $0.name) IS NOT NULL" as SQLFragment }
        let groups = count("\(list), COUNT(*)", in: mapping.table, where: own(mapping) + present)
        return
            "\(groups) GROUP BY \(list) HAVING COUNT(*) > 1 ORDER BY MIN(\(.key)) LIMIT \(binding: .value(.integer(Int64(limit))))"
    }

    /// The objects that several others have in a relationship: `SELECT (SELECT t.ZID FROM ZBOOK t WHERE t.Z_PK =
    /// p.Z_1BOOKS), COUNT(*) FROM Z_1BOOKS p WHERE … GROUP BY p.Z_1BOOKS HAVING COUNT(*) > 1 …`; nil if the store has
    /// no pairs of it.
    ///
    /// - Parameters:
    ///   - relationship: the relationship.
    ///   - schema: the store's tables.
    ///   - limit: how many to find.
    /// - Returns: the statement, which gives an object's identifier, or its key, and how many others have it.
    package static func sharedMembers(
        of relationship: RelationshipLayout, in schema: SQLSchema, limit: Int
    ) -> SQLFragment? {
        guard let pairs = StoredPairs(relationship, in: schema, tableName: { $0 }),
            let members = schema.mapping(of: relationship.destination)
        else { return nil }
        let unique = members.layout.uniquenessConstraints.first { $0.count == 1 }?.first
        let column = unique.flatMap { members.column(named: $0) }.map {
            "\(SQLColumn($0.name, of: "t"))" as SQLFragment
        }
        let label: SQLFragment =
            "SELECT \(column ?? "\(.key, of: "t")") FROM \(name: members.table) t WHERE \(.key, of: "t") = \(pairs.destinationKey)"
        return "SELECT \(.select(label)), COUNT(*) \(pairs.rows) GROUP BY \(pairs.destinationKey) HAVING COUNT(*) > 1 "
            + "ORDER BY \(pairs.destinationKey) LIMIT \(binding: .value(.integer(Int64(limit))))"
    }

    private static func count(
        _ what: SQLFragment, in table: String, where conditions: [SQLFragment]
    ) -> SQLFragment {
        let restriction: SQLFragment =
            conditions.isEmpty ? "" : " WHERE \(.joined(conditions, separator: " AND "))"
        return "SELECT \(what) FROM \(name: table)\(restriction)"
    }

    private static func own(_ mapping: EntityMapping) -> [SQLFragment] {
        mapping.sharesTable ? [.isEntity(mapping.numbers)] : []
    }
}
