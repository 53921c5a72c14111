import CoreDataModel
import PredicateFormat
import SQLGeneration

extension SQLSchema {
    /// Whether a derived attribute depends on itself: the total of a folder on those of its boxes, and these on those
    /// of their folders.
    func isCircular(_ derived: DerivedColumn) -> Bool {
        let start = AttributePlace(derived.mapping, derived.property)
        var passed: Set<AttributePlace> = []
        var (mapping, property) = (derived.mapping, derived.property)
        while let next = source(of: property, in: mapping) {
            (mapping, property) = next
            let place = AttributePlace(mapping, property)
            if place == start { return true }
            // A circle of others.
            guard passed.insert(place).inserted else { return false }
        }
        return false
    }

    /// The attribute that a derived one is computed from; nil for other attributes, and for one that needs none.
    private func source(of property: String, in mapping: EntityMapping) -> (EntityMapping, String)? {
        guard let slot = mapping.layout.slotIndex(forName: property),
            let attribute = mapping.layout.slots[slot].attribute?.description as? NSDerivedAttributeDescription,
            let derivation = attribute.derivationExpression.flatMap({ Derivation(expressionTree(of: $0)) })
        else { return nil }
        let path: [String]
        switch derivation {
        case .now, .aggregate(_, _, nil): return nil
        case .value(let keys, _): path = keys
        case .aggregate(let relationship, _, .some(let attribute)): path = [relationship, attribute]
        }
        if path.count == 1 { return (mapping, path[0]) }
        let destination = mapping.layout.relationship(named: path[0])?.destination
        return destination.flatMap { self.mapping(of: $0) }.map { ($0, path[1]) }
    }
}

/// Where the values of an attribute are; entities that share a table may share a column.
private struct AttributePlace: Hashable {
    private let table: String
    private let column: String

    init(_ mapping: EntityMapping, _ property: String) {
        table = mapping.table
        column = mapping.column(named: property)?.name ?? property
    }
}

extension SQLSchema {
    /// The statements that create an empty store's tables, indexes and triggers, in Core Data's order: the entities'
    /// tables, their indexes, the triggers of derived attributes, the bookkeeping.
    ///
    /// - Throws: an `NSError` for a derived attribute whose expression a trigger cannot compute.
    package func creationStatements() throws -> [String] {
        let roots = layout.entities.filter { $0.superentity == nil && mapping(of: $0) != nil }
        var creations: [String] = []
        for root in roots {
            creations += tables.filter { $0.name == mapping(of: root)?.table }.map(\.creation)
            creations += joinTables.filter { $0.rootName == root.name }.map(\.table.creation)
        }
        for root in roots {
            creations += indexes(of: root).map(\.creation)
            creations += joinTables.filter { $0.rootName == root.name }.map(\.index.creation)
        }
        creations += try derivedAttributeTriggers().map(\.creation)
        return creations + StoreTables.bookkeeping
    }

    /// The rows of `Z_PRIMARYKEY`: number, name, and the superentity's number or 0.
    package var primaryKeyRows: [(number: Int, name: String, superNumber: Int)] {
        mappings.compactMap { $0 }.sorted { $0.number < $1.number }.map { mapping in
            let parent = mapping.layout.superentity.flatMap { self.mapping(of: $0) }
            return (mapping.number, mapping.layout.name, parent?.number ?? 0)
        }
    }
}

extension TableDefinition {
    /// `CREATE TABLE ZUSER ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR )`
    package var creation: String {
        var parts = columns.map { "\(quoted($0.name)) \($0.declaredType)" }
        if !primaryKey.isEmpty { parts.append("PRIMARY KEY (\(primaryKey.map(quoted).joined(separator: ", ")))") }
        return "CREATE TABLE \(quoted(name)) ( \(parts.joined(separator: ", ")) )"
    }
}

