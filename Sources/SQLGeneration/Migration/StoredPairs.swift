import CompactCollections
import CoreDataModel

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
