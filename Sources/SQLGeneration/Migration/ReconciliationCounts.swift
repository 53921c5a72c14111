import CoreDataModel
import MigrationPlans

// The queries that tell what a reconciliation costs, for any database.
extension ModelReconciliation {
    /// The data that would be lost, with the numbers of rows.
    ///
    /// - Parameters:
    ///   - schema: the store's tables.
    ///   - hasOtherParts: whether the JSON in a column has other parts than some.
    ///   - count: runs a statement that gives one number.
    /// - Returns: the losses; that of an empty entity whose name another one takes is left out, that of JSON which is
    ///   taken apart as a whole, and those of missing values where none is missing.
    /// - Throws: the errors of `count`.
    package func losses(
        in schema: SQLSchema, hasOtherParts: (_ column: String, NestedParts) throws -> SQLFragment,
        count: (SQLFragment) throws -> Int
    ) throws -> [CountedLoss] {
        try losses.compactMap { loss in
            var rows = 0
            if let mapping = schema.layout.entityByName[loss.entity].flatMap({ schema.mapping(of: $0) }) {
                var values = loss.property.flatMap { RowCountSQL.values(of: $0, mapping) }
                if case .otherParts(let parts) = loss.reason, let property = loss.property {
                    values = try RowCountSQL.column(of: property, mapping).map {
                        RowCountSQL.rows(of: mapping, where: try hasOtherParts($0, parts))
                    }
                }
                switch (loss.reason, loss.property) {
                case (.filledIn, let property?), (.emptied, let property?):
                    values = RowCountSQL.missing(property, mapping)
                case (.unfilled, _): values = nil
                default: break
                }
                rows = try count(values ?? RowCountSQL.rows(of: mapping))
            }
            switch loss.reason {
            case .replaced, .otherParts, .filledIn, .unfilled, .emptied:
                return rows == 0 ? nil : CountedLoss(loss: loss, rows: rows)
            default: return CountedLoss(loss: loss, rows: rows)
            }
        }
    }

    /// Existing values that violate new uniqueness constraints.
    ///
    /// - Parameters:
    ///   - schema: the store's tables.
    ///   - limit: the number of examples for each constraint.
    ///   - isEnforced: whether the store has a constraint on these columns of an entity already.
    ///   - groups: runs a statement that gives values in as many columns, and the number of rows that have them.
    /// - Returns: the values, by constraint; empty if all are unique.
    /// - Throws: the errors of `groups`.
    package func sharedValues(
        in schema: SQLSchema, limit: Int, isEnforced: (EntityMapping, [SlotColumn]) -> Bool,
        groups: (SQLFragment, _ width: Int) throws -> [(values: [String], rows: Int)]
    ) throws -> [SharedValues] {
        var found: [SharedValues] = []
        for entity in model.entities where !leftAlone.contains(entity.name) {
            guard let former = formerName(ofEntity: entity.name),
                let mapping = schema.layout.entityByName[former].flatMap({ schema.mapping(of: $0) })
            else { continue }
            for constraint in entity.uniquenessConstraints {
                let columns = constraint.compactMap { formerName(of: $0, entity: entity.name) }
                    .compactMap { mapping.column(named: $0) }.filter { !$0.isComposite }
                guard columns.count == constraint.count, !isEnforced(mapping, columns) else { continue }
                let shared = try groups(RowCountSQL.shared(columns, mapping, limit: limit + 1), columns.count)
                guard !shared.isEmpty else { continue }
                found.append(
                    SharedValues(
                        entity: entity.name, constraint: constraint, examples: Array(shared.prefix(limit)),
                        hasMore: shared.count > limit))
            }
        }
        return found
    }

    /// Objects that several others have in a relationship by which one alone is to have them.
    ///
    /// - Parameters:
    ///   - schema: the store's tables.
    ///   - limit: the number of examples for each relationship.
    ///   - groups: runs a statement that gives one value, and the number of rows that have it.
    /// - Returns: the objects, by relationship; empty if each is in one only.
    /// - Throws: the errors of `groups`.
    package func sharedMembers(
        in schema: SQLSchema, limit: Int, groups: (SQLFragment) throws -> [(values: [String], rows: Int)]
    ) throws -> [SharedMembers] {
        try exclusive.compactMap { relationship in
            guard let layout = schema.layout.entityByName[relationship.entity]?.relationship(named: relationship.name),
                let sql = RowCountSQL.sharedMembers(of: layout, in: schema, limit: limit + 1)
            else { return nil }
            let shared = try groups(sql)
            guard !shared.isEmpty else { return nil }
            return SharedMembers(
                entity: relationship.entity, relationship: relationship.name, destination: layout.destination.name,
                examples: shared.prefix(limit).map { ($0.values.joined(), $0.rows) }, hasMore: shared.count > limit)
        }
    }
}
