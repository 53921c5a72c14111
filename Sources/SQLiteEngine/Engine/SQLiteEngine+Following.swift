import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

extension SQLiteEngine {
    /// Runs a reading of the open store. If another program has changed the file's structure, the store is adapted
    /// first.
    ///
    /// - Throws: 134100 if the model's entities no longer match the store's.
    func reading<Result>(_ work: (OpenStore) throws -> Result) throws -> Result {
        if let generation = readGeneration as? PinnedReader { return try work(generation.store) }
        return try following { store in
            pageCache.willRead(store.connection)
            return try store.reading { try work(store) }
        }
    }

    /// Runs work that writes to the open store. If another program has changed the file's structure, the store is
    /// adapted first.
    ///
    /// - Throws: 134100 if the model's entities no longer match the store's.
    func writing<Result>(_ work: (OpenStore) throws -> Result) throws -> Result {
        try following { _ in
            let store = try writable()
            store.expectedChanges = expectedChanges
            defer { store.expectedChanges = nil }
            return try work(store)
        }
    }

    /// Runs work on the open store, and repeats it each time that others have changed the file's structure.
    func following<Result>(_ work: (OpenStore) throws -> Result) throws -> Result {
        while true {
            // In each round, others have changed the structure again.
            do { return try work(current()) } catch is StructureChange { try adapt() }
        }
    }

    /// Inspects a store whose structure was changed. If the model's entities are unchanged, the store is used with
    /// their present numbers.
    private func adapt() throws {
        let store = try current()
        guard let explicit = model else { return }
        let file = store.file
        var stored: [String: Any] = [:]
        let adapted = try file.run("read the tables of") {
            try file.connection.transaction(.deferred) {
                let version = try file.connection.integer("PRAGMA schema_version") ?? 0
                if try file.isEmpty() { throw gone(file.url, "destroyed") }
                let metadata = try file.metadata()
                stored = metadata
                let outdated = try outdated(of: store, in: explicit, metadata)
                if !facts.metadataAreChanged, let uuid = metadata[NSStoreUUIDKey] as? String,
                    uuid.caseInsensitiveCompare(facts.identity.uuid) != .orderedSame
                {
                    throw gone(file.url, "replaced by another one")
                }
                let catalog = try file.catalog()
                let names = store.schema.names.union(store.schema.outdated?.entities ?? [])
                let schema = SQLSchema(
                    layout: store.schema.layout, entityNames: names.subtracting(outdated?.entities ?? []),
                    numbers: catalog.numbers(for: explicit), catalog: catalog, outdated: outdated
                )
                .leavingOutStrangers(settings.leavesOutStrangers)
                // Another program may have started a history.
                let hasHistory = catalog.tables["ATRANSACTION"] != nil && catalog.tables["ACHANGE"] != nil
                if hasHistory, store.history == nil, !settings.leavesHistory { facts.keepHistoryWhole() }
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
        adapted.followSearchIndexes(isWritable: !facts.isReadOnly, stored)
        opened = adapted
    }

    /// The entities that another program has migrated, with those connected with them: the others are used as before.
    ///
    /// - Returns: nil if all are of the model's version.
    /// - Throws: 134100 if none is left.
    private func outdated(
        of store: OpenStore, in model: NSManagedObjectModel, _ metadata: [String: Any]
    ) throws -> OutdatedEntities? {
        guard !settings.ignoresVersions else { return nil }
        let names = store.schema.names.union(store.schema.outdated?.entities ?? [])
        let entities = model.entities.filter { names.contains($0.name ?? "") }
        // Additional entities in the store belong to other programs.
        let differing = try StoreCompatibility.differences(entities, metadata: metadata) {
            try store.file.model(orSupposed: model)
        }
        .filter(names.contains)
        guard !differing.isEmpty else { return nil }
        let error = migrated(store.file.url, differing, metadata)
        let stored = try store.file.model(orSupposed: model)
        let outdated = stored.map { store.schema.layout.entities(connectedWith: Set(differing), in: $0) } ?? names
        guard !names.isSubset(of: outdated) else { throw error }
        return OutdatedEntities(outdated, error)
    }

    private func migrated(_ url: URL, _ differing: [String], _ metadata: [String: Any]) -> NSError {
        StoreError.make(
            CoreDataErrorCode.persistentStoreIncompatibleVersionHash,
            "The store “\(url.lastPathComponent)” was migrated to another version of its model while it was open: they differ "
                + "in \(differing.joined(separator: ", ")). Nothing was read or changed.", url: url,
            suggestion: "Open the store again, with the model that it has now.",
            userInfo: [
                "metadata": metadata,
                "reason": "The model used to open the store is incompatible with the one used to create the store",
                "entities": differing,
            ])
    }

    /// The error for a store that no longer exists.
    private func gone(_ url: URL, _ what: String) -> NSError {
        StoreError.make(
            CoreDataErrorCode.persistentStoreOperation,
            "The store “\(url.lastPathComponent)” was \(what) while it was open. Nothing was read or changed.",
            url: url,
            suggestion: "Open the store again.")
    }
}

extension StoreFacts {
    /// A history must not miss changes made here, so that a store that has one is only read without the option.
    func keepHistoryWhole() {
        guard !isReadOnly else { return }
        isReadOnly = true
        readOnlyReason = ", since it keeps a history and NSPersistentHistoryTrackingKey is not set"
    }
}

extension SQLSchema {
    /// The names of the entities with objects in the store.
    fileprivate var names: Set<String> { Set(mappings.compactMap { $0?.layout.name }) }
}
