import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

/// One save inside its transaction: writes the rows of a change set, with one prepared statement per kind of change.
final class SaveRun {
    private let store: OpenStore
    private let files: ExternalFiles
    /// The objects whose rows did not have the expected version.
    private(set) var conflicts: [NSManagedObjectID] = []

    /// The insert statement used last: changes of one entity are usually consecutive.
    private var insertion: InsertStatement?

    /// The places of new objects in relationships of new objects, by column.
    private var places: [PlaceColumn: NewPlaces] = [:]

    init(_ store: OpenStore, files: ExternalFiles) {
        self.store = store
        self.files = files
    }

    // MARK: Rows

    /// `INSERT INTO ZCAR (Z_PK, Z_ENT, Z_OPT, …) VALUES (?, ?, 1, …)`
    ///
    /// A new object in an ordered relationship of another new one is inserted with its place: `…, Z_FOK_CARS) VALUES
    /// (…, 2048)`.
    func insert(_ changes: [RowChange]) throws {
        try findPlaces(changes)
        // By index: iterating over the changes would retain each.
        for index in changes.indices { try insert(changes[index]) }
    }

    private func findPlaces(_ changes: [RowChange]) throws {
        for index in changes.indices where !changes[index].toManyChanges.isEmpty {
            let change = changes[index]
            for toManyChange in change.toManyChanges {
                guard let order = toManyChange.order,
                    case .foreignKey(let key)? = try statements(toManyChange, of: change.objectID)?.mapping,
                    let column = place(key)
                else { continue }
                let known = places[column] ?? NewPlaces()
                places[column] = known
                known.add(order.map(\.key))
            }
        }
    }

    /// The column for places in a relationship when rows are inserted; nil if writing the owners would overwrite them.
    private func place(_ key: ForeignKeyMapping) -> PlaceColumn? {
        guard key.hasInverse, let column = key.orderColumn else { return nil }
        return PlaceColumn(table: key.table, column: column)
    }

    private func insert(_ change: RowChange) throws {
        let insertion = try insertion(of: change.objectID.layout)
        let statement = insertion.statement
        if insertion.checksAvailable {
            try insertion.access.mapping.checkAvailable(change.values, url: store.file.url)
        }
        try statement.bind(change.objectID.key, at: 1)
        try statement.bind(insertion.number, at: 2)
        // A copied object keeps its version. Versions are only compared, so they may wrap.
        try statement.bind(change.version &+ 1, at: 3)
        var next = try insertion.access.writer.bindAll(change.values, to: statement, from: 4, files: files)
        for places in insertion.places {
            if let key = places.take(change.objectID.key) { try statement.bind(key, at: next) }
            next += 1
        }
        try statement.run()
    }

    private func insertion(of layout: EntityLayout) throws -> InsertStatement {
        if let insertion, insertion.layout === layout { return insertion }
        let access = try store.access(layout)
        let columns = places.keys.filter { $0.table == access.mapping.table }.sorted { $0.column < $1.column }
        let text =
            columns.isEmpty
            ? access.insertText : RowSQL.insert(access.mapping, orderColumns: columns.map(\.column)).sqlite.text
        let new = InsertStatement(
            layout, access, try store.connection.statement(text), columns.compactMap { places[$0] })
        insertion = new
        return new
    }

    /// Gives rows that have no version the one with which they are read, 0: tools that fill a store by SQL leave it
    /// out.
    func addMissingVersions(_ changes: ChangeSet) throws {
        // By index: iterating over the changes would retain each.
        for index in changes.updated.indices where changes.updated[index].version == 0 {
            try addMissingVersion(changes.updated[index].objectID)
        }
        for deletion in changes.deleted where deletion.version == 0 { try addMissingVersion(deletion.objectID) }
    }

    private func addMissingVersion(_ identifier: NSManagedObjectID) throws {
        let table = try store.access(identifier.layout).mapping.table
        let statement = try store.connection.statement(ColumnSQL.setMissingVersion(in: table))
        try statement.bind(identifier.key, at: 1)
        try statement.run()
    }

    /// `UPDATE ZCAR SET ZMAKER = ?, Z_OPT = ? WHERE Z_PK = ? AND Z_OPT = ?`
    func update(_ changes: [RowChange]) throws {
        var current: UpdateStatement?
        // By index: iterating over the changes would retain each.
        for index in changes.indices {
            if let current, current.fits(changes[index]) {
                try update(changes[index], current)
            } else {
                let new = try updating(changes[index])
                try update(changes[index], new)
                current = new
            }
        }
    }

    private func updating(_ change: RowChange) throws -> UpdateStatement {
        let layout = change.objectID.layout
        let access = try store.access(layout)
        for slot in change.changedSlots where !access.mapping.unavailable.isEmpty {
            try access.mapping.checkAvailable(layout.slots[slot].name, url: store.file.url)
        }
        return try UpdateStatement(layout, change.changedSlots, access, store.connection)
    }

    private func update(_ change: RowChange, _ updating: UpdateStatement) throws {
        let statement = updating.statement
        if updating.hasExternalSlots {
            try store.noteFiles(of: updating.access, updating.written, inRow: change.objectID.key, files)
        }
        let next = try updating.access.writer.bind(
            change.values, slots: updating.written, to: statement, files: files)
        try statement.bind(change.version &+ 1, at: next)
        try statement.bind(change.objectID.key, at: next + 1)
        try statement.bind(change.version, at: next + 2)
        try statement.run()
        if store.connection.changes == 0 { conflicts.append(change.objectID) }
    }

