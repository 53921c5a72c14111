import CoreDataModel

/// The statements that move the pairs of relationships to a new model. Pure.
package enum PairMoveSQL {
    /// Whether a key belongs to an object that still exists: `EXISTS (SELECT 1 FROM ZTAG d WHERE d.Z_PK = p.Z_4TAGS AND
    /// d.Z_ENT = 4)`.
    package static func exists(_ key: SQLFragment, _ mapping: EntityMapping) -> SQLFragment {
        exists(key, in: mapping.table, mapping.numbers)
    }

    /// Whether a key belongs to an object of one of the entities with given numbers.
    package static func exists(_ key: SQLFragment, in table: String, _ numbers: [Int]) -> SQLFragment {
        let entity = SQLFragment.isEntity(numbers, "\(.entity, of: "d")")
        let rows: SQLFragment = "SELECT 1 FROM \(name: table) d WHERE \(.key, of: "d") = \(key) AND \(entity)"
        return "EXISTS \(.select(rows))"
    }

    /// Fills a join table: `INSERT OR IGNORE INTO Z_1TAGS (Z_1BOOKS, Z_4TAGS) SELECT p.ZBOOK, p.Z_PK FROM ZTAG p WHERE
    /// p.ZBOOK IS NOT NULL AND …`.
    ///
    /// - Parameters:
    ///   - table: the join table.
    ///   - values: the values of its columns, in order.
    ///   - pairs: the pairs.
    ///   - conditions: the conditions on the pairs.
    /// - Returns: the statement.
    package static func insertion(
        into table: String, values: [(column: String, value: SQLFragment)], of pairs: StoredPairs,
        where conditions: [SQLFragment]
    ) -> SQLFragment {
        let rows: SQLFragment = "SELECT \(.list(values.map(\.value))) \(restricted(pairs, conditions))"
        let columns = values.map { SQLColumn($0.column) }
        return SQLFragment(.insert(SQLInsert(into: table, columns, rows: rows, conflict: .ignored)))
    }

    private static func restricted(_ pairs: StoredPairs, _ conditions: [SQLFragment]) -> SQLFragment {
        .joined([pairs.rows] + conditions, separator: " AND ")
    }

    // MARK: Keys in rows

    /// A destination that several sources lead to: `SELECT p.ZPET FROM ZUSER p WHERE p.ZPET IS NOT NULL AND EXISTS (…)
    /// GROUP BY p.ZPET HAVING COUNT(*) > 1 LIMIT 1`.
    ///
    /// - Parameters:
    ///   - mapping: the entity of the destinations that count.
    ///   - pairs: the pairs.
    ///   - conditions: the conditions on the pairs.
    /// - Returns: the statement.
    package static func shared(
        _ mapping: EntityMapping, _ pairs: StoredPairs, where conditions: [SQLFragment]
    ) -> SQLFragment {
        let key = pairs.destinationKey
        let rows = restricted(pairs, conditions + [exists(key, mapping)])
        return "SELECT \(key) \(rows) GROUP BY \(key) HAVING COUNT(*) > 1 LIMIT 1"
    }

    /// A destination that another object than the pair's source has already: `SELECT p.Z_PK FROM ZPAGE p WHERE p.ZDISC
    /// IS NOT NULL AND EXISTS (SELECT 1 FROM ZPAGE t WHERE t.Z_PK = p.Z_PK AND t.ZITEM <> p.ZDISC AND …) LIMIT 1`.
    ///
    /// - Parameters:
    ///   - column: the column with the source's key.
    ///   - mapping: the entity whose rows have the column.
    ///   - pairs: the pairs, which lead to those rows.
    ///   - conditions: the conditions on the pairs.
    /// - Returns: the statement.
    package static func taken(
        _ column: String, _ mapping: EntityMapping, _ pairs: StoredPairs, where conditions: [SQLFragment]
    ) -> SQLFragment {
        let key = pairs.destinationKey
        let other: SQLFragment = "\(SQLColumn(column, of: "t")) <> \(pairs.sourceKey)"
        let entity = SQLFragment.isEntity(mapping.numbers, "\(.entity, of: "t")")
        let own: SQLFragment = "\(.key, of: "t") = \(key) AND \(other) AND \(entity)"
        let found = SQLFragment.select("SELECT 1 FROM \(name: mapping.table) t WHERE \(own)")
        return "SELECT \(key) \(restricted(pairs, conditions + ["EXISTS \(found)"])) LIMIT 1"
    }

    /// Fills the columns of a to-one relationship, or of owners:
    /// `UPDATE ZPET AS u SET ZOWNER = p.Z_PK FROM ZUSER p WHERE p.ZPET IS NOT NULL AND p.ZPET = u.Z_PK AND u.Z_ENT =
    /// 2`. The table may be called as the others are here, so it has a name of its own, too.
    ///
    /// - Parameters:
    ///   - mapping: the entity whose rows have the columns.
    ///   - values: the values of the columns.
    ///   - pairs: the pairs, which lead to those rows.
    ///   - conditions: the conditions on the pairs.
    /// - Returns: the statement.
    package static func connection(
        _ mapping: EntityMapping, values: [(column: String, value: SQLFragment)], of pairs: StoredPairs,
        where conditions: [SQLFragment]
    ) -> SQLFragment {
        let own: SQLFragment = "\(pairs.destinationKey) = \(.key, of: "u")"
        let entity = SQLFragment.isEntity(mapping.numbers, "\(.entity, of: "u")")
        let rows = restricted(pairs, [own, entity] + conditions)
        let changes = values.map { "\(name: $0.column) = \($0.value)" as SQLFragment }
        return "UPDATE \(name: mapping.table) AS u SET \(.list(changes)) \(rows)"
    }

    /// Fills the column with the entity of a destination: `UPDATE ZPET SET Z1_OWNER = (SELECT t.Z_ENT FROM ZUSER t
    /// WHERE t.Z_PK = ZPET.ZOWNER) WHERE ZOWNER IS NOT NULL`.
    ///
    /// - Parameters:
    ///   - column: the column.
    ///   - key: the column with the destination's key.
    ///   - table: the table of both.
    ///   - destination: the destination's entity.
    /// - Returns: the statement.
    package static func entity(
        _ column: String, of key: String, in table: String, _ destination: EntityMapping
    ) -> SQLFragment {
        let own: SQLFragment = "\(.key, of: "t") = \(name: table).\(name: key)"
        let number = SQLFragment.select("SELECT \(.entity, of: "t") FROM \(name: destination.table) t WHERE \(own)")
        return "UPDATE \(name: table) SET \(name: column) = \(number) WHERE \(name: key) IS NOT NULL"
    }

    /// Clears the columns of owners that no longer exist: `UPDATE ZPET SET Z1PETS = NULL WHERE Z1PETS IS NOT NULL AND
    /// NOT (EXISTS (…))`.
    ///
    /// - Parameters:
    ///   - owner: the columns.
    ///   - table: their table.
    ///   - owners: the entity of the owners.
    /// - Returns: the statement.
    package static func release(_ owner: OwnerColumn, in table: String, from owners: EntityMapping) -> SQLFragment {
        let cleared = SQLFragment.list(owner.columns.map { "\(name: $0) = NULL" })
        let isThere = exists("\(name: table).\(name: owner.name)", owners)
        let missing: SQLFragment = "\(name: owner.name) IS NOT NULL AND NOT (\(isThere))"
        return "UPDATE \(name: table) SET \(cleared) WHERE \(missing)"
    }

    /// Orders the destinations of a relationship that had no order by their primary keys:
    /// `UPDATE ZPET AS u SET Z_FOK_OWNER = o.Z_FOK FROM (SELECT Z_PK, … AS Z_FOK FROM ZPET WHERE ZOWNER IS NOT NULL) o
    /// WHERE o.Z_PK = u.Z_PK`.
    ///
    /// - Parameters:
    ///   - column: the column with the order key.
    ///   - key: the column with the source's key.
    ///   - table: the table of both.
    ///   - isPartial: whether some destinations have an order. The others come after those of the same source.
    /// - Returns: the statement.
    package static func order(
        _ column: String, by key: String, in table: String, isPartial: Bool = false
    ) -> SQLFragment {
        var own: SQLFragment = "\(.key, of: "o") = \(.key, of: "u")"
        var place = StoredPairs.newOrder(partition: "\(name: key)", by: "\(.key)")
        if isPartial {
            let isOpen: SQLFragment = "\(name: column) IS NULL"
            let last: SQLFragment = "MAX(\(name: column)) OVER (PARTITION BY \(name: key))"
            place = after(last, StoredPairs.number(partition: "\(name: key), \(isOpen)", by: "\(.key)"))
            own = "\(own) AND \(SQLColumn(column, of: "u")) IS NULL"
        }
        let rows: SQLFragment = "SELECT \(.key), \(place) AS Z_FOK FROM \(name: table) WHERE \(name: key) IS NOT NULL"
        return "UPDATE \(name: table) AS u SET \(name: column) = o.Z_FOK FROM \(.select(rows)) o WHERE \(own)"
    }

    /// An order key in a join table for pairs that had none, after those of the same source that the table has already.
    ///
    /// - Parameters:
    ///   - column: the column with the order key.
    ///   - owners: the column with the source's key.
    ///   - table: the join table.
    ///   - source: the source's key.
    ///   - destination: the destination's key.
    /// - Returns: the key.
    package static func furtherOrder(
        _ column: String, of owners: String, in table: String, source: SQLFragment, destination: SQLFragment
    ) -> SQLFragment {
        let own: SQLFragment = "\(SQLColumn(owners, of: "j")) = \(source)"
        let last = SQLFragment.select("SELECT MAX(\(SQLColumn(column, of: "j"))) FROM \(name: table) j WHERE \(own)")
        return after(last, StoredPairs.number(partition: source, by: destination))
    }

    private static func after(_ last: SQLFragment, _ number: SQLFragment) -> SQLFragment {
        let start: SQLFragment = "\(number: OrderKeys.first - OrderKeys.step)"
        return "\(.call(.ifNull, last, start)) + \(number: OrderKeys.step) * \(number)"
    }
}

