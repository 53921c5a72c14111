import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection

/// An open store: the file, the schema, and what was prepared for each entity.
final class OpenStore {
    let file: StoreFile
    let schema: SQLSchema
    let identity: StoreIdentity
    let external: ExternalData
    /// Which files of large values are being written or removed.
    let journal: FileJournal
    let derived: DerivedValues
    /// The persistent history; nil where the store keeps none.
    let history: HistoryWriter?
    /// Whether the store has the tables of a history, which it may only be read from.
    let hasHistory: Bool
    /// Whether saving has to look at what triggers reported.
    let hasDerivedAttributes: Bool
    /// SQLite's `schema_version`, when the structure was looked at last.
    let structureVersion: Int64
    /// Reads that number.
    var structureStatement: Statement?
    /// Reads the number that changes when others commit.
    var changeStatement: Statement?
    /// Whether a reading is going on, which others are parts of.
    var isReading = false
    /// Whether a transaction is open only to keep others from writing. The next one that writes takes it over.
    var keepsOthersOut = false
    /// Whether the journal is a write-ahead log; nil before anybody asked.
    var isLogged: Bool?
    /// What `changeCount()` has to be for what is written; `nil` where that does not matter.
    var expectedChanges: Int64?
    var fetches: [FetchKey: CachedFetch] = [:]
    /// The files of large values that the long transaction wrote or makes superfluous; nil where there is none.
    var filesOfLongTransaction: [ExternalFiles]?
    /// The indexes that the long transaction makes when the rows are there.
    var indexesOfLongTransaction: [IndexDefinition] = []
    /// What query generations were read with, and others may be.
    let idleReaders = IdleReaders()
    private var accesses: [EntityAccess?]

    var connection: Connection { file.connection }

    init(
        file: StoreFile, schema: SQLSchema, identity: StoreIdentity, external: ExternalData, derived: DerivedValues,
        history: HistoryWriter?, hasHistory: Bool, structureVersion: Int64
    ) {
        self.structureVersion = structureVersion
        self.hasHistory = hasHistory
        self.file = file
        self.schema = schema
        self.identity = identity
        self.derived = derived
        self.history = history
        self.external = external
        journal = FileJournal(external)
        hasDerivedAttributes = schema.layout.entities.contains { !$0.derivedSlots.isEmpty }
        accesses = Array(repeating: nil, count: schema.mappings.count)
    }

    /// What was prepared for an entity's rows.
    func access(_ entity: EntityLayout) throws -> EntityAccess {
        let index = entity.number - 1
        if accesses.indices.contains(index), let known = accesses[index] { return known }
        guard let mapping = schema.mapping(of: entity) else {
            if let finding = schema.finding(of: entity) {
                throw finding.error("Objects of “\(entity.name)” cannot be used", url: file.url)
            }
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreOperation,
                "The store “\(file.url.lastPathComponent)” does not hold objects of entity “\(entity.name)”.",
                url: file.url)
        }
        let access = EntityAccess(mapping, schema: schema, identity: identity, external: external)
        accesses[index] = access
        return access
    }

    /// Runs work on the connection, and turns what SQLite reports into Core Data's errors.
    func run<Result>(
        _ work: String, fallback: Int = CoreDataErrorCode.sqlite, _ body: () throws -> Result
    ) throws -> Result {
        try file.run(work, fallback: fallback, body)
    }
}
