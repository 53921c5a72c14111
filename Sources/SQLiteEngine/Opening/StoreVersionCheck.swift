import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

/// Says that the structure of a store's file is not the one that was looked at last: another program has migrated it, or added
/// an index, or a table of its own. Caught by the store, which looks at it again.
struct StructureChange: Error {}

// Every reading, and every transaction, begins with one integer: the number that SQLite counts on with each change of the
// structure.
extension OpenStore {
    /// Whether other programs can change the file.
    private var isShared: Bool { connection.mode != .memory && connection.mode != .immutable }

    /// Runs a reading, all of it on one state of the store: `PRAGMA schema_version`, whose read transaction stays open meanwhile.
    ///
    /// - Throws: `StructureChange` before anything is read.
    func reading<Result>(_ body: () throws -> Result) throws -> Result {
        // What is read inside a transaction, or another reading, has been looked at.
        guard isShared, !isReading, !connection.isInTransaction else { return try body() }
        let version = try versionStatement()
        isReading = true
        defer {
            version.reset()
            isReading = false
        }
        guard try run("read from", { try version.step() }), version.integer(at: 0) == structureVersion else {
            throw StructureChange()
        }
        return try body()
    }

    /// Runs a closure in a transaction that writes, which is undone when the closure throws.
    ///
    /// - Throws: what ``begin()`` throws.
    func transaction<Result>(_ body: () throws -> Result) throws -> Result {
        try begin()
        do {
            let result = try body()
            try connection.commit()
            return result
        } catch {
            // The first error is the one to tell.
            try? connection.rollback()
            throw error
        }
    }

    /// Opens a transaction that writes, or a part of the long one; or goes on with the one that keeps others out.
    ///
    /// - Throws: `StructureChange`; `UnexpectedChange` when others have changed what must be as it was; an `NSError` when the file
    ///   was moved or replaced. Nothing is open then.
    func begin() throws {
        if !keepsOthersOut {
            let isPart = connection.isInTransaction
            try connection.begin(.immediate)
            guard !isPart else { return }
        }
        keepsOthersOut = false
        do {
            try checkFile()
            if let expectedChanges, try changeCount() != expectedChanges { throw UnexpectedChange() }
        } catch {
            try? connection.rollback()
            throw error
        }
    }

    private func checkFile() throws {
        guard isShared else { return }
        let version = try versionStatement()
        defer { version.reset() }
        guard try version.step(), version.integer(at: 0) == structureVersion else { throw StructureChange() }
        guard connection.isMoved else { return }
        throw StoreError.make(
            CoreDataErrorCode.persistentStoreOperation,
            "The file of the store “\(file.url.lastPathComponent)” was removed, or replaced by another one, while it was open; "
                + "nothing was saved.", url: file.url,
            suggestion: "Remove the store from its coordinator, and add it again.")
    }

    /// SQLite's number that changes when another connection commits: `PRAGMA data_version`.
    func changeCount() throws -> Int64 {
        guard isShared else { return 0 }
        return try run("read from") {
            let statement = try changeStatement ?? connection.prepare("PRAGMA data_version")
            changeStatement = statement
            defer { statement.reset() }
            return try statement.step() ? statement.integer(at: 0) : 0
        }
    }

    /// Opens a transaction that writes nothing: others can read meanwhile, and not write. Nothing to do inside another one.
    func keepOthersOut() throws {
        guard isShared, connection.mode != .readOnly, !connection.isInTransaction else { return }
        try run("lock") { try begin() }
        keepsOthersOut = true
    }

    /// Ends the transaction that keeps others out; nothing happens where none does.
    func letOthersIn() {
        guard keepsOthersOut else { return }
        keepsOthersOut = false
        // Nothing was written in it.
        try? connection.rollback()
    }

    func versionStatement() throws -> Statement {
        if let known = structureStatement { return known }
        let made = try run("read from") { try connection.prepare("PRAGMA schema_version") }
        structureStatement = made
        return made
    }
}

extension SQLiteEngine {
    /// Runs a reading of what is open; where another program has changed the structure of the file, of what it is now.
    ///
    /// - Throws: 134100 when the entities of the model are not those of the store any more.
    func reading<Result>(_ work: (OpenStore) throws -> Result) throws -> Result {
        if let generation = readGeneration as? PinnedReader { return try work(generation.store) }
        return try following { store in try store.reading { try work(store) } }
    }

