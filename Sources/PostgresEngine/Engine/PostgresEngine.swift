import CoreDataModel
import Foundation
import PostgresConnection
import SQLGeneration
import StoreEngine

/// Reads and writes a store in a schema of a PostgreSQL database.
///
/// The connection and the rest of the state are confined to the caller: a coordinator calls it under its lock.
package final class PostgresEngine: OpenableEngine {
    let facts: StoreFacts
    /// The settings from the options, which do not change.
    let settings: StoreSettings
    private(set) var model: NSManagedObjectModel?
    private(set) var opened: OpenDatabase?
    var readers = PinnedReaders()
    /// The limit on concurrently pinned generations.
    let generations: GenerationQueue
    var pool: ReaderPool?
    var standbys: StandbyPool?
    /// The log position that every read must include: that of required tokens and of the engine's own saves.
    var seen: NSPostgreSQLReadToken?
    /// How many of the engine's own saves `seen` covers.
    var seenSaves: Int64 = 0
    var listener: NotificationListener?
    var observation: (whileIdle: @Sendable (() -> Bool) -> Bool?, handler: @Sendable () -> Void)?
    package var readGeneration: AnyObject?
    package var expectedChanges: Int64?

    /// The location of the store, if the facts do not say it.
    private let givenPlace: StorePlace?

    /// - Parameters:
    ///   - facts: the location of the store, and how to open it.
    ///   - place: the actual location; nil for that of the facts.
    package init(_ facts: StoreFacts, at place: StorePlace? = nil) {
        (self.facts, givenPlace) = (facts, place)
        settings = StoreSettings(facts.options)
        generations = GenerationQueue(
            places: settings.maximumReaders, mostWaiting: GenerationLimits(facts.options).mostWaiting)
    }

    /// The location of the store.
    package var url: URL? { facts.url }

    /// The number of round trips, for measurements.
    package var roundTrips: Int { opened?.connection.roundTrips ?? 0 }

    package func isPlaced(at url: URL, _ options: [AnyHashable: Any]?) -> Bool? {
        guard let place = try? givenPlace ?? StorePlace(facts.url, facts.options),
            let other = try? StorePlace(url, options)
        else { return nil }
        return place.isSame(as: other)
    }

    // MARK: Opening and closing

    package func open(_ model: NSManagedObjectModel?) throws {
        self.model = model
        opened = nil
        let place = try givenPlace ?? StorePlace(facts.url, facts.options)
        guard let model else {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreOpen, "The store “\(place.name)” needs a coordinator with a model.",
                url: place.shownURL)
        }
        do { try open(place, model) } catch {
            throw PostgresStoreError.make(
                error, fallback: CoreDataErrorCode.persistentStoreOpen, work: "open the store", place: place)
        }
    }

    private func open(_ place: StorePlace, _ model: NSManagedObjectModel) throws {
        let isPooled = StoreSettings.flag(facts.options, NSPostgreSQLPooledOption)
        let opening = try DatabaseOpening(place, settings, isPooled: isPooled)
        try opening.checkEncoding()
        let layout = try model.compiledLayout()
        let names = model.entityNames(inConfiguration: facts.configurationName)
        var stored = try opening.stored()
        if stored == nil {
            guard !facts.isReadOnly else {
                throw StoreError.make(
                    CoreDataErrorCode.persistentStoreOpen,
                    "“\(place.name)” has no store, and one that is only read cannot be made.", url: place.shownURL)
            }
            let schema = SQLSchema(layout: layout, entityNames: names, naming: PostgresNaming.names(in: place.schema))
            // An expression that no store can compute is reported before anything is created.
            _ = try DerivedColumn.all(in: schema)
            try Partitioning.check(schema)
            stored = try opening.create(
                schema, model: model,
                metadata: StoreMetadata.make(for: model, entityNames: names, type: PostgresFormat.type))
        }
        guard let stored else { return }
        let checked = try check(stored, model, names, opening)
        let schema = SQLSchema(
            layout: layout, entityNames: checked, numbers: stored.numbers,
            naming: PostgresNaming.names(in: place.schema))
        let renamed = try opening.entities(namedOtherThanIn: schema, stored)
        guard renamed.isEmpty else { throw PostgresStoreError.otherNames(place, renamed) }
        facts.identity.uuid = stored.metadata[NSStoreUUIDKey] as? String ?? facts.identity.uuid
        facts.metadata = stored.metadata
        var generation = stored.generation
        if settings.tracksHistory, !stored.keepsHistory, !facts.isReadOnly {
            // Any other number means that the store was migrated meanwhile, which the first work on it notices.
            if let new = try opening.keepHistory(settings), new == generation &+ 1 { generation = new }
        }
        var configuration = OpenDatabase.Configuration(
            place: place, schema: schema, identity: facts.identity, settings: settings, isPooled: isPooled,
            hasHistory: !settings.leavesHistory && (stored.keepsHistory || settings.tracksHistory),
            generation: generation,
            isReadOnly: facts.isReadOnly)
        configuration.keepsFormerValues = try opening.keepsFormerValues(
            makesTable: settings.keepsFormerValues && !facts.isReadOnly)
        opened = try OpenDatabase(configuration, connection: opening.connection)
        opened?.searches.indexes = opening.searchIndexes(
            of: schema, generation: generation, isReadOnly: facts.isReadOnly)
        if !facts.isReadOnly, try opening.keepsMarks() { opened?.writer = SaveWriter() }
        if place.failover.waitsWhenOpening, !facts.isReadOnly {
            opened?.timeline = try ServerSearch.timeline(opening.connection)
        }
    }

    /// Checks that the model fits the store.
    ///
    /// - Returns: the entities that the store holds; nil for all.
    /// - Throws: 134100 if it does not fit.
    private func check(
        _ stored: DatabaseOpening.StoredStore, _ model: NSManagedObjectModel, _ names: Set<String>?,
        _ opening: DatabaseOpening
    ) throws -> Set<String>? {
        let names = names.map { StoreCompatibility.withStoredSubentities($0, of: model, metadata: stored.metadata) }
        guard !settings.ignoresVersions else { return names }
        let held = model.entities.filter { names?.contains($0.name ?? "") ?? true }
        let entities = StoredVersionHashes.compared(held, of: model, metadata: stored.metadata)
        let differences = try StoreCompatibility.differences(entities, metadata: stored.metadata) {
            try opening.cachedModel()
        }
        guard differences.isEmpty else {
            throw StoreCompatibility.error(
                differences, metadata: stored.metadata, url: opening.place.shownURL ?? URL(fileURLWithPath: "/"),
                model: entities, cached: try? opening.cachedModel())
        }
        return names
    }

    package func close() {
        listener?.cancel()
        listener = nil
        observation = nil
        readers.endAll()
        opened = nil
        pool = nil
        standbys = nil
    }

    package func endGenerations() { readers.endAll() }

    deinit { listener?.cancel() }

    package func saveMetadata() throws {
        let metadata = facts.metadata
        try writing { store in
            try store.run("write the metadata of", fallback: CoreDataErrorCode.persistentStoreSave) {
                try store.transaction { try MetadataWriting.write(metadata, store.place, store.connection) }
            }
        }
        facts.metadataAreChanged = false
    }

    package func relocate(to url: URL) throws {
        let schema = URLComponents(url: url, resolvingAgainstBaseURL: false)?.queryItems?.first { $0.name == "schema" }
        let fixed = facts.options?[NSPostgreSQLSchemaOption] as? String
        if facts.options?[NSPostgreSQLConnectionStringOption] != nil || schema != nil && fixed != nil {
            throw StoreError.unsupported(
                "being moved while its options say where it is", storeType: PostgresFormat.type, url: facts.url)
        }
        pool = nil
        standbys = nil
        let former = (opened, facts.url, facts.metadata, facts.identity.uuid)
        facts.url = url
        do {
            // The database must have a store already; none is created here.
            _ = try PostgresFormat.metadata(at: url, options: facts.options)
            try open(model)
            // What is pinned from now on, and what readings must see, is of the new database.
            readers = PinnedReaders()
            (seen, seenSaves) = (nil, 0)
            if let observation { observeChanges(whileIdle: observation.whileIdle, handler: observation.handler) }
        } catch {
            (opened, facts.url, facts.metadata, facts.identity.uuid) = former
            throw error
        }
    }

    // MARK: Working

    /// The open store, or an error if none is open.
    func current() throws -> OpenDatabase {
        if let opened { return opened }
        throw StoreError.make(
            CoreDataErrorCode.persistentStoreOperation,
            "The store in PostgreSQL is not open: it was not loaded, or was removed.", url: nil)
    }

    /// Runs work that reads the pinned generation, or else the current state of the store.
    func reading<Result>(_ body: (OpenDatabase) throws -> Result) throws -> Result {
        if let generation = readGeneration as? OpenDatabase {
            do { return try body(generation) } catch is StructureChange { throw migrated(generation.place, []) }
        }
        return try following(body)
    }

    /// Runs work that writes to the store.
    func writing<Result>(_ body: (OpenDatabase) throws -> Result) throws -> Result {
        try following { store in
            if facts.isReadOnly { throw PostgresStoreError.readOnly(store.place) }
            store.saves.expectedOfOthers = expectedChanges
            defer { store.saves.expectedOfOthers = nil }
            return try body(store)
        }
    }

    /// Runs work on the open store, again whenever another program has migrated the store and the model still fits it.
    func following<Result>(_ body: (OpenDatabase) throws -> Result) throws -> Result {
        while true {
            // Each iteration means that the store was migrated once more.
            do { return try body(current()) } catch is StructureChange { try adapt() }
        }
    }

    /// Adapts to a store that was migrated: goes on with it if the entities of the model are as they were.
    private func adapt() throws {
        let store = try current()
        guard let model else { return }
        let opening = DatabaseOpening(store.place, store.connection)
        func reading<Result>(_ body: () throws -> Result) throws -> Result {
            do { return try body() } catch {
                throw PostgresStoreError.make(
                    error, fallback: CoreDataErrorCode.persistentStoreOperation, work: "read from", place: store.place)
            }
        }
        let stored = try reading { try opening.stored() }
        guard let stored, facts.metadataAreChanged || stored.metadata[NSStoreUUIDKey] as? String == facts.identity.uuid
        else {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreOperation,
                "The store “\(store.place.name)” was \(stored == nil ? "destroyed" : "replaced by another one") while it was open. "
                    + "Nothing was read or changed.", url: store.place.shownURL,
                suggestion: "Open the store again.")
        }
        let names = Set(store.schema.mappings.compactMap { $0?.layout.name })
            .union(store.schema.outdated?.entities ?? [])
        var outdated: OutdatedEntities?
        if !settings.ignoresVersions {
            // Entities of the store that the model does not have belong to other programs.
            let differing = try StoreCompatibility.differences(
                model.entities.filter { names.contains($0.name ?? "") }, metadata: stored.metadata
            ) { try opening.cachedModel() }.filter(names.contains)
            if !differing.isEmpty {
                let all = try opening.cachedModel().map {
                    store.schema.layout.entities(connectedWith: Set(differing), in: $0)
                }
                outdated = OutdatedEntities(all ?? names, migrated(store.place, differing))
            }
            if let outdated, names.isSubset(of: outdated.entities) { throw outdated.error }
        }
        if !facts.metadataAreChanged { facts.metadata = stored.metadata }
        let schema = SQLSchema(
            layout: store.schema.layout, entityNames: names.subtracting(outdated?.entities ?? []),
            numbers: stored.numbers, naming: PostgresNaming.names(in: store.place.schema), outdated: outdated)
        let renamed = try reading { try opening.entities(namedOtherThanIn: schema, stored) }
        guard renamed.isEmpty else { throw migrated(store.place, renamed) }
        store.connection.forgetStatements()
        var configuration = store.configuration
        configuration.schema = schema
        configuration.identity = facts.identity
        configuration.hasHistory = !settings.leavesHistory && (stored.keepsHistory || settings.tracksHistory)
        configuration.generation = stored.generation
        opened = try OpenDatabase(configuration, connection: store.connection)
        opened?.searches.indexes = opening.searchIndexes(
            of: schema, generation: stored.generation, isReadOnly: facts.isReadOnly)
        opened?.saves = store.saves
        opened?.writer = store.writer
        opened?.writer?.isKnown = false
        opened?.timeline = store.timeline
        opened?.notifications.channel = store.notifications.channel
    }

    private func migrated(_ place: StorePlace, _ entities: [String]) -> NSError {
        let what = entities.isEmpty ? "" : ": they differ in \(entities.joined(separator: ", "))"
        return StoreError.make(
            CoreDataErrorCode.persistentStoreIncompatibleVersionHash,
            "The store “\(place.name)” was migrated to another version of its model while it was open\(what). Nothing was read or "
                + "changed.", url: place.shownURL,
            suggestion: "Open the store again, with the model that it has now.",
            userInfo: [
                "reason": "The model used to open the store is incompatible with the one used to create the store",
                "entities": entities,
            ])
    }
}

