import CoreDataModel
import PostgresConnection
import SQLGeneration
import StoreEngine

/// A transaction that takes in all saves until it ends: they are committed together, or not at all.
struct LongTransaction {
    /// The indexes that it creates once the rows are there.
    var laterIndexes: [TableCreation.IndexStatement] = []
}

extension OpenDatabase {
    func beginLongTransaction(makesIndexesLater: Bool) throws {
        try run("save to", fallback: CoreDataErrorCode.persistentStoreSave) {
            try beginSave()
            longTransaction = LongTransaction()
            guard makesIndexesLater else { return }
            let indexes = TableCreation(schema).indexes
            do { try connection.execute(indexes.map(\.removal).joined(separator: ";\n")) } catch {
                try? endLongTransaction(commits: false)
                throw error
            }
            longTransaction?.laterIndexes = indexes
        }
    }

    /// Begins a preview: a transaction, or a part of the one that keeps others out, whose saves are undone.
    func beginPreview() throws {
        try run("read from") {
            let wasLocked = locksOutWriters && connection.isInTransaction
            if wasLocked {
                try connection.execute("SAVEPOINT pippin_preview")
                do { _ = try connection.pipeline(beginning()) } catch let error as PostgresError {
                    try? connection.rollback()
                    try explain(error)
                }
            } else {
                try beginSave()
            }
            (longTransaction, wasLockedBeforePreview) = (LongTransaction(), wasLocked)
        }
    }

    /// Undoes the saves of the preview.
    ///
    /// - Returns: whether the preview was intact.
    func endPreview() -> Bool {
        guard let wasLocked = wasLockedBeforePreview else { return false }
        (longTransaction, wasLockedBeforePreview) = (nil, nil)
        let isIntact = connection.isUsable && connection.isInTransaction
        do {
            guard wasLocked, isIntact else {
                try connection.rollback()
                return isIntact
            }
            try connection.execute("ROLLBACK TO SAVEPOINT pippin_preview; RELEASE SAVEPOINT pippin_preview")
            locksOutWriters = true
            return true
        } catch {
            try? connection.rollback()
            return false
        }
    }

    /// Creates the deferred indexes. Those whose rows share values that must be unique remain deferred.
    func makeIndexes() throws {
        try run("save to", fallback: CoreDataErrorCode.persistentStoreSave) {
            // A table with pending checks of references takes no index.
            try connection.execute("SET CONSTRAINTS ALL IMMEDIATE; SET CONSTRAINTS ALL DEFERRED")
            let deferred = try (longTransaction?.laterIndexes ?? []).filter { index in
                do {
                    try connection.part { try connection.execute(index.creation) }
                    return false
                } catch let error as PostgresError where error.isUniqueViolation { return true }
            }
            longTransaction?.laterIndexes = deferred
        }
    }

    /// Rows that share values which must be unique; empty if all indexes exist.
    func sharedUniqueValues(limit: Int) throws -> [(constraint: [String], rows: [NSManagedObjectID])] {
        guard let missing = longTransaction?.laterIndexes.first else { return [] }
        return try run("read from") {
            var found: [(constraint: [String], rows: [NSManagedObjectID])] = []
            for mapping in schema.mappings.compactMap({ $0 }) {
                for constraint in mapping.layout.description.uniquenessConstraintNames where found.count < limit {
                    found += try sharedValues(constraint, of: mapping, limit: limit, groups: limit - found.count)
                }
            }
            guard found.isEmpty else { return found }
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreSave,
                "The index “\(missing.name)” cannot be made: rows share values that must be unique.",
                url: place.shownURL)
        }
    }

    private func sharedValues(
        _ constraint: [String], of mapping: EntityMapping, limit: Int, groups: Int
    ) throws -> [(constraint: [String], rows: [NSManagedObjectID])] {
        let columns = constraint.compactMap { mapping.column(named: $0)?.name }.map(quotedName)
        guard !columns.isEmpty, columns.count == constraint.count else { return [] }
        let list = columns.joined(separator: ", ")
        let present = columns.map { "\($0) IS NOT NULL" }.joined(separator: " AND ")
        let key = ColumnName.key
        let result = try connection.query(
            """
            SELECT g.first, t.\(key), t.\(ColumnName.entity) FROM (SELECT \(list), min(\(key)) AS first FROM \
            \(quotedName(mapping.table)) WHERE \(present) GROUP BY \(list) HAVING count(*) > 1 ORDER BY min(\(key)) LIMIT \(groups)) g \
            JOIN \(quotedName(mapping.table)) t USING (\(list)) ORDER BY 1, 2
            """)
        var found: [(constraint: [String], rows: [NSManagedObjectID])] = []
        var latest: Int64?
        for row in 0..<result.count {
            if latest != result.integer(row, 0) { found.append((constraint, [])) }
            latest = result.integer(row, 0)
            guard found[found.count - 1].rows.count < limit else { continue }
            let layout = entity(numbered: result.integer(row, 2), kindOf: mapping.layout)
            found[found.count - 1].rows.append(
                NSManagedObjectID(layout: layout, store: identity, key: result.integer(row, 1)))
        }
        return found
    }

    /// Gives all rows the version of new ones.
    func resetVersions() throws {
        try run("save to", fallback: CoreDataErrorCode.persistentStoreSave) {
            for mapping in schema.mappings.compactMap({ $0 }) where mapping.layout.superentity == nil {
                try connection.execute(
                    "UPDATE \(quotedName(mapping.table)) SET \(ColumnName.version) = 1 WHERE \(ColumnName.version) <> 1"
                )
            }
            for index in searches.indexes where index.mayWrite {
                try connection.part { try connection.execute(index.versionReset) }
            }
        }
    }

    func endLongTransaction(commits: Bool) throws {
        guard longTransaction != nil else { return }
        longTransaction = nil
        try run("save to", fallback: CoreDataErrorCode.persistentStoreSave) {
            guard commits else { return try connection.rollback() }
            try commitSave()
        }
    }
}