    /// `DELETE FROM ZCAR WHERE Z_PK = ? AND Z_OPT = ?`, and the object's pairs in join tables.
    func delete(_ deletion: RowDeletion) throws {
        let identifier = deletion.objectID
        let access = try store.access(identifier.layout)
        // If a relationship's column is unknown, references to the object cannot be determined.
        for relationship in identifier.layout.toManys where !access.mapping.unavailable.isEmpty {
            try access.mapping.checkAvailable(
                relationship.name, "is not known, and its object cannot be deleted", url: store.file.url)
        }
        try store.noteFiles(of: access, nil, inRow: identifier.key, files)
        let statement = try store.connection.statement(access.deleteText)
        try statement.bind(identifier.key, at: 1)
        try statement.bind(deletion.version, at: 2)
        try statement.run()
        if store.connection.changes == 0 { conflicts.append(identifier) }
        for text in access.pairDeletions {
            let statement = try store.connection.statement(text)
            try statement.bind(identifier.key, at: 1)
            try statement.run()
        }
    }

    /// Clears the unique values of rows that will be written anyway, so that they can exchange them.
    func clearUniqueValues(of changes: [RowChange]) throws {
        for change in changes {
            let access = try store.access(change.objectID.layout)
            let unique = Set(change.objectID.layout.uniquenessConstraints.joined())
            let names = access.writer.written(change.changedSlots).compactMap { access.mapping.columns[$0] }
                .filter { unique.contains($0.property) && !$0.isComposite }.map(\.name)
            guard !names.isEmpty else { continue }
            let statement = try store.connection.statement(
                ColumnSQL.clear(names, in: access.mapping.table))
            try statement.bind(change.objectID.key, at: 1)
            try statement.bind(change.version, at: 2)
            try statement.run()
        }
    }

    // MARK: To-many relationships

    /// Writes the pairs of join tables and owners, then the order keys, which require all pairs to exist.
    func writeToManys(_ changes: ChangeSet) throws {
        // By index: iterating over the changes would retain each.
        let updated = changes.updated.indices.filter { !changes.updated[$0].toManyChanges.isEmpty }
        let inserted = changes.inserted.indices.filter { !changes.inserted[$0].toManyChanges.isEmpty }
        for index in updated { try writePairs(changes.updated[index], isNew: false) }
        for index in inserted { try writePairs(changes.inserted[index], isNew: true) }
        for index in updated { try writeOrder(changes.updated[index], isNew: false) }
        for index in inserted { try writeOrder(changes.inserted[index], isNew: true) }
    }

    private func statements(_ change: ToManyChange, of identifier: NSManagedObjectID) throws -> ToManyStatements? {
        let access = try store.access(identifier.layout)
        let relationship = change.relationship
        if let known = access.toManyStatements[relationship.index] { return known }
        try access.mapping.checkAvailable(relationship.name, url: store.file.url)
        let toManys = access.mapping.toManys
        guard toManys.indices.contains(relationship.index), let mapping = toManys[relationship.index]
        else { return nil }
        let new = try ToManyStatements(mapping, of: relationship, in: store)
        access.toManyStatements[relationship.index] = new
        return new
    }

    private func writePairs(_ change: RowChange, isNew: Bool) throws {
        for toManyChange in change.toManyChanges where toManyChange.pairs != .otherEnd {
            guard let statements = try statements(toManyChange, of: change.objectID),
                let insert = statements.insertPair, let delete = statements.deletePair
            else { continue }
            var isReflexive = false
            if case .joinTable(let join) = statements.mapping { isReflexive = join.isReflexive }
            let source = change.objectID.key
            if isNew, toManyChange.pairs == .thisEnd, let insert = statements.insertPlacedPair,
                let order = toManyChange.order
            {
                for (place, target) in order.enumerated() {
                    try insert.bind(OrderKeys.key(at: place), at: 3)
                    try run(insert, source, target.key)
                }
                continue
            }
            for target in toManyChange.removed {
                try run(delete, source, target.key)
                if isReflexive { try run(delete, target.key, source) }
            }
            for target in toManyChange.added {
                try run(insert, source, target.key)
                if isReflexive { try run(insert, target.key, source) }
            }
        }
    }

    private func run(_ statement: Statement, _ first: Int64, _ second: Int64) throws {
        try statement.bind(first, at: 1)
        try statement.bind(second, at: 2)
        try statement.run()
    }

    private func writeOrder(_ change: RowChange, isNew: Bool) throws {
        for toManyChange in change.toManyChanges {
            guard let order = toManyChange.order, let statements = try statements(toManyChange, of: change.objectID),
                let select = statements.selectOrder, let write = statements.writeOrder
            else { continue }
            if isNew, case .foreignKey(let key) = statements.mapping, let column = place(key) {
                for (destination, key) in places.removeValue(forKey: column)?.left ?? [] {
                    try run(write, key, destination)
                }
                continue
            }
            // The pairs have been inserted with their places.
            if isNew, toManyChange.pairs == .thisEnd, statements.insertPlacedPair != nil { continue }
            let source = change.objectID.key
            var existing: [Int64: Int64] = [:]
            // Members that are all new to the list have no keys yet. A copy makes the index last that finds them.
            if toManyChange.added.count < order.count {
                try select.bind(source, at: 1)
                while try select.step() {
                    if !select.isNull(at: 1) { existing[select.integer(at: 0)] = select.integer(at: 1) }
                }
                select.reset()
            }
            for (destination, key) in OrderKeys.changes(order: order.map(\.key), existing: existing) {
                try write.bind(key, at: 1)
                try write.bind(destination, at: 2)
                if case .joinTable = statements.mapping { try write.bind(source, at: 3) }
                try write.run()
            }
        }
    }
}
