import Foundation
import PostgresConnection

/// The content of a schema that a migration needs to know.
package struct DatabaseStructure {
    /// The types of the columns, by table and column.
    package var columns: [String: [String: String]] = [:]
    /// The names of indexes and unique constraints, by table.
    package var indexes: [String: Set<String>] = [:]
    /// The references of a store's tables, by table.
    package var references: [String: [String]] = [:]
    /// The partitions of partitioned tables.
    package var parts: [String: [String]] = [:]
    /// The rights on the tables and their sequences, by table.
    package var grants: [String: Set<Grant>] = [:]
    /// The owners of the tables.
    package var owners: [String: Owner] = [:]
    /// The masks of changed properties that the history has, by entity.
    package var masks: [(entity: Int, mask: Data)] = []

    /// A right that a role has.
    package struct Grant: Hashable, Sendable {
        package let role: String
        package let right: String
        package let isOfSequence: Bool
    }

    /// A role that owns tables.
    package struct Owner: Hashable, Sendable {
        package let role: String
        /// Whether it is the present one.
        package let isCurrent: Bool
    }

    package init() {}

    /// The rights on a new table: those that a role has on all of the tables whose rows it takes, so that nobody comes to
    /// see more than before. For a table of new rows, those on all tables of the store.
    ///
    /// - Parameters:
    ///   - sources: the tables whose rows it takes.
    ///   - all: the tables of the store.
    /// - Returns: the rights, in order.
    package func grants(fromRowsOf sources: [String], orAll all: [String]) -> [Grant] {
        let tables = decisive(sources, all)
        func common(_ tables: [String], isOfSequence: Bool) -> [Grant] {
            guard let first = tables.first else { return [] }
            return (grants[first] ?? []).filter { grant in
                grant.isOfSequence == isOfSequence && tables.allSatisfy { grants[$0]?.contains(grant) ?? false }
            }.sorted { ($0.role, $0.right) < ($1.role, $1.right) }
        }
        // The tables of many-to-many relationships have no sequences.
        let withKeys = tables.filter { columns[$0]?[ColumnName.key] != nil }
        return common(tables, isOfSequence: false) + common(withKeys, isOfSequence: true)
    }

    private func decisive(_ sources: [String], _ all: [String]) -> [String] {
        let present = sources.filter { columns[$0] != nil }
        return present.isEmpty ? all.filter { columns[$0] != nil } : present
    }

    /// The owner of the tables whose rows a new table takes, or else of all tables.
    ///
    /// - Parameters:
    ///   - sources: the tables whose rows it takes.
    ///   - all: the tables of the store.
    /// - Returns: the role; nil if it is not one for all of them.
    package func owner(fromRowsOf sources: [String], orAll all: [String]) -> Owner? {
        let found = Set(decisive(sources, all).map { owners[$0] })
        return found.count == 1 ? found.first ?? nil : nil
    }

    /// The statement that gives a new table, with its partitions and its sequence, to a role. If that is not allowed, the
    /// role gets all rights.
    package static func giving(_ table: String, to owner: Owner) -> String {
        let (name, role) = (quotedText(quotedName(table)), quotedText(quotedName(owner.role)))
        let body = """
            DECLARE own regclass := \(name); part regclass; BEGIN \
            FOR part IN SELECT own UNION ALL SELECT inhrelid FROM pg_inherits WHERE inhparent = own LOOP \
            EXECUTE 'ALTER TABLE ' || part || ' OWNER TO ' || \(role); END LOOP; \
            EXCEPTION WHEN insufficient_privilege THEN EXECUTE 'GRANT ALL ON ' || own || ' TO ' || \(role); \
            FOR part IN SELECT objid FROM pg_depend JOIN pg_class c ON c.oid = objid \
            WHERE refobjid = own AND refclassid = 'pg_class'::regclass AND relkind = 'S' LOOP \
            EXECUTE 'GRANT ALL ON SEQUENCE ' || part || ' TO ' || \(role); END LOOP; END
            """
        return "DO \(quotedText(body))"
    }

    /// Reads the content of a store's schema.
    package init(_ place: StorePlace, _ connection: PostgresConnection) throws {
        var parameters = PostgresParameters()
        parameters.append(place.schema)
        let results = try connection.pipeline([
            .init(
                """
                SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod) FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid \
                JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND a.attnum > 0 \
                AND NOT a.attisdropped
                """, parameters),
            .init(
                """
                SELECT t.relname, i.relname FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class t ON t.oid = x.indrelid \
                JOIN pg_namespace n ON n.oid = t.relnamespace WHERE n.nspname = $1 AND NOT x.indisprimary
                """, parameters),
            .init(
                """
                SELECT t.relname, k.conname FROM pg_constraint k JOIN pg_class t ON t.oid = k.conrelid \
                JOIN pg_namespace n ON n.oid = t.relnamespace WHERE n.nspname = $1 AND k.contype = 'f' AND k.conparentid = 0 ORDER BY 1, 2
                """, parameters),
            .init(
                """
                SELECT DISTINCT t.relname, CASE WHEN a.grantee = 0 THEN '' ELSE pg_get_userbyid(a.grantee) END, a.privilege_type, \
                c.relkind = 'S' FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_depend d ON c.relkind = 'S' \
                AND d.objid = c.oid AND d.classid = 'pg_class'::regclass AND d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i') \
                JOIN pg_class t ON t.oid = COALESCE(d.refobjid, c.oid) CROSS JOIN LATERAL aclexplode(c.relacl) a WHERE n.nspname = $1 \
                AND t.relnamespace = n.oid AND t.relkind IN ('r', 'p') AND a.grantee <> c.relowner
                """, parameters),
            .init(
                "SELECT DISTINCT entity, columns FROM pippin.changes WHERE schema_name = $1 AND columns IS NOT NULL ORDER BY 1, 2",
                parameters),
            .init(
                """
                SELECT t.relname, p.relname FROM pg_inherits h JOIN pg_class t ON t.oid = h.inhparent JOIN pg_class p ON p.oid = h.inhrelid \
                JOIN pg_namespace n ON n.oid = t.relnamespace WHERE n.nspname = $1 AND p.relnamespace = n.oid AND t.relkind = 'p' ORDER BY 1, 2
                """, parameters),
            .init(
                """
                SELECT c.relname, pg_get_userbyid(c.relowner), pg_get_userbyid(c.relowner) = current_user FROM pg_class c \
                JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind IN ('r', 'p')
                """, parameters),
        ])
        func name(_ result: PostgresResult, _ row: Int) -> String {
            QualifiedName.make(schema: place.schema, name: result.string(row, 0))
        }
        for row in 0..<results[0].count {
            columns[name(results[0], row), default: [:]][results[0].string(row, 1)] = results[0].string(row, 2)
        }
        for row in 0..<results[1].count {
            indexes[name(results[1], row), default: []].insert(results[1].string(row, 1))
        }
        for row in 0..<results[2].count {
            references[name(results[2], row), default: []].append(results[2].string(row, 1))
        }
        for row in 0..<results[3].count {
            grants[name(results[3], row), default: []].insert(
                Grant(
                    role: results[3].string(row, 1), right: results[3].string(row, 2),
                    isOfSequence: results[3].integer(row, 3) == 1))
        }
        for row in 0..<results[5].count {
            parts[name(results[5], row), default: []].append(
                QualifiedName.make(schema: place.schema, name: results[5].string(row, 1)))
        }
        for row in 0..<results[6].count {
            owners[name(results[6], row)] = Owner(
                role: results[6].string(row, 1), isCurrent: results[6].integer(row, 2) == 1)
        }
        for row in 0..<results[4].count {
            masks.append((Int(results[4].integer(row, 0)), results[4].data(row, 1)))
        }
    }
}
