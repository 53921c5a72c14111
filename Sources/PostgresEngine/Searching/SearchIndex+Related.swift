import CoreDataModel
import PostgresConnection
import PredicateFormat
import SQLGeneration
import StoreEngine

/// Rows whose texts are part of other rows' words in an index, the owners': authors for `\.author?.name`.
///
/// `pippin.search_related` says which version of which row the words are of, and `pippin.search_pairs` which rows
/// belong to which owner. By these the owners of a changed row are found, former and present ones.
struct RelatedRows {
    let relationship: RelationshipLayout
    /// The place of the relationship among those of the index.
    let place: Int
    /// The table of the rows, quoted.
    let table: String
    private let columns: [SearchedTable.Column]
    private let pairs: String
    /// What tells owners from other rows of their table, and related rows from those of theirs.
    private let ownerCondition: String
    private let condition: String

    var destination: EntityLayout { relationship.destination }

    /// - Returns: nil for texts that the database computes itself, without another version.
    init?(_ relation: SearchedTable.Relation, _ place: Int, of index: SearchedTable) {
        (self.place, relationship) = (place, relation.relationship)
        for column in relation.columns
        where SearchIndex.isDerived(index.fields.fields[column.field].path, relation.destination.layout) { return nil }
        table = quotedName(relation.destination.table)
        columns = relation.columns
        pairs = relation.pairs.postgres.text
        ownerCondition = index.condition.postgres.text
        condition = relation.condition.postgres.text
    }

    /// What it is made of.
    var definition: String { "; \(columns.map(\.name).joined(separator: ", ")) FROM \(pairs)" }

    /// Whether a change of some slots of a related row leaves its texts and its owners as they are.
    func keepsTexts(_ layout: EntityLayout, changing slots: [Int], _ fields: SearchedFields) -> Bool {
        let names = columns.map { fields.fields[$0.field].path[0] } + [relationship.inverse?.name].compactMap(\.self)
        return !names.contains { name in layout.slotIndex(forName: name).map(slots.contains) ?? false }
    }

    private func parameters(_ keys: [Int64]) -> PostgresParameters {
        var parameters = PostgresParameters()
        parameters.append(array: keys)
        return parameters
    }

    /// The statement that reads the texts of the rows of owners: the owner's key, then the texts, as ``take`` takes
    /// them.
    func reading(_ owners: [Int64]) -> PostgresConnection.Request {
        let list = columns.map { ", r.\(quotedName($0.name))::text" }.joined()
        return .init(
            """
            SELECT t.\(ColumnName.key)\(list) FROM \(pairs) WHERE t.\(ColumnName.key) = ANY($1)\(ownerCondition) \
            ORDER BY 1, r.\(ColumnName.key)
            """, parameters(owners))
    }

    /// Adds the texts that were read to those of their owners, which are ordered by key.
    func take(_ result: PostgresResult, into rows: inout [(key: Int64, texts: [String])]) {
        var (row, place) = (0, 0)
        while row < result.count, place < rows.count {
            let owner = result.integer(row, 0)
            guard owner == rows[place].key else {
                if owner < rows[place].key { row += 1 } else { place += 1 }
                continue
            }
            var end = row
            while end < result.count, result.integer(end, 0) == owner { end += 1 }
            for (index, column) in columns.enumerated() {
                rows[place].texts[column.field] = SearchTokenizer.joined(
                    (row..<end).map { result.isNull($0, index + 1) ? "" : result.string($0, index + 1) })
            }
            row = end
        }
    }

    /// The statements that note which rows belong to owners, and in which version, unless that is known.
    func noting(_ owners: [Int64], _ number: Int32) -> [PostgresConnection.Request] {
        let parameters = parameters(owners)
        let rows = "FROM \(pairs) WHERE t.\(ColumnName.key) = ANY($1)\(ownerCondition)"
        return [
            .init(
                "DELETE FROM pippin.search_pairs WHERE number = \(number) AND place = \(place) AND owner = ANY($1)",
                parameters),
            .init(
                """
                INSERT INTO pippin.search_pairs (number, place, key, owner) \
                SELECT \(number), \(place), r.\(ColumnName.key), t.\(ColumnName.key) \(rows) ON CONFLICT DO NOTHING
                """, parameters),
            .init(
                """
                INSERT INTO pippin.search_related (number, place, key, version) \
                SELECT DISTINCT \(number), \(place), r.\(ColumnName.key), r.\(ColumnName.version) \(rows) ON CONFLICT DO NOTHING
                """, parameters),
        ]
    }

    /// The statements that note the present versions of rows.
    func notingVersions(_ keys: [Int64], _ number: Int32) -> [PostgresConnection.Request] {
        let parameters = parameters(keys.sorted())
        return [
            .init(
                "DELETE FROM pippin.search_related WHERE number = \(number) AND place = \(place) AND key = ANY($1)",
                parameters),
            .init(
                """
                INSERT INTO pippin.search_related (number, place, key, version) \
                SELECT \(number), \(place), r.\(ColumnName.key), r.\(ColumnName.version) FROM \(table) r \
                WHERE r.\(ColumnName.key) = ANY($1)\(condition)
                """, parameters),
        ]
    }

    /// The statement that finds the former and present owners of rows.
    func owners(of keys: [Int64], _ number: Int32) -> PostgresConnection.Request {
        .init(
            """
            SELECT owner FROM pippin.search_pairs WHERE number = \(number) AND place = \(place) AND key = ANY($1) \
            UNION SELECT t.\(ColumnName.key) FROM \(pairs) WHERE r.\(ColumnName.key) = ANY($1)\(ownerCondition)
            """, parameters(keys))
    }

    // MARK: Being up to date

    /// What must hold in an index that is up to date, after other conditions.
    func isCurrent(_ number: Int32) -> String {
        let place = "number = \(number) AND place = \(place)"
        let (key, version) = (ColumnName.key, ColumnName.version)
        return """
             AND (SELECT concat_ws(' ', count(*), sum(r.\(version)), max(r.\(key))) FROM \(table) r WHERE true\(condition)) \
            = (SELECT concat_ws(' ', count(*), sum(version), max(key)) FROM pippin.search_related WHERE \(place)) \
            AND (SELECT concat_ws(' ', count(*), sum(t.\(key)), sum(r.\(key))) FROM \(pairs) WHERE true\(ownerCondition)) \
            = (SELECT concat_ws(' ', count(*), sum(owner), sum(key)) FROM pippin.search_pairs WHERE \(place))
            """
    }

    /// The statement that finds the related rows whose present versions the words are not of.
    func outdated(_ number: Int32) -> String {
        """
        SELECT coalesce(r.\(ColumnName.key), k.key) FROM (SELECT * FROM \(table) r WHERE true\(condition)) r \
        FULL JOIN (SELECT * FROM pippin.search_related WHERE number = \(number) AND place = \(place)) k \
        ON k.key = r.\(ColumnName.key) WHERE k.version IS DISTINCT FROM r.\(ColumnName.version)
        """
    }

    /// The statement that finds owners with other rows than those whose words they have.
    func outdatedOwners(_ number: Int32) -> String {
        let known = "SELECT key, owner FROM pippin.search_pairs WHERE number = \(number) AND place = \(place)"
        let present = "SELECT r.\(ColumnName.key), t.\(ColumnName.key) FROM \(pairs) WHERE true\(ownerCondition)"
        return """
            SELECT owner FROM (\(known) EXCEPT \(present)) a(key, owner) \
            UNION SELECT owner FROM (\(present) EXCEPT \(known)) b(key, owner)
            """
    }
}
