import CoreDataModel
import Foundation
import SQLGeneration
import SQLiteConnection
import StoreEngine

/// An open store: the file, the schema, and what was prepared for each entity.
final class OpenStore {
    let file: StoreFile
    let schema: SQLSchema
    let identity: StoreIdentity
    let external: ExternalData
    /// Records which files of large values are being written or removed.
    let journal: FileJournal
    let derived: DerivedValues
    /// The persistent history; nil if the store keeps none.
    let history: HistoryWriter?
    /// Whether the store has the tables of a history. If this program does not record it, the store may only be read.
    let hasHistory: Bool
    /// Whether a save must look at the reports of triggers.
    let hasDerivedAttributes: Bool
    /// The triggers of derived attributes, if a transaction can compute their aggregates at its end; otherwise none.
    private(set) lazy var deferrableTriggers = (try? findDeferrableTriggers()) ?? []
    /// Whether a transaction collects the objects whose aggregates it computes at its end.
    var collectsAggregates = false
    /// SQLite's `schema_version` when the structure was last inspected.
    let structureVersion: Int64
    /// The statement that reads that number.
    var structureStatement: Statement?
    /// The statement that reads the number which changes with others' commits.
    var changeStatement: Statement?
    /// Whether a reading is in progress, which others join.
    var isReading = false
    /// Whether a transaction is open only to keep others from writing. The next writing transaction takes it over.
    var locksOutWriters = false
    /// Whether the journal is a write-ahead log; nil before it was first needed.
    var isLogged: Bool?
    /// The value that `changeCount()` must have for the next write; `nil` if any value will do.
    var expectedChanges: Int64?
    var fetches: [FetchKey: CachedFetch] = [:]
    /// The files of large values that the long transaction wrote or makes superfluous; nil without such a transaction.
    var filesOfLongTransaction: [ExternalFiles]?
    /// The indexes that the long transaction will create once the rows exist.
    var indexesOfLongTransaction: [IndexDefinition] = []
    /// The triggers that the long transaction will create once the rows exist.
    var triggersOfLongTransaction: [TriggerDefinition] = []
    /// The store as it is used again after the long transaction, if that writes derived attributes like others.
    var usualStore: OpenStore?
    /// Readers of former query generations, for use by others.
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

    /// The access that was prepared for an entity's rows.
    func access(_ entity: EntityLayout) throws -> EntityAccess {
        let index = entity.number - 1
        if accesses.indices.contains(index), let known = accesses[index] { return known }
        guard let mapping = schema.mapping(of: entity) else {
            try schema.checkCurrent(entity)
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

    /// Runs work on the connection, and converts SQLite's errors to Core Data's.
    func run<Result>(
        _ work: String, fallback: Int = CoreDataErrorCode.sqlite, _ body: () throws -> Result
    ) throws -> Result {
        try file.run(work, fallback: fallback, body)
    }
}
