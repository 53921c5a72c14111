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
    /// Triggers and row-level security, which only others put on tables, by table.
    package var guards: [String: [String]] = [:]
    /// The masks of changed properties that the history has, by entity, if they were asked for.
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

    /// The rights on a new table: those that a role has on all of the tables whose rows it takes, so that no role
    /// sees more than before. For a table of new rows, those on all tables of the store.
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

    /// The statement that gives a new table, with its partitions and its sequence, to a role. If that is not allowed,
    /// the role gets all rights.
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
    ///
    /// - Parameters:
    ///   - place: the location of the store.
    ///   - connection: where to read.
    ///   - readsHistory: whether the masks of the history are wanted, for which all of it is read.
    /// - Throws: the server's errors.
    package init(_ place: StorePlace, _ connection: PostgresConnection, readsHistory: Bool = false) throws {
        var parameters = PostgresParameters()
        parameters.append(place.schema)
        var readers: [(query: String, read: (inout DatabaseStructure, SchemaResult) -> Void)] = [
            (Self.columnsQuery, { $0.readColumns($1) }), (Self.indexesQuery, { $0.readIndexes($1) }),
            (Self.referencesQuery, { $0.readReferences($1) }), (Self.partsQuery, { $0.readParts($1) }),
            (Self.grantsQuery, { $0.readGrants($1) }), (Self.ownersQuery, { $0.readOwners($1) }),
            (Self.guardsQuery, { $0.readGuards($1) }),
        ]
        if readsHistory { readers.append((Self.masksQuery, { $0.readMasks($1) })) }
        let results = try connection.pipeline(readers.map { .init($0.query, parameters) })
        for (reader, result) in zip(readers, results) { reader.read(&self, SchemaResult(result, place.schema)) }
    }
}

/// The rows that a query about a schema found. The first column is mostly the name of a table.
private struct SchemaResult {
    let result: PostgresResult
    private let schema: String

    init(_ result: PostgresResult, _ schema: String) { (self.result, self.schema) = (result, schema) }

    var rows: Range<Int> { 0..<result.count }

    /// The table in a row's first column, with its schema.
    func table(_ row: Int) -> String { name(row, 0) }

    func name(_ row: Int, _ column: Int) -> String {
        QualifiedName.make(schema: schema, name: result.string(row, column))
    }
}

// The queries, each beside the function that reads its result.
extension DatabaseStructure {
    private static let columnsQuery = """
        SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod) FROM pg_attribute a \
        JOIN pg_class c ON c.oid = a.attrelid JOIN pg_namespace n ON n.oid = c.relnamespace \
        WHERE n.nspname = $1 AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped
        """

    private mutating func readColumns(_ found: SchemaResult) {
        for row in found.rows {
            columns[found.table(row), default: [:]][found.result.string(row, 1)] = found.result.string(row, 2)
        }
    }

    private static let indexesQuery = """
        SELECT t.relname, i.relname FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid \
        JOIN pg_class t ON t.oid = x.indrelid JOIN pg_namespace n ON n.oid = t.relnamespace \
        WHERE n.nspname = $1 AND NOT x.indisprimary
        """

    private mutating func readIndexes(_ found: SchemaResult) {
        for row in found.rows { indexes[found.table(row), default: []].insert(found.result.string(row, 1)) }
    }

    private static let referencesQuery = """
        SELECT t.relname, k.conname FROM pg_constraint k JOIN pg_class t ON t.oid = k.conrelid \
        JOIN pg_namespace n ON n.oid = t.relnamespace \
        WHERE n.nspname = $1 AND k.contype = 'f' AND k.conparentid = 0 ORDER BY 1, 2
        """

    private mutating func readReferences(_ found: SchemaResult) {
        for row in found.rows { references[found.table(row), default: []].append(found.result.string(row, 1)) }
    }

    private static let partsQuery = """
        SELECT t.relname, p.relname FROM pg_inherits h JOIN pg_class t ON t.oid = h.inhparent \
        JOIN pg_class p ON p.oid = h.inhrelid JOIN pg_namespace n ON n.oid = t.relnamespace \
        WHERE n.nspname = $1 AND p.relnamespace = n.oid AND t.relkind = 'p' ORDER BY 1, 2
        """

    private mutating func readParts(_ found: SchemaResult) {
        for row in found.rows { parts[found.table(row), default: []].append(found.name(row, 1)) }
    }

    private static let grantsQuery = """
        SELECT DISTINCT t.relname, CASE WHEN a.grantee = 0 THEN '' ELSE pg_get_userbyid(a.grantee) END, \
        a.privilege_type, c.relkind = 'S' FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
        LEFT JOIN pg_depend d ON c.relkind = 'S' AND d.objid = c.oid AND d.classid = 'pg_class'::regclass \
        AND d.refclassid = 'pg_class'::regclass AND d.deptype IN ('a', 'i') \
        JOIN pg_class t ON t.oid = COALESCE(d.refobjid, c.oid) CROSS JOIN LATERAL aclexplode(c.relacl) a \
        WHERE n.nspname = $1 AND t.relnamespace = n.oid AND t.relkind IN ('r', 'p') AND a.grantee <> c.relowner
        """

