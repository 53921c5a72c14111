import CoreDataModel
import Foundation
import PostgresConnection
import SQLGeneration
import StoreEngine

/// Reads and writes a store in a schema of a PostgreSQL database.
///
/// The connection and everything else here is confined to the caller: a coordinator calls it under its lock.
package final class PostgresEngine: OpenableEngine {
    let facts: StoreFacts
    private(set) var model: NSManagedObjectModel?
    private(set) var opened: OpenDatabase?
    var readers = PinnedReaders()
    var listener: NewsListener?
    package var readGeneration: AnyObject?

    /// Where the store is, where the facts do not say it.
    private let givenPlace: StorePlace?

    /// - Parameters:
    ///   - facts: where the store is, and how it is to be opened.
    ///   - place: where it is in fact; nil for what the facts say.
    package init(_ facts: StoreFacts, at place: StorePlace? = nil) { (self.facts, givenPlace) = (facts, place) }

    /// Where the store is.
    package var url: URL? { facts.url }

    /// How often the server was asked, for those who count.
    package var roundTrips: Int { opened?.connection.roundTrips ?? 0 }

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
        let settings = StoreSettings(facts.options)
        let isPooled = StoreSettings.flag(facts.options, NSPostgreSQLPooledOption)
        let opening = try DatabaseOpening(place, settings, isPooled: isPooled)
        let layout = try model.compiledLayout()
        let names = entityNames(in: model)
        var stored = try opening.stored()
        if stored == nil {
            guard !facts.isReadOnly else {
                throw StoreError.make(
                    CoreDataErrorCode.persistentStoreOpen,
                    "“\(place.name)” has no store, and one that is only read cannot be made.", url: place.shownURL)
            }
            let schema = SQLSchema(layout: layout, entityNames: names, naming: PostgresNaming.names)
            // What no store can compute is said before anything is made.
            _ = try DerivedColumn.all(in: schema)
            stored = try opening.create(
                schema, model: model,
                metadata: StoreMetadata.make(for: model, entityNames: names, type: PostgresFormat.type))
        }
        guard let stored else { return }
        let checked = try check(stored, model, names, opening, settings)
        let schema = SQLSchema(
            layout: layout, entityNames: checked, numbers: stored.numbers, naming: PostgresNaming.names)
        facts.identity.uuid = stored.metadata[NSStoreUUIDKey] as? String ?? facts.identity.uuid
        facts.metadata = stored.metadata
        if settings.tracksHistory, !stored.keepsHistory, !facts.isReadOnly { try opening.keepHistory() }
        opened = try OpenDatabase(
            place: place, schema: schema, identity: facts.identity, settings: settings, isPooled: isPooled,
            hasHistory: stored.keepsHistory || settings.tracksHistory, connection: opening.connection)
    }

    /// The entities of the store's configuration; nil for all.
    private func entityNames(in model: NSManagedObjectModel) -> Set<String>? {
        guard let entities = model.entities(forConfigurationName: facts.configurationName) else { return nil }
        let names = Set(entities.compactMap(\.name))
        return names.count == model.entities.count ? nil : names
    }

    /// Checks that the model fits the store.
    ///
    /// - Returns: the entities that the store holds; nil for all.
    /// - Throws: 134100 where it does not fit.
    private func check(
        _ stored: DatabaseOpening.StoredStore, _ model: NSManagedObjectModel, _ names: Set<String>?,
        _ opening: DatabaseOpening, _ settings: StoreSettings
    ) throws -> Set<String>? {
        let names = names.map { StoreCompatibility.withStoredSubentities($0, of: model, metadata: stored.metadata) }
        guard !settings.ignoresVersions else { return names }
        let entities = model.entities.filter { names?.contains($0.name ?? "") ?? true }
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
        opened = nil
    }

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
        let former = (opened, facts.url, facts.metadata, facts.identity.uuid)
        facts.url = url
        do {
            // The database must have a store already; none is made here.
            _ = try PostgresFormat.metadata(at: url)
            try open(model)
        } catch {
            (opened, facts.url, facts.metadata, facts.identity.uuid) = former
            throw error
        }
    }

    // MARK: Working

    /// What is open, or an error that says that nothing is.
    func current() throws -> OpenDatabase {
        if let opened { return opened }
        throw StoreError.make(
            CoreDataErrorCode.persistentStoreOperation,
            "The store in PostgreSQL is not open: it was not loaded, or was removed.", url: nil)
    }

    /// What is to be read: a generation that is pinned, or the store as it is.
    func readable() throws -> OpenDatabase { try readGeneration as? OpenDatabase ?? current() }

    func writing<Result>(_ body: (OpenDatabase) throws -> Result) throws -> Result {
        let store = try current()
        if facts.isReadOnly { throw PostgresStoreError.readOnly(store.place) }
        return try body(store)
    }
}
