import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

extension StoreFile {
    /// The store's copy of its model, without version hashes; nil if there is none of the version in the metadata.
    ///
    /// Where other programs have left several copies, it is the one that has the store's tables, or else the last.
    ///
    /// - Throws: SQLite's errors, and those of a copy that cannot be read, unless there is another one.
    package func cachedModel() throws -> NSManagedObjectModel? {
        // Copies and metadata of two states would be of two versions, and the store would seem to have no copy.
        try readingOneState("read the model cache of") { try currentCopy() }
    }

    private func currentCopy() throws -> NSManagedObjectModel? {
        let rows = try connection.modelCopies(connection.tableNames())
        var damage: (any Error)?
        var read: [NSManagedObjectModel] = []
        for row in rows {
            do { read.append(try ModelCache.model(fromModelCache: row, entityVersionHashes: [:])) } catch {
                damage = damage ?? error
            }
        }
        if read.isEmpty, let damage { throw unreadableCopy(damage) }
        // Damaged metadata are reported where they are needed.
        let hashed = (try? metadata()).map { Set(StoreMetadata.hashes(in: $0).keys) } ?? []
        let current = StoredModel.current(read, hashed: hashed)
        guard current.count > 1 else { return current.first }
        return try current.first { try hasTables(of: $0) } ?? current.first
    }

    private func unreadableCopy(_ error: any Error) -> NSError {
        StoreError.make(
            (error as NSError).code,
            "The copy of its model that the store “\(url.lastPathComponent)” keeps (Z_MODELCACHE) cannot be read. "
                + error.localizedDescription, url: url,
            suggestion: "Restore the store from a backup, or delete the row of Z_MODELCACHE: then the model is "
                + "looked for among the versions of the model's package and in the bundles.",
            underlying: error)
    }
}

extension Connection {
    /// The copies of the model that are not empty, in their stored form, the last one first: Core Data keeps one.
    ///
    /// - Parameter tables: the names of the tables.
    /// - Returns: the copies.
    /// - Throws: SQLite's errors.
    package func modelCopies(_ tables: Set<String>) throws -> [Data] {
        guard tables.contains("Z_MODELCACHE") else { return [] }
        let rows = try prepare(StoreTablesSQL.modelCopies)
        var copies: [Data] = []
        while try rows.step() {
            let copy = try rows.smallData(at: 0, "Z_MODELCACHE.Z_CONTENT", path)
            if !copy.isEmpty { copies.append(copy) }
        }
        return copies
    }
}

extension StoreFile {
    /// The model with which the store was made: its own copy or, if it keeps none or one of another version, a supposed
    /// one that has exactly the store's tables.
    ///
    /// Core Data before iOS 8 kept no copy. Apple's version hashes cannot be compared with ours, so the tables decide.
    ///
    /// - Parameters:
    ///   - supposed: a version of a model that the store may be of.
    ///   - leavesJoinTables: whether the store may have other join tables, too.
    /// - Returns: the model; `nil` if the store keeps no copy and has other tables.
    /// - Throws: SQLite's errors, and the errors of a copy that cannot be read.
    package func model(
        orSupposed supposed: NSManagedObjectModel, leavesJoinTables: Bool = false
    ) throws -> NSManagedObjectModel? {
        try readingOneState("read the model of") {
            let copy = try cachedModel()
            return try StoredModel.choose(copy: copy, supposed: supposed) { model in
                let left = try leftJoinTables(of: model)
                return left.map { $0.isEmpty || copy == nil && leavesJoinTables } ?? false
            }
        }
    }

    /// Whether the tables are those of a model, for the entities that the store has.
    package func hasTables(of model: NSManagedObjectModel) throws -> Bool {
        try leftJoinTables(of: model)?.isEmpty ?? false
    }

    /// The join tables that the store has beside the tables of a model; nil if it does not have these, for the entities
    /// that it has.
    package func leftJoinTables(of model: NSManagedObjectModel) throws -> [String]? {
        let catalog = try catalog()
        // The metadata of Mac OS X 10.4 have no hashes.
        let hashed = Set(StoreMetadata.hashes(in: try metadata()).keys)
        let names = hashed.isEmpty ? Set(catalog.numbers.keys) : hashed
        guard !names.isEmpty, names.isSubset(of: model.entitiesByName.keys) else { return nil }
        let schema = SQLSchema(
            layout: try model.compiledLayout(), entityNames: names, numbers: catalog.numbers(for: model),
            catalog: catalog)
        return schema.leftJoinTables(of: catalog)
    }
}

extension StoreFile {
    /// Makes the triggers of derived attributes that are missing, as after a tool has made a table anew. The values
    /// stay as they are.
    ///
    /// A file that cannot be written stays as it is.
    ///
    /// - Parameters:
    ///   - schema: the tables.
    ///   - isOwn: whether the store is of Pippin's making.
    /// - Returns: SQLite's number of the structure afterwards; nil if nothing is missing.
    /// - Throws: SQLite's errors.
    func makeMissingTriggers(of schema: SQLSchema, isOwn: Bool) throws -> Int64? {
        guard schema.layout.entities.contains(where: { !$0.derivedSlots.isEmpty }) else { return nil }
        let attributes = schema.derivedAttributes { _ in }
        func missing() throws -> [TriggerDefinition] {
            let found = try connection.derivedTriggers()
            return attributes.flatMap { $0.differences(from: found, isOwn: isOwn).missing }
        }
        guard try !missing().isEmpty else { return nil }
        do {
            return try connection.transaction(.immediate) {
                // Another program may have made them meanwhile.
                for trigger in try missing() { try connection.execute(trigger.creation) }
                return try connection.integer("PRAGMA schema_version")
            }
        } catch let error as SQLiteError where error.isReadOnly { return nil }
    }
}
