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
    /// Whether others were kept out before the preview began; nil without a preview.
    var wasLockedBeforePreview: Bool?
    var batch = BatchRun()
    /// Reserved keys that have not been used yet.
    var keys = KeyBlocks()
    var notifications = SaveNotifications()
    /// The full-text indexes of its entities.
    var searches = DatabaseSearches()
    /// Whether the database is known to have the table of notes.
    var hasNotes = false
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

/// What a writer knows of the number of saves to a store, by which it notices that others have saved.
struct SaveCount {
    /// The number of saves by this program's connection.
    private(set) var own: Int64 = 0
    /// The number of others' saves that the current work depends on; `nil` if it depends on none.
    var expectedOfOthers: Int64?

    /// The number of all saves that the store must have for the current work; `nil` if that does not matter.
    var expected: Int64? { expectedOfOthers.map { $0 &+ own } }

    mutating func noteOwn() { own &+= 1 }
}

extension OpenDatabase {
    /// The properties of a store that do not depend on the connection.
    struct Configuration {
        let place: StorePlace
        var schema: SQLSchema
        var identity: StoreIdentity
        let settings: StoreSettings
        /// Whether a pooler is in between, so that statements may not stay on the server; see
        /// ``NSPostgreSQLPooledOption``.
        var isPooled = false
        /// Whether changes are recorded in the history.
        var hasHistory = false
        /// Whether the history keeps what rows were before.
        var keepsFormerValues = false
        /// The number of migrations of the store when its schema was read.
        var generation: Int64 = 0
        /// Whether nothing is written, so that a standby suffices.
        var isReadOnly = false
    }

    var place: StorePlace { configuration.place }
    var schema: SQLSchema { configuration.schema }
    var identity: StoreIdentity { configuration.identity }
    var settings: StoreSettings { configuration.settings }
    var isPooled: Bool { configuration.isPooled }
    var hasHistory: Bool { configuration.hasHistory }
    var keepsFormerValues: Bool { configuration.keepsFormerValues }
    var generation: Int64 { configuration.generation }
    var isReadOnly: Bool { configuration.isReadOnly }
}

/// Keys that were taken from the sequences of tables and have not been used yet, so that not every new object asks the
/// server.
struct KeyBlocks {
    /// How many keys are reserved the first time, and how many at most per request: the number grows for callers that
    /// need many.
    private static let (first, most) = (32, 512)

    private var free: [String: [ClosedRange<Int64>]] = [:]
    private var sizes: [String: Int] = [:]
    /// The keys of a table that were requested from the server and not yet taken.
    var requested: (table: String, statement: StatementAhead)?

    /// How many keys of a table are to be reserved at least now.
    mutating func nextSize(_ table: String) -> Int {
        let size = sizes[table] ?? Self.first
        sizes[table] = min(size * 2, Self.most)
        return size
    }

    func count(_ table: String) -> Int { (free[table] ?? []).reduce(0) { $0 + $1.count } }

    /// Adds keys that follow the existing ones.
    mutating func add(_ range: ClosedRange<Int64>, _ table: String) {
        var ranges = free[table] ?? []
        if let last = ranges.last, last.upperBound + 1 == range.lowerBound {
            ranges[ranges.count - 1] = last.lowerBound...range.upperBound
        } else {
            ranges.append(range)
        }
        free[table] = ranges
    }

    /// Takes one key, if there is one.
    mutating func take(_ table: String) -> Int64? {
        guard let first = free[table]?.first else { return nil }
        if first.count == 1 {
            free[table]?.removeFirst()
        } else {
            free[table]?[0] = first.lowerBound + 1...first.upperBound
        }
        return first.lowerBound
    }

    /// Takes the given number of keys; fewer if there are not enough.
    mutating func take(_ count: Int, _ table: String) -> [Int64] {
        var keys: [Int64] = []
        keys.reserveCapacity(count)
        while keys.count < count, let first = free[table]?.first {
            let part = first.prefix(count - keys.count)
            keys += part
            if part.count == first.count {
                free[table]?.removeFirst()
            } else {
                free[table]?[0] = first.lowerBound + Int64(part.count)...first.upperBound
            }
        }
        return keys
    }

    /// Forgets the reserved keys of a table.
    mutating func removeAll(_ table: String) { free[table] = nil }
    mutating func removeAll() { (free, requested) = ([:], nil) }
}