/// The pairs of objects that a relationship of a store connects, as SQL. Pure.
package struct StoredPairs: Sendable {
    /// The source of the pairs, after `SELECT …`: `FROM _T_ZPAGE p WHERE p.ZBOOK IS NOT NULL`.
    let rows: SQLFragment
    package let sourceKey: SQLFragment
    package let destinationKey: SQLFragment
    /// The place of the destination among the source's objects; nil for an unordered relationship.
    package let order: SQLFragment?
    /// Whether a destination is in one pair at most.
    package let haveOneSourceEach: Bool
    /// The place of the source among the destination's objects.
    package let inverseOrder: SQLFragment?

    /// The result is nil if the store has no pairs of the relationship.
    ///
    /// - Parameters:
    ///   - relationship: the relationship.
    ///   - schema: the store's tables.
    ///   - tableName: the present name of a table with rows.
    package init?(_ relationship: RelationshipLayout, in schema: SQLSchema, tableName: (String) -> String) {
        guard let owner = schema.mapping(of: relationship.source) else { return nil }
        let key: SQLFragment = "\(.key, of: "p")"
        if !relationship.isToMany {
            guard relationship.slot >= 0, let column = owner.columns[relationship.slot] else { return nil }
            rows = Self.rows(tableName(owner.table), column.name)
            sourceKey = key
            destinationKey = Self.column(column.name)
            order = nil
            haveOneSourceEach = false
            inverseOrder = column.orderColumn.map(Self.column)
            return
        }
        switch owner.toManys[relationship.index] {
        case .foreignKey(let foreign)?:
            rows = Self.rows(tableName(foreign.table), foreign.column)
            sourceKey = Self.column(foreign.column)
            destinationKey = key
            order = foreign.orderColumn.map(Self.column)
            inverseOrder = nil
            haveOneSourceEach = true
        case .joinTable(let join)?:
            rows = Self.rows(tableName(join.table), join.sourceColumn)
            sourceKey = Self.column(join.sourceColumn)
            destinationKey = Self.column(join.destinationColumn)
            order = join.orderColumn.map(Self.column)
            haveOneSourceEach = false
            inverseOrder = schema.inverseOrderColumn(of: relationship).map(Self.column)
        case nil: return nil
        }
    }

    private static func column(_ name: String) -> SQLFragment { "\(SQLColumn(name, of: "p"))" }

    private static func rows(_ table: String, _ column: String) -> SQLFragment {
        "FROM \(name: table) p WHERE \(self.column(column)) IS NOT NULL"
    }

    /// An order key for pairs that had none: Core Data's first key and distance, by primary keys.
    package static func newOrder(partition: SQLFragment, by key: SQLFragment) -> SQLFragment {
        let number = number(partition: partition, by: key)
        return "\(number: OrderKeys.first - OrderKeys.step) + \(number: OrderKeys.step) * \(number)"
    }

    static func number(partition: SQLFragment, by key: SQLFragment) -> SQLFragment {
        "row_number() OVER (PARTITION BY \(partition) ORDER BY \(key))"
    }
}

extension SQLSchema {
    /// The column that orders the inverse of a many-to-many relationship; nil if the inverse is unordered.
    package func inverseOrderColumn(of relationship: RelationshipLayout) -> String? {
        guard let inverse = relationship.inverse, inverse !== relationship,
            let mapping = mapping(of: inverse.source),
            case .joinTable(let join)? = mapping.toManys[inverse.index]
        else { return nil }
        return join.orderColumn
    }
}
