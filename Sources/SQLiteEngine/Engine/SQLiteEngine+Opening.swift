import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

extension SQLiteEngine {
    /// Opens the store, creating it if it does not exist.
    ///
    /// - Throws: an `NSError` with Core Data's code: 134100 if the model does not fit, 259 for a damaged file, 513 for
    ///   a folder that cannot be written, 134090 for a store that another process keeps locked.
    func openFile(_ model: NSManagedObjectModel?) throws {
        guard let url = facts.url, url.isFileURL || isInMemory else {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreOpen,
                "An SQLite store needs a file URL, and got “\(facts.url?.withoutPassword.absoluteString ?? "nothing")”."
            )
        }
        guard let model else {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreOpen,
                "The store “\(url.lastPathComponent)” needs a coordinator with a model.",
                url: url)
        }
        let file =
            facts.isReadOnly && !isInMemory
            ? try StoreFile.openForReading(url, timeout: settings.timeout)
            : try StoreFile.open(url, mode: isInMemory ? .memory : .create, timeout: settings.timeout)
        let layout = try model.compiledLayout()
        let names = model.entityNames(inConfiguration: facts.configurationName)
        if try file.isEmpty() {
            if facts.isReadOnly { throw emptyStore(url) }
            let schema = SQLSchema(layout: layout, entityNames: names)
            let uuid = UUID().uuidString
            try file.create(
                schema, model: model, metadata: StoreMetadata.make(for: model, entityNames: names), uuid: uuid,
                pragmas: settings.pragmas, timeout: settings.timeout)
        }
        try open(file, model: model, layout: layout, names: names)
    }

    private func open(
        _ file: StoreFile, model: NSManagedObjectModel, layout: ModelLayout, names: Set<String>?
    ) throws {
        // Read before anything else, so that later changes by others are detected.
        let version = try file.run("open the store") { try file.connection.integer("PRAGMA schema_version") ?? 0 }
        let metadata = try file.metadata()
        let names = names.map { StoreCompatibility.withStoredSubentities($0, of: model, metadata: metadata) }
        let held = model.entities.filter { names?.contains($0.name ?? "") ?? true }
        let entities = StoredVersionHashes.compared(held, of: model, metadata: metadata)
        if !settings.ignoresVersions { try checkVersion(of: file, metadata, entities, in: model) }
        let catalog = try file.catalog()
        let schema = SQLSchema(
            layout: layout, entityNames: names, numbers: catalog.numbers(for: model), catalog: catalog
        )
        .leavingOutStrangers(settings.leavesOutStrangers)
        if !settings.ignoresVersions { try file.checkNumbers(of: schema) }

        // A store with a history must not be changed without recording it: Core Data opens it read-only.
        let hasHistory = catalog.tables["ATRANSACTION"] != nil && catalog.tables["ACHANGE"] != nil
        if hasHistory, !settings.tracksHistory, !settings.leavesHistory { facts.keepHistoryWhole() }
        if !facts.isReadOnly { try file.apply(settings.pragmas) }
        let history = try historyWriter(in: file, schema, hasTables: hasHistory)
        let derived = DerivedValues()
        try prepare(file, derived)
        var made = try makeMissingTriggers(of: schema, in: file, isOwn: metadata[StoreMetadata.ownHashesKey] != nil)
        if makeMissingSearchIndexes(of: schema, in: file, metadata) {
            made = try file.run("open the store") { try file.connection.integer("PRAGMA schema_version") }
        }
        var external =
            isInMemory
            ? .none : ExternalData(store: settings.externalDataStore ?? file.url, keepsBytes: settings.isCopied)
        external.budget = settings.largestRow.map(ValueBudget.init)
        // Leftovers that cannot be removed now are left for the next opening.
        if !facts.isReadOnly, !isInMemory { try? FileJournal.removeLeftovers(of: external, file.connection) }
        facts.identity.uuid = metadata[NSStoreUUIDKey] as? String ?? facts.identity.uuid
        facts.metadata = metadata
        fileInUse = facts.isReadOnly || isInMemory ? nil : OpenFile(file.url.path)
        // The model fits, so its hashes are those of the store's copy. They were computed for the comparison.
        if metadata[StoreMetadata.ownHashesKey] == nil, entities.contains(where: { $0.recordedVersionHash == nil }) {
            facts.metadata[VersionHash.ownHashesOfStoreKey] = Dictionary(
                entities.map { ($0.name ?? "", $0.ownVersionHash) }, uniquingKeysWith: { first, _ in first })
        }
        pageCache.beginAnew()
        let store = OpenStore(
            file: file, schema: schema, identity: facts.identity,
            external: external, derived: derived, history: history,
            hasHistory: hasHistory || history != nil, structureVersion: made ?? version)
        store.followSearchIndexes(isWritable: !facts.isReadOnly, metadata)
        opened = store
    }

    /// Checks that the model's entities are those of the store.
    ///
    /// - Throws: 134100 if they are not.
    private func checkVersion(
        of file: StoreFile, _ metadata: [String: Any], _ entities: [NSEntityDescription], in model: NSManagedObjectModel
    ) throws {
        let differences = try StoreCompatibility.differences(entities, metadata: metadata) {
            try file.model(orSupposed: model)
        }
        guard !differences.isEmpty else { return }
        guard metadata[NSStoreModelVersionHashesKey] != nil else {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreIncompatibleVersionHash,
                "The store “\(file.url.lastPathComponent)” has no version hashes in its metadata (Z_METADATA.Z_PLIST), so the "
                    + "version of its model is unknown.", url: file.url,
                suggestion: "Set NSIgnorePersistentStoreVersioningOption to open it with this model all the same.",
                userInfo: ["metadata": metadata, "entities": differences])
        }
        // A damaged copy has no further meaning here; the error is reported where the copy is needed.
        let cached = try? file.cachedModel()
        throw StoreCompatibility.error(
            differences, metadata: metadata, url: file.url, model: entities, cached: cached)
    }

    /// The writer of the history, and its tables; nil if no history is to be written.
    private func historyWriter(
        in file: StoreFile, _ schema: SQLSchema, hasTables: Bool
    ) throws -> HistoryWriter? {
        guard settings.tracksHistory, !facts.isReadOnly else { return nil }
        let keepsValues = try HistoryTables.prepare(
            in: file, schema: schema, hasTables: hasTables, keepsValues: settings.keepsFormerValues)
        return HistoryWriter(
            connection: file.connection, schema: schema, bundleIdentifier: Bundle.main.bundleIdentifier,
            author: settings.author, keepsValues: keepsValues)
    }

    /// Makes the triggers of derived attributes that a store to be written lacks. With a model that need not be the
    /// store's, nothing is made.
    ///
    /// - Returns: SQLite's number of the structure afterwards; nil if nothing was made.
    private func makeMissingTriggers(of schema: SQLSchema, in file: StoreFile, isOwn: Bool) throws -> Int64? {
        guard !facts.isReadOnly, !settings.ignoresVersions else { return nil }
        let work = "make the triggers of derived attributes of"
        return try file.run(work, fallback: CoreDataErrorCode.persistentStoreOpen) {
            try file.makeMissingTriggers(of: schema, isOwn: isOwn)
        }
    }

    /// Makes the tables of full-text indexes that a store to be written lacks; they are filled when something is
    /// searched. With a model that need not be the store's, nothing is made. Where they cannot be made, texts are
    /// compared one by one.
    ///
    /// - Returns: whether any was made.
    private func makeMissingSearchIndexes(
        of schema: SQLSchema, in file: StoreFile, _ metadata: [String: Any]
    ) -> Bool {
        guard !facts.isReadOnly, !settings.ignoresVersions else { return false }
        return SearchIndex.indexes(of: schema, metadata).reduce(false) {
            (try? $1.makeTables(file.connection)) ?? false || $0
        }
    }

    /// Registers the functions that statements call, and runs the maintenance that the options ask for.
    private func prepare(_ file: StoreFile, _ derived: DerivedValues) throws {
        try file.run("open the store", fallback: CoreDataErrorCode.persistentStoreOpen) {
            try StoreFunctions.register(on: file.connection, derived: derived)
            if settings.analyzes, !facts.isReadOnly { try file.connection.execute("ANALYZE") }
            if settings.vacuums, !facts.isReadOnly { try file.connection.execute("VACUUM") }
        }
    }

    private func emptyStore(_ url: URL) -> NSError {
        StoreError.make(
            CoreDataErrorCode.persistentStoreOpen,
            "“\(url.lastPathComponent)” is empty, and a store that is only read cannot be made.", url: url)
    }
}
