import CoreDataModel
import Foundation
import PostgresConnection
import PredicateFormat
import SQLGeneration
import StoreEngine

/// An open store: the connection, the schema, and the prepared statements of each entity.
package final class OpenDatabase {
    let configuration: Configuration
    var connection: PostgresConnection
    /// The writer, with the mark of its latest attempt; `nil` if the store keeps no marks, or the role may not write
    /// them.
    var writer: SaveWriter?
    /// The timeline of the server, if another one could take its place.
    var timeline = ""
    var saves = SaveCount()
    /// Whether a transaction is open that keeps others waiting, and in which nothing was written yet.
    var locksOutWriters = false
    /// The transaction that takes in all saves until it ends, if there is one.
    var longTransaction: LongTransaction?
    var batch = BatchRun()
    /// Reserved keys that have not been used yet.
    var keys = KeyBlocks()
    var notifications = SaveNotifications()
    /// Whether many new rows are copied; not where the role is subject to row-level security.
    var copiesRows = true
    /// The statements that were prepared for fetches and entities; the readers of one store share them.
    let statements: StatementCache
    /// How the properties of entities are numbered in the history.
    var knownProperties: [ObjectIdentifier: HistoryProperties] = [:]
    /// The number of cursors that were opened.
    var cursors = 0
    /// Whether this object reads one state of the store, in a transaction that cannot be repeated.
    let isPinned: Bool
    /// Whether the pinned state no longer exists, since its store was removed or destroyed.
    var hasEnded = false
    /// Returns the connection to its pool when this object is released; nil for one that is not shared.
    private let giveBack: ((PostgresConnection) -> Void)?
    /// The attributes that are computed from others.
    let derivations: [DerivedColumn]
    /// Whether dates may be rounded.
    let hasDates: Bool
    /// The statement that locks the store, shared with other saves, or exclusively.
    let (lockTogether, lockAlone): (String, String)
    /// Asks for the store's generation; see ``checkGeneration(_:)``.
    private(set) lazy var generationRequest = makeGenerationRequest()
    /// Locks the store's tables for reading one state of them.
    lazy var locks = TableLocks(schema, of: place, settings)

    init(
        _ configuration: Configuration, isPinned: Bool = false, giveBack: ((PostgresConnection) -> Void)? = nil,
        statements: StatementCache = StatementCache(), connection: PostgresConnection
    ) throws {
        self.configuration = configuration
        self.isPinned = isPinned
        self.giveBack = giveBack
        self.statements = statements
        self.connection = connection
        (lockTogether, lockAlone) = (
            Self.lock(configuration.place, alone: false), Self.lock(configuration.place, alone: true)
        )
        hasDates = configuration.schema.layout.entities.contains { $0.attributeTypes.contains(.dateAttributeType) }
        derivations = try DerivedColumn.all(in: configuration.schema)
    }

    /// A store in another's transaction, for changing its rows in a migration.
    package convenience init(
        _ place: StorePlace, _ schema: SQLSchema, within connection: PostgresConnection
    ) throws {
        let identity = StoreIdentity(uuid: "")
        try self.init(
            Configuration(place: place, schema: schema, identity: identity, settings: StoreSettings(nil)),
            connection: connection)
    }

    deinit { giveBack?(connection) }

    var readingContext: ReadingContext {
        var coding = TransformableCoding.Options()
        coding.keepsBytes = configuration.settings.isCopied
        return ReadingContext(schema: schema, identity: identity, coding: coding)
    }

    /// The prepared access to an entity's rows.
    func access(_ entity: EntityLayout) throws -> EntityAccess {
        let index = entity.number - 1
        if let known = statements.access(index) { return known }
        guard let mapping = schema.mapping(of: entity) else {
            try schema.checkCurrent(entity)
            throw StoreError.make(
                CoreDataErrorCode.persistentStoreOperation,
                "The store “\(place.name)” does not hold objects of entity “\(entity.name)”.", url: place.shownURL)
        }
        let access = EntityAccess(mapping, readingContext)
        statements.add(access, at: index)
        return access
    }

    // MARK: The connection

    /// Runs work on the connection, and turns PostgreSQL's errors into Core Data's.
    func run<Result>(
        _ work: String, fallback: Int = CoreDataErrorCode.persistentStoreOperation, _ body: () throws -> Result
    ) throws -> Result {
        if hasEnded { throw PostgresStoreError.endedGeneration(place) }
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

    /// A statement that the server suddenly refuses may be outdated, since the store was migrated.
    private func checkAfterFailure() throws {
        guard connection.isUsable, !connection.isInTransaction else { return }
        do { try checkGeneration() } catch let change as StructureChange { throw change } catch {}
    }

    /// Runs a closure whose statements all read one state of the store.
    ///
    /// - Throws: the closure's errors, and `StructureChange` if the store was migrated before the end: a snapshot has
    ///   no row of a table that was written anew.
    func snapshot<Result>(_ body: () throws -> Result) throws -> Result {
        guard !connection.isInTransaction else { return try body() }
        try connection.begin(.snapshot)
        // Nothing is written.
        let end = [PostgresConnection.Request("ROLLBACK"), generationRequest]
        let result: Result
        do { result = try body() } catch {
            if let answers = try? connection.pipeline(end) { try checkGeneration(answers[1]) }
            throw error
        }
        try checkGeneration(connection.pipeline(end)[1])
        return result
    }

    /// Begins a transaction that reads one state of the store. No other transaction alters its tables until it ends.
    ///
    /// - Throws: `StructureChange` if the store was migrated, or no longer exists.
    func beginSnapshot() throws {
        let answer = try locks.begin(connection, [generationRequest])[0]
        do { try checkGeneration(answer) } catch {
            try? connection.rollback()
            throw error
        }
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

    /// The entity with a row's entity number, if it is one of those that belong there.
    func entity(numbered number: Int64, kindOf entity: EntityLayout) -> EntityLayout {
        schema.entity(numbered: number, kindOf: entity) ?? entity
    }
}