/// Stores in PostgreSQL databases.
package enum PostgresFormat: StoreFormat {
    package static let type = "PostgreSQL"

    package static func makeEngine(_ facts: StoreFacts) -> any OpenableEngine { PostgresEngine(facts) }

    package static func metadata(at url: URL, options: [AnyHashable: Any]?) throws -> [String: Any] {
        try working(url, options, "read the metadata of") { opening in
            guard let stored = try opening.stored() else { throw missing(opening.place) }
            return stored.metadata
        }
    }

    package static func setMetadata(_ metadata: [String: Any]?, at url: URL, options: [AnyHashable: Any]?) throws {
        try working(url, options, "write the metadata of") { opening in
            guard try opening.stored() != nil else { throw missing(opening.place) }
            try opening.connection.transaction {
                try MetadataWriting.write(metadata ?? [:], opening.place, opening.connection)
            }
        }
    }

    /// Removes a store's tables, and its entries in the bookkeeping tables. Other tables of its schema stay.
    package static func destroy(at url: URL, options: [AnyHashable: Any]?) throws {
        try working(url, options, "destroy") { try $0.destroy() }
    }

    package static func replace(at destination: URL, from source: URL, options: [AnyHashable: Any]?) throws {
        try replace(at: destination, from: source, options: options, sourceOptions: nil)
    }

    package static func replace(
        at destination: URL, from source: URL, options: [AnyHashable: Any]?, sourceOptions: [AnyHashable: Any]?
    ) throws {
        let (place, original) = (try StorePlace(destination, options), try StorePlace(source, sourceOptions))
        guard
            place.session != nil || original.target.description != place.target.description
                || original.schema != place.schema
        else { return }
        do {
            try DatabaseSession.run(place, StoreSettings(options), isPooled: isPooled(options)) { connection, _ in
                let opening = DatabaseOpening(place, connection)
                try opening.lock()
                try connection.execute(OpenDatabase.lockAlone(place))
                let grants = try opening.stored() == nil ? nil : TableGrants(place, connection)
                try opening.destroy(cascades: false)
                if original.session != nil || original.target.description == place.target.description {
                    try StoreDuplicate.make(of: original, at: place, from: connection, to: connection)
                } else {
                    let reader = try DatabaseOpening.connect(
                        original, StoreSettings(nil), isPooled: isPooled(options) || isPooled(sourceOptions))
                    let isThere = try DatabaseOpening(original, reader).stored() != nil
                    var locks = TableLocks(
                        isThere ? try TableGrants.tables(original, reader) : [], of: original, StoreSettings(options))
                    _ = try locks.begin(reader, [])
                    defer { try? reader.rollback() }
                    try StoreDuplicate.make(of: original, at: place, from: reader, to: connection)
                }
                for table in try TableGrants.tables(place, connection) { try grants?.grant(on: table) }
                try connection.execute(
                    "SELECT pg_notify('\(Bookkeeping.schema)', \(quotedText(place.schema)))")
            }
        } catch {
            throw PostgresStoreError.make(
                error, fallback: CoreDataErrorCode.persistentStoreOperation, work: "replace", place: place)
        }
    }

    /// Whether the options say that there is a connection pooler between the program and the server.
    package static func isPooled(_ options: [AnyHashable: Any]?) -> Bool {
        StoreSettings.flag(options, NSPostgreSQLPooledOption)
    }

    package static func missing(_ place: StorePlace) -> NSError {
        StoreError.make(
            CoreDataErrorCode.persistentStoreOpen, "There is no store in “\(place.name)”.", url: place.shownURL)
    }

    package static func working<Result>(
        _ url: URL, _ options: [AnyHashable: Any]?, _ work: String, _ body: (DatabaseOpening) throws -> Result
    ) throws -> Result {
        let place = try StorePlace(url, options)
        do {
            return try body(
                DatabaseOpening(place, StoreSettings(options), isPooled: isPooled(options)))
        } catch {
            throw PostgresStoreError.make(
                error, fallback: CoreDataErrorCode.persistentStoreOperation, work: work, place: place)
        }
    }
}