extension OpenDatabase {
    /// Whether the error means that the server is gone, or is no longer the primary.
    func isServerLost(_ error: PostgresError) -> Bool {
        error.isConnectionFailure || error.isOnStandby || !connection.isUsable
    }

    /// Whether the work cannot move to another connection: a transaction is open that cannot be begun again, or one
    /// state is read that no other connection has.
    var isBoundToConnection: Bool { longTransaction != nil || isPinned || place.session != nil }

    /// Runs work that only reads. It is run again if the connection turns out to be lost, unless rows were handed out
    /// already.
    func reading<Result>(
        _ work: String, fallback: Int = CoreDataErrorCode.persistentStoreOperation, _ body: () throws -> Result
    ) throws -> Result {
        try run(work, fallback: fallback) {
            var losses = Losses(place.failover)
            while true {
                do { return try checkingGeneration(body) } catch let error as PostgresError {
                    guard isServerLost(error), !isBoundToConnection, !locksOutWriters else { throw error }
                    try reconnect(after: error, since: losses.wait(after: error))
                }
            }
        }
    }

    /// Runs work whose statements are each sent together with the question for the store's generation, so that nothing
    /// that was read from a migrated or replaced store is used. In a transaction they are sent alone.
    private func checkingGeneration<Result>(_ body: () throws -> Result) throws -> Result {
        let connection = connection
        // Work within such work is checked with it.
        guard connection.companion == nil else { return try body() }
        connection.companion = generationRequest
        defer { connection.companion = nil }
        let result = try body()
        if let answer = connection.companionAnswer { try checkGeneration(answer) }
        return result
    }

    /// Makes a new connection if the old one is lost.
    func reconnectIfNeeded() throws {
        guard !connection.isUsable, !isBoundToConnection else { return }
        try reconnect(
            after: PostgresError(state: PostgresError.connectionFailure, message: "the connection was lost"),
            since: .now)
    }

    /// Makes a new connection, to whichever server takes writes by then.
    ///
    /// - Throws: the latest error if there is no such server in time.
    func reconnect(after error: PostgresError, since start: ContinuousClock.Instant) throws {
        let recovery = Recovery(.none, deadline: place.failover.deadline)
        NSPostgreSQLMetricsReceiver.record(.serverLost(state: error.state))
        let (verdict, latest) = try RecoveryRun.run(recovery, from: error, since: start, connect: connectAnew)
        let elapsed = ContinuousClock.now - start
        guard verdict == .undone else {
            NSPostgreSQLMetricsReceiver.record(.serverNotFound(after: elapsed))
            throw latest
        }
        NSPostgreSQLMetricsReceiver.record(.serverFound(after: elapsed))
    }

    /// Makes a new connection, and refuses a former primary that has not noticed yet that it is one.
    func connectAnew() throws {
        let new = try DatabaseOpening.connect(place, settings, isPooled: isPooled)
        if place.failover.waitsWhenOpening, !isReadOnly {
            timeline = try ServerSearch.timeline(new, notBefore: timeline)
        }
        connection = new
        keys.removeAll()
        locksOutWriters = false
    }
}

/// What a batch request collects until the end of its transaction.
struct BatchRun {
    /// The changes for the store's history, and who made them.
    var history = HistoryRun()
    var origin = ChangeOrigin()
    /// The derived attributes that the batch affects; nil if there are none in the store.
    var derived: DerivedUpdate?
    /// The full-text indexes that it affects.
    var searched = SearchBatch()
}

/// The channel by which a process is notified of saves to its stores.
protocol SaveNotificationChannel: AnyObject, Sendable {
    /// The number under which the process was the first to listen to a store; nil if it was not the first.
    func identity(_ schema: String) -> Int32?

    /// Notes a save of this process, of which the server sends no notification.
    ///
    /// - Parameters:
    ///   - schema: the store's.
    ///   - sender: the number of the server's process.
    func noteOwnSave(_ schema: String, from sender: Int32)
}

/// How a store's saves are notified to programs that listen, this one included.
struct SaveNotifications {
    /// The channel by which this process is notified of saves, if it is.
    var channel: (any SaveNotificationChannel)?
    /// Whether the process's own listeners have yet to be notified of the current save.
    var mustNotifyOwnProcess = false
    /// The statement that notifies others of a save, once there was one.
    var statement: String?
}
