import PostgresConnection
import StoreEngine

// Each transaction that writes begins by counting itself, if it finds the store in the expected state. The count of
// saves is the sum of several rows, each program adding to one of them, so that programs do not wait for one another to
// count.
extension OpenDatabase {
    /// A number for a schema, the same in every program (FNV-1a).
    static func lockNumber(of schema: String) -> Int32 {
        Int32(bitPattern: schema.utf8.reduce(2_166_136_261 as UInt32) { ($0 ^ UInt32($1)) &* 16_777_619 })
    }

    /// Locks the store until the transaction ends: shared with other saves, or exclusively for a transaction that
    /// depends on what it has read.
    static func lock(_ place: StorePlace, alone: Bool) -> String {
        "SELECT pg_advisory_xact_lock\(alone ? "" : "_shared")(\(savingLock), \(lockNumber(of: place.schema)))"
    }
    static let savingLock = 747_747

    /// The statement that a save begins with: it counts the save, leaves the mark by which its outcome can be found out
    /// later, and fails by dividing by zero if the store is not in the expected state, or if the outcome of this mark
    /// has been asked for already.
    ///
    /// Each form contains only what it needs, so that the server makes one plan for all values.
    private static func stamp(mark: String?, expects: Bool) -> String {
        let marked = mark.map { ", marked AS (\($0))" } ?? ""
        let count = mark == nil ? "count(*)" : "(count(*) * (SELECT count(*) FROM marked))"
        let expected = expects ? " AND $\(mark == nil ? 4 : 6) = (\(sum))" : ""
        return """
            WITH counted AS (UPDATE pippin.saves SET count = count + 1 WHERE schema_name = $1 AND slot = $2)\(marked) \
            SELECT 1 / \(count) FROM pippin.stores WHERE schema_name = $1 AND generation = $3\(expected)
            """
    }
    private static let newMark = SaveMark.claim("$1", "$4", "$5")
    private static let knownMark = SaveMark.claimKnown("$1", "$4", "$5")
    /// By whether the save is marked, whether the mark's row exists, and whether the store must be as it was read.
    private static let stamps: [[String]] = [nil, newMark, knownMark].map { mark in
        [false, true].map { stamp(mark: mark, expects: $0) }
    }
    private static let sum = "SELECT sum(count)::bigint FROM pippin.saves WHERE schema_name = $1"
    private static let version = "SELECT generation FROM pippin.stores WHERE schema_name = $1"

    private var stampRequest: PostgresConnection.Request {
        var parameters = PostgresParameters()
        parameters.append(place.schema)
        // A pooler invents the number, which may be negative.
        parameters.append(Int16(UInt32(bitPattern: connection.processID) % UInt32(BookkeepingTables.saveSlots)))
        parameters.append(generation)
        let isKnown = writer?.isKnown ?? false
        let mark = writer?.next()
        if let mark {
            parameters.append(mark.writer)
            parameters.append(mark.number)
        }
        if let expected = saves.expected { parameters.append(expected) }
        let forms = Self.stamps[mark == nil ? 0 : isKnown ? 2 : 1]
        return .init(forms[saves.expected == nil ? 0 : 1], parameters)
    }

    /// Locks out all saves until the transaction ends, for changes of more than rows.
    package static func lockAlone(_ place: StorePlace) -> String { lock(place, alone: true) }

    /// The statements that begin a transaction that writes. To be sent once, before anything else.
    func beginning() throws -> [PostgresConnection.Request] {
        if locksOutWriters {
            locksOutWriters = false
            if connection.isInTransaction { return [stampRequest] }
        }
        if longTransaction != nil { return [.init("SAVEPOINT pippin_save")] }
        var requests = [PostgresConnection.Request(try connection.beginning())]
        requests.reserveCapacity(8)
        if isPooled { requests.append(.init(settings.lockTimeout(local: true))) }
        requests.append(.init(saves.expected == nil ? lockTogether : lockAlone))
        requests.append(stampRequest)
        return requests
    }

    /// Throws the error that explains why a transaction could not begin.
    ///
    /// - Throws: `StructureChange`, `UnexpectedChange`, or `SaveUndone` if it will begin the next time; the error
    ///   itself if it is about something else.
    func explain(_ error: PostgresError) throws -> Never {
        guard error.state == "22012", let statement = error.statement,
            let form = Self.stamps.firstIndex(where: { $0.contains(statement) })
        else { throw error }
        try checkGeneration()
        // The writer's row may be missing, as on a server that was restored.
        writer?.isKnown = false
        guard form == 2, statement == Self.stamps[form][0] else { throw UnexpectedChange() }
        throw SaveUndone(cause: error)
    }

    /// - Throws: `StructureChange` if the store was migrated, or no longer exists.
    func checkGeneration() throws { try checkGeneration(connection.query(Self.version, schemaParameter)) }

    /// The same with the answer to ``generationRequest``.
    func checkGeneration(_ result: PostgresResult) throws {
        guard result.count == 1, result.integer(0, 0) == generation else { throw StructureChange() }
    }

    /// Asks for the store's generation.
    func makeGenerationRequest() -> PostgresConnection.Request { .init(Self.version, schemaParameter) }

    /// Divides by zero if the store is of another generation: for a query that is sent together with it as one text,
    /// and whose tables the first statement locks.
    func generationGuard(of query: String) -> String {
        "SELECT FROM (\(query)) q LIMIT 0; SELECT 1 / count(*) FROM pippin.stores "
            + "WHERE schema_name = \(quotedText(place.schema)) AND generation = \(generation)"
    }

    /// Counts the saves to the store.
    var saveCountRequest: PostgresConnection.Request { .init(Self.sum, schemaParameter) }

    private var schemaParameter: PostgresParameters {
        var parameters = PostgresParameters()
        parameters.append(place.schema)
        return parameters
    }

    /// The number of saves to the store by other connections.
    func changeCount() throws -> Int64 {
        try reading("read from") { try connection.query(Self.sum, schemaParameter).integer(0, 0) &- saves.own }
    }

    /// Opens a transaction that writes nothing yet, and locks out other saves, but not reads. It does nothing inside
    /// another transaction.
    ///
    /// - Throws: `StructureChange` if the store was migrated, or no longer exists.
    func lockOutWriters() throws {
        try reading("lock") {
            guard !connection.isInTransaction else { return }
            var requests: [PostgresConnection.Request] = [
                .init(try connection.beginning()), .init(lockAlone), generationRequest,
            ]
            if isPooled { requests.insert(.init(settings.lockTimeout(local: true)), at: 1) }
            do { try checkGeneration(connection.pipeline(requests)[requests.count - 1]) } catch {
                try? connection.rollback()
                throw error
            }
            locksOutWriters = true
        }
    }

    /// Ends the transaction that keeps others out, if there is one.
    func readmitWriters() {
        guard locksOutWriters else { return }
        locksOutWriters = false
        // Nothing was written in it.
        try? connection.rollback()
    }
}