    private mutating func readGrants(_ found: SchemaResult) {
        for row in found.rows {
            let grant = Grant(
                role: found.result.string(row, 1), right: found.result.string(row, 2),
                isOfSequence: found.result.integer(row, 3) == 1)
            grants[found.table(row), default: []].insert(grant)
        }
    }

    private static let ownersQuery = """
        SELECT c.relname, pg_get_userbyid(c.relowner), pg_get_userbyid(c.relowner) = current_user FROM pg_class c \
        JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relkind IN ('r', 'p')
        """

    private mutating func readOwners(_ found: SchemaResult) {
        for row in found.rows {
            owners[found.table(row)] = Owner(
                role: found.result.string(row, 1), isCurrent: found.result.integer(row, 2) == 1)
        }
    }

    private static let guardsQuery = """
        SELECT t.relname, g.text FROM pg_class t JOIN pg_namespace n ON n.oid = t.relnamespace JOIN ( \
        SELECT tgrelid AS oid, 'the trigger “' || tgname || '”' AS text FROM pg_trigger \
        WHERE NOT tgisinternal AND tgparentid = 0 UNION ALL \
        SELECT polrelid, 'the policy “' || polname || '”' FROM pg_policy UNION ALL \
        SELECT c.oid, 'the row-level security' FROM pg_class c WHERE c.relrowsecurity) g ON g.oid = t.oid \
        WHERE n.nspname = $1 ORDER BY 1, 2
        """

    private mutating func readGuards(_ found: SchemaResult) {
        for row in found.rows { guards[found.table(row), default: []].append(found.result.string(row, 1)) }
    }

    private static let masksQuery = """
        SELECT DISTINCT entity, columns FROM pippin.changes \
        WHERE schema_name = $1 AND columns IS NOT NULL ORDER BY 1, 2
        """

    private mutating func readMasks(_ found: SchemaResult) {
        for row in found.rows { masks.append((Int(found.result.integer(row, 0)), found.result.data(row, 1))) }
    }
}

/// The rights that roles have on the tables of a store, for the tables that take their place.
package struct TableGrants {
    private let place: StorePlace
    private let connection: PostgresConnection
    private let structure: DatabaseStructure
    /// The store's tables, qualified with the schema's name.
    package let tables: [String]

    /// Reads the rights on the tables of a store that exists.
    package init(_ place: StorePlace, _ connection: PostgresConnection) throws {
        (self.place, self.connection) = (place, connection)
        structure = try DatabaseStructure(place, connection)
        tables = try Self.tables(place, connection).map { QualifiedName.make(schema: place.schema, name: $0) }
    }

    /// The names of the tables of a store.
    package static func tables(_ place: StorePlace, _ connection: PostgresConnection) throws -> [String] {
        let result = try connection.query(
            "SELECT table_name FROM pippin.tables WHERE schema_name = $1 AND to_regclass(format('%I.%I', schema_name, table_name)) "
                + "IS NOT NULL ORDER BY 1", parameters(place.schema))
        return (0..<result.count).map { result.string($0, 0) }
    }

    private static func parameters(_ text: String) -> PostgresParameters {
        var parameters = PostgresParameters()
        parameters.append(text)
        return parameters
    }

    /// Gives a table the owner of the former one of the same name, and grants the rights on that; for a table of
    /// another name, those that a role had on all tables.
    ///
    /// - Parameter table: the name of the new table, which is in the store's schema.
    /// - Throws: the server's errors.
    package func grant(on table: String) throws {
        let table = QualifiedName.make(schema: place.schema, name: table)
        let name = quotedName(table)
        if let owner = structure.owner(fromRowsOf: [table], orAll: tables), !owner.isCurrent {
            try connection.execute(DatabaseStructure.giving(table, to: owner))
        }
        var sequence: String?
        for grant in structure.grants(fromRowsOf: [table], orAll: tables) {
            var object = name
            if grant.isOfSequence {
                // The table of a many-to-many relationship has none.
                let hasKeys =
                    try connection.query(
                        "SELECT FROM pg_attribute WHERE attrelid = $1::text::regclass AND attidentity <> ''",
                        Self.parameters(name)
                    ).count > 0
                guard hasKeys else { continue }
                let own =
                    try sequence
                    ?? connection.query(
                        "SELECT pg_get_serial_sequence($1, '\(ColumnName.key)')", Self.parameters(name)
                    ).string(0, 0)
                (sequence, object) = (own, "SEQUENCE " + own)
            }
            let role = grant.role.isEmpty ? "PUBLIC" : quotedName(grant.role)
            try connection.execute("GRANT \(grant.right) ON \(object) TO \(role)")
        }
    }
}