extension IndexDefinition {
    /// `CREATE INDEX ZCAR_ZOWNER_INDEX ON ZCAR (ZOWNER)`
    package var creation: String {
        let kind: SQLFragment = isUnique ? "CREATE UNIQUE INDEX" : "CREATE INDEX"
        let restriction: SQLFragment = condition.map { " WHERE \($0)" } ?? ""
        let creation: SQLFragment = "\(kind) \(name: name) ON \(name: table) (\(.list(terms)))\(restriction)"
        return creation.rendered(by: SQLiteDialect()).text
    }
}

extension StoreTables {
    /// `Z_PRIMARYKEY` numbers the entities and counts keys; `Z_METADATA` has the store's UUID and metadata;
    /// `Z_MODELCACHE` a copy of the model.
    package static let bookkeeping = [
        "CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER)",
        "CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB)",
        "CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB)",
    ]

    /// The columns of the persistent history that the first systems with a history did not have.
    package static let laterHistoryColumns: [(table: String, columns: [TableDefinition.Column])] = [
        (
            "ATRANSACTION",
            ["ZAUTHORTS", "ZBUNDLEIDTS", "ZCONTEXTNAMETS", "ZPROCESSIDTS"].map {
                .init(name: $0, declaredType: "INTEGER")
            }
                + [.init(name: "ZTIMESTAMP", declaredType: "FLOAT")]
                + ["ZAUTHOR", "ZBUNDLEID", "ZCONTEXTNAME", "ZPROCESSID"].map {
                    .init(name: $0, declaredType: "VARCHAR")
                }
                + [.init(name: "ZQUERYGEN", declaredType: "BLOB")]
        ),
        ("ACHANGE", [.init(name: "ZCOLUMNS", declaredType: "BLOB")]),
    ]

    /// The table of names in the persistent history, and its index.
    package static let historyNames = [
        "CREATE TABLE ATRANSACTIONSTRING ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR )",
        "CREATE UNIQUE INDEX Z_TRANSACTIONSTRING_UNIQUE_NAME ON ATRANSACTIONSTRING (ZNAME COLLATE BINARY ASC)",
    ]

    /// The tables and indexes of the persistent history.
    package static let history = [
        """
        CREATE TABLE ACHANGE ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCHANGETYPE INTEGER, \
        ZENTITY INTEGER, ZENTITYPK INTEGER, ZTRANSACTIONID INTEGER, ZCOLUMNS BLOB )
        """,
        """
        CREATE TABLE ATRANSACTION ( Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZAUTHORTS INTEGER, \
        ZBUNDLEIDTS INTEGER, ZCONTEXTNAMETS INTEGER, ZPROCESSIDTS INTEGER, ZTIMESTAMP FLOAT, ZAUTHOR VARCHAR, \
        ZBUNDLEID VARCHAR, ZCONTEXTNAME VARCHAR, ZPROCESSID VARCHAR, ZQUERYGEN BLOB )
        """,
        historyNames[0],
        "CREATE INDEX ACHANGE_ZTRANSACTIONID_INDEX ON ACHANGE (ZTRANSACTIONID)",
        "CREATE INDEX ATRANSACTION_ZAUTHORTS_INDEX ON ATRANSACTION (ZAUTHORTS)",
        "CREATE INDEX ATRANSACTION_ZBUNDLEIDTS_INDEX ON ATRANSACTION (ZBUNDLEIDTS)",
        "CREATE INDEX ATRANSACTION_ZCONTEXTNAMETS_INDEX ON ATRANSACTION (ZCONTEXTNAMETS)",
        "CREATE INDEX ATRANSACTION_ZPROCESSIDTS_INDEX ON ATRANSACTION (ZPROCESSIDTS)",
        "CREATE INDEX Z_TRANSACTION_TransactionAuthorIndex ON ATRANSACTION (ZAUTHOR COLLATE BINARY ASC)",
        "CREATE INDEX Z_TRANSACTION_TransactionTimestampIndex ON ATRANSACTION (ZTIMESTAMP COLLATE BINARY ASC)",
        historyNames[1],
    ]
}
