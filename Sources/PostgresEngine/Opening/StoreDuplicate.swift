import CoreDataModel
import Foundation
import PostgresConnection
import SQLGeneration
import StoreEngine

/// A copy of a store in another schema, or in another database.
package struct StoreDuplicate {
    private let source: StorePlace
    private let place: StorePlace
    /// The connections to both; the same one if both are in one database.
    private let reader: PostgresConnection
    private let writer: PostgresConnection

    /// Copies a store, in the transaction that is open on the writer.
    ///
    /// - Parameters:
    ///   - source: the store.
    ///   - place: the location of the copy, which must not have a store yet.
    ///   - reader: a connection to the store, reading one state of it.
    ///   - writer: a connection to the place; the same if both are in one database.
    /// - Throws: the server's errors, and an `NSError` if there is no store to copy.
    package static func make(
        of source: StorePlace, at place: StorePlace, from reader: PostgresConnection, to writer: PostgresConnection
    ) throws {
        try StoreDuplicate(source: source, place: place, reader: reader, writer: writer).run()
    }

    private func run() throws {
        let opening = DatabaseOpening(source, reader)
        guard let stored = try opening.stored(), let model = try opening.cachedModel() else {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreOpen, "There is no store in “\(source.name)”, or none with a model.",
                url: source.shownURL)
        }
        let hashes = StoreMetadata.hashes(in: stored.metadata)
        func schema(_ place: StorePlace) throws -> SQLSchema {
            SQLSchema(
                layout: try model.compiledLayout(), entityNames: hashes.isEmpty ? nil : Set(hashes.keys),
                numbers: stored.numbers, naming: PostgresNaming.names(in: place.schema))
        }
        try Partitioning.check(schema(place))
        let creation = TableCreation(try schema(place))
        _ = try DatabaseOpening(place, writer).create(
            schema(place), model: model, metadata: stored.metadata, fills: true)
        try writer.execute("SET CONSTRAINTS ALL IMMEDIATE")
        for (former, new) in zip(TableCreation(try schema(source)).tables, creation.tables) {
            try copy(former, new)
        }
        for statement in creation.afterRows { try writer.execute(statement) }
        try copyBookkeeping()
        try writer.execute("SET CONSTRAINTS ALL DEFERRED")
    }

    private func copy(_ former: TableCreation.TableStatement, _ new: TableCreation.TableStatement) throws {
        let (old, table) = (quotedName(former.table), quotedName(new.table))
        var parameters = PostgresParameters()
        parameters.append(table)
        let found = try writer.query(
            "SELECT attname FROM pg_attribute WHERE attrelid = $1::text::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum",
            parameters)
        let columns = (0..<found.count).map { quotedName(found.string($0, 0)) }.joined(separator: ", ")
        try move("SELECT \(columns) FROM \(old)", into: "\(table) (\(columns))")
        guard !new.isJoin else { return }
        let latest = try reader.query(
            """
            SELECT COALESCE((SELECT \(OpenDatabase.latestStep) FROM pg_sequence WHERE seqrelid = \
            pg_get_serial_sequence(\(quotedText(old)), '\(ColumnName.key)')::regclass), (SELECT max(\(ColumnName.key)) FROM \(old)))
            """)
        guard latest.count == 1, !latest.isNull(0, 0) else { return }
        try writer.execute(
            "SELECT setval(pg_get_serial_sequence(\(quotedText(table)), '\(ColumnName.key)')::regclass, \(latest.integer(0, 0)))"
        )
    }

    private func move(_ rows: String, into table: String) throws {
        if reader === writer { return try writer.execute("INSERT INTO \(table) \(rows)") }
        try reader.copyRows(of: rows, into: table, of: writer)
    }

    /// The UUID and the history.
    private func copyBookkeeping() throws {
        var parameters = PostgresParameters()
        parameters.append(source.schema)
        let store = try reader.query(
            "SELECT uuid, keeps_history, latest, latest_change FROM pippin.stores WHERE schema_name = $1", parameters)
        var values = PostgresParameters()
        values.append(place.schema)
        values.append(store.string(0, 0))
        values.append(store.integer(0, 1) == 1)
        values.append(store.integer(0, 2))
        values.append(store.integer(0, 3))
        try writer.query(
            "UPDATE pippin.stores SET uuid = $2, keeps_history = $3, latest = $4, latest_change = $5 WHERE schema_name = $1",
            values)
        let (old, new) = (quotedText(source.schema), quotedText(place.schema))
        for (table, columns) in [
            ("transactions", "id, date, author, context_name, bundle_id, process_id"),
            ("changes", "transaction_id, id, kind, entity, key, columns, tombstone"),
        ] {
            try move(
                "SELECT \(new)::text, \(columns) FROM pippin.\(table) WHERE schema_name = \(old)",
                into: "pippin.\(table) (schema_name, \(columns))")
        }
    }
}

extension DatabaseOpening {
    /// The entities of a schema whose tables or columns have other names in the store. Which of two alike names gets a
    /// number depends on all entities of a model, and the store's may have more than the program's.
    ///
    /// - Parameters:
    ///   - schema: the entities of the program's model.
    ///   - stored: what the database knows of the store.
    /// - Returns: their names, in order.
    /// - Throws: the server's errors.
    func entities(namedOtherThanIn schema: SQLSchema, _ stored: StoredStore) throws -> [String] {
        let own = schema.mappings.compactMap { $0 }
        guard Set(own.map(\.layout.name)) != Set(stored.numbers.keys), let model = try cachedModel(),
            model.unreadProperties.isEmpty
        else { return [] }
        let layout = try model.compiledLayout()
        let present = SQLSchema(
            layout: layout, entityNames: Set(stored.numbers.keys), numbers: stored.numbers,
            naming: PostgresNaming.names(in: place.schema))
        return own.filter { mapping in
            guard let there = layout.entityByName[mapping.layout.name].flatMap(present.mapping(of:)) else {
                return false
            }
            let names = there.names
            return mapping.names.contains { names[$0.key] != $0.value }
        }.map(\.layout.name).sorted()
    }
}

extension EntityMapping {
    /// The names of the table, and of the columns and tables of each property.
    fileprivate var names: [String: [String?]] {
        var names: [String: [String?]] = ["": [table]]
        for (slot, column) in zip(layout.slots, columns) {
            names[slot.name] = column?.flattened.flatMap { [$0.name, $0.entityColumn, $0.orderColumn] as [String?] }
        }
        for (relationship, toMany) in zip(layout.relationships, toManys) {
            switch toMany {
            case .foreignKey(let key): names[relationship.name] = [key.table] + key.columns
            case .joinTable(let join):
                names[relationship.name] = [join.table, join.sourceColumn, join.destinationColumn, join.orderColumn]
            case nil: break
            }
        }
        for owner in owners {
            names["\(owner.relationship.source.name).\(owner.relationship.name)"] = [owner.name, owner.orderColumn]
        }
        return names
    }
}
