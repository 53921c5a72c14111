import CoreDataModel
import Foundation
import PostgresConnection
import PredicateFormat
import SQLGeneration
import StoreEngine

/// An open store: the connection, the schema, and what was prepared for each entity.
package final class OpenDatabase {
    let place: StorePlace
    let schema: SQLSchema
    let identity: StoreIdentity
    let settings: StoreSettings
    /// Whether statements may stay on the server; see ``NSPostgreSQLPooledOption``.
    let isPooled: Bool
    var connection: PostgresConnection
    /// Whether changes are noted in the history.
    let hasHistory: Bool
    /// How often the store had been migrated when it was looked at.
    let generation: Int64
    /// What ``changeCount()`` has to be for what is written; `nil` where that does not matter.
    var expectedChanges: Int64?
    /// How often this has saved.
    var ownSaves: Int64 = 0
    /// Who saves by this, and the mark of the latest attempt; `nil` where the store keeps no marks, or the role may not write them.
    var writer: SaveWriter?
    /// The timeline of the server, where another one could take its place.
    var timeline = ""
    /// Whether a transaction is open in which nothing was written yet, so that others wait.
    var keepsOthersOut = false
    /// How the properties of entities are numbered in the history.
    var knownProperties: [ObjectIdentifier: HistoryProperties] = [:]
    /// What a batch has done so far, and who.
    var batchHistory = HistoryRun()
    var batchOrigin = ChangeOrigin()
    /// What was made once for fetches and entities; readers of one store share it.
    let statements: StatementCache
    /// Keys that the server has handed out and nobody has used.
    var keys = KeyBlocks()
    /// Keys of a table that the server was asked for, and nobody has taken yet.
    var expectedKeys: (table: String, statement: StatementAhead)?
    /// How many cursors were opened.
    var cursors = 0
    /// Where the connection goes when nobody reads by it any more; nil for one that is not shared.
    private let giveBack: ((PostgresConnection) -> Void)?
    /// Whether nothing is written by this, so that a standby will do.
    let isReadOnly: Bool
    /// Whether this reads one state of the store, in a transaction that cannot be begun again.
    let isPinned: Bool
    /// Whether a transaction takes in all saves until it ends.
    var isInLongTransaction = false
    /// The indexes that the long transaction makes when the rows are there.
    var laterIndexes: [TableCreation.IndexStatement] = []
    /// The statements that lock the store, with others who save and against them.
    let lockTogether: String
    let lockAlone: String
    /// The statement that tells others of a save, once there was one.
    var telling: String?
    /// Where this process hears of what is saved, if it does.
    var news: (any SaveNews)?
    /// Whether the process's own listeners are yet to be told of what is being saved.
    var isUntold = false
    /// The attributes that are computed from others.
    let derivations: [DerivedColumn]
    /// Whether dates may be rounded.
    let hasDates: Bool

    init(
        place: StorePlace, schema: SQLSchema, identity: StoreIdentity, settings: StoreSettings, isPooled: Bool,
        hasHistory: Bool, generation: Int64, isReadOnly: Bool = false, isPinned: Bool = false,
        giveBack: ((PostgresConnection) -> Void)? = nil,
        statements: StatementCache = StatementCache(), connection: PostgresConnection
    ) throws {
        self.statements = statements
        self.generation = generation
        self.giveBack = giveBack
        self.isPinned = isPinned
        self.isReadOnly = isReadOnly
        self.hasHistory = hasHistory
        self.place = place
        self.schema = schema
        self.identity = identity
        self.settings = settings
        self.isPooled = isPooled
        self.connection = connection
        (lockTogether, lockAlone) = (Self.lock(place, alone: false), Self.lock(place, alone: true))
        hasDates = schema.layout.entities.contains { $0.attributeTypes.contains(.dateAttributeType) }
        derivations = try DerivedColumn.all(in: schema)
    }

    /// A store in a transaction of somebody else's, for what a migration does to its rows.
    package convenience init(
        _ place: StorePlace, _ schema: SQLSchema, within connection: PostgresConnection
    ) throws {
        try self.init(
            place: place, schema: schema, identity: StoreIdentity(uuid: ""), settings: StoreSettings(nil),
            isPooled: false, hasHistory: false, generation: 0, connection: connection)
    }

    deinit { giveBack?(connection) }

    var readingContext: ReadingContext { ReadingContext(schema: schema, identity: identity) }

    /// What was prepared for an entity's rows.
    func access(_ entity: EntityLayout) throws -> EntityAccess {
        let index = entity.number - 1
        if let known = statements.access(index) { return known }
        guard let mapping = schema.mapping(of: entity) else {
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreOperation,
                "The store “\(place.name)” does not hold objects of entity “\(entity.name)”.", url: place.shownURL)
        }
        let access = EntityAccess(mapping, readingContext)
        statements.add(access, at: index)
        return access
    }

    // MARK: The connection

    /// Runs work on the connection, and turns what PostgreSQL reports into Core Data's errors.
    func run<Result>(
        _ work: String, fallback: Int = CoreDataErrorCode.persistentStoreOperation, _ body: () throws -> Result
    ) throws -> Result {
        do {
            try reconnectIfNeeded()
            return try body()
        } catch {
            if let error = error as? PostgresError, error.isSyntaxOrTypeError || error.isOutdatedPlan {
                try checkAfterFailure()
            }
            throw PostgresStoreError.make(error, fallback: fallback, work: work, place: place)
        }
    }

    /// Statements that make no sense to the server any more are those of a store that was migrated.
    private func checkAfterFailure() throws {
        guard connection.isUsable, !connection.isInTransaction else { return }
        do { try checkGeneration() } catch let change as StructureChange { throw change } catch {}
    }

    /// Runs a closure whose statements all read one state of the store.
    func snapshot<Result>(_ body: () throws -> Result) throws -> Result {
        try connection.isInTransaction ? body() : connection.transaction(.snapshot, body)
    }

    // MARK: Statements

    /// Runs a generated statement.
    @discardableResult
    func query(
        _ fragment: SQLFragment, _ context: BindingContext = BindingContext(),
        given: [(inout PostgresParameters) -> Void] = []
    ) throws -> PostgresResult {
        let statement = fragment.postgres
        return try connection.query(
            statement.text, ParameterBinder.parameters(statement.bindings, context, given: given))
    }

    /// Runs a statement with arrays of keys.
    @discardableResult
    func query(_ sql: String, keys: [Int64]...) throws -> PostgresResult {
        var parameters = PostgresParameters()
        for list in keys { parameters.append(array: list) }
        return try connection.query(sql, parameters)
    }

    /// The entity that a row's number says, if it is one of those that belong there.
    func entity(numbered number: Int64, kindOf entity: EntityLayout) -> EntityLayout {
        schema.entity(numbered: number, kindOf: entity) ?? entity
    }
}