    /// Runs work that writes to what is open; where another program has changed the structure of the file, to what it is now.
    ///
    /// - Throws: 134100 when the entities of the model are not those of the store any more.
    func writing<Result>(_ work: (OpenStore) throws -> Result) throws -> Result {
        try following { _ in
            let store = try writable()
            store.expectedChanges = expectedChanges
            defer { store.expectedChanges = nil }
            return try work(store)
        }
    }

    /// Runs work on what is open, again whenever somebody has changed the structure of the file.
    func following<Result>(_ work: (OpenStore) throws -> Result) throws -> Result {
        while true {
            // Each time round, somebody has changed the structure once more.
            do { return try work(current()) } catch is StructureChange { try adapt() }
        }
    }

    /// Looks at a store whose structure was changed: goes on with it where the entities of the model are as they were, by the
    /// numbers that they have now.
    private func adapt() throws {
        let store = try current()
        guard let explicit = model else { return }
        let file = store.file
        opened = try file.run("read the tables of") {
            try file.connection.transaction(.deferred) {
                let version = try file.connection.integer("PRAGMA schema_version") ?? 0
                if try file.isEmpty() { throw gone(file.url, "destroyed") }
                let metadata = try file.metadata()
                try checkVersions(of: store, in: explicit, metadata)
                if !facts.metadataAreChanged, let uuid = metadata[NSStoreUUIDKey] as? String,
                    uuid.caseInsensitiveCompare(facts.identity.uuid) != .orderedSame
                {
                    throw gone(file.url, "replaced by another one")
                }
                let catalog = try file.catalog()
                let schema = SQLSchema(
                    layout: store.schema.layout, entityNames: store.schema.names,
                    numbers: catalog.numbers(for: explicit), catalog: catalog)
                // A history that somebody else keeps must not miss what is changed here.
                let hasHistory = catalog.tables["ATRANSACTION"] != nil && catalog.tables["ACHANGE"] != nil
                if hasHistory, store.history == nil { facts.isReadOnly = true }
                if !facts.metadataAreChanged {
                    let hashes = facts.metadata[VersionHash.ownHashesOfStoreKey]
                    facts.metadata = metadata
                    facts.metadata[VersionHash.ownHashesOfStoreKey] = hashes
                }
                return OpenStore(
                    file: file, schema: schema, identity: facts.identity, external: store.external,
                    derived: store.derived, history: store.history.map { $0.following(schema) }, hasHistory: hasHistory,
                    structureVersion: version)
            }
        }
    }

    private func checkVersions(
        of store: OpenStore, in model: NSManagedObjectModel, _ metadata: [String: Any]
    ) throws {
        guard !settings.ignoresVersions else { return }
        let names = store.schema.names
        let entities = model.entities.filter { names.contains($0.name ?? "") }
        // Entities that the store has besides are other programs' business.
        let differing = try StoreCompatibility.differences(entities, metadata: metadata) {
            try store.file.model(orSupposed: model)
        }
        .filter(names.contains)
        guard !differing.isEmpty else { return }
        let url = store.file.url
        throw StoreError.make(
            CoreDataErrorCode.persistentStoreIncompatibleVersionHash,
            "The store “\(url.lastPathComponent)” was migrated to another version of its model while it was open: they differ "
                + "in \(differing.joined(separator: ", ")). Nothing was read or changed.", url: url,
            suggestion: "Reload: remove the store, and add it again with the model that it has now.",
            userInfo: [
                "metadata": metadata,
                "reason": "The model used to open the store is incompatible with the one used to create the store",
                "entities": differing,
            ])
    }

    /// The error for a store that is there no more.
    private func gone(_ url: URL, _ what: String) -> NSError {
        StoreError.make(
            CoreDataErrorCode.persistentStoreOperation,
            "The store “\(url.lastPathComponent)” was \(what) while it was open. Nothing was read or changed.",
            url: url,
            suggestion: "Reload: remove the store from its coordinator, and add it again.")
    }
}

extension SQLSchema {
    /// The names of the entities whose objects are in the store.
    fileprivate var names: Set<String> { Set(mappings.compactMap { $0?.layout.name }) }
}
