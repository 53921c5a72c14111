import PostgresConnection
import StoreEngine

// Each transaction that writes begins by counting itself, where it finds the store as it should be. The count of saves is the sum of several
// rows, each program adding to one of them, so that programs do not wait for one another to count.
extension OpenDatabase {
    /// The two numbers of the lock that programs hold while they save: together, or one alone who decides by what it has read.
    private var lockNumbers: String { "747747, \(Self.lockNumber(of: place.schema))" }

    /// A number for a schema, the same in every program (FNV-1a).
    static func lockNumber(of schema: String) -> Int32 {
        Int32(bitPattern: schema.utf8.reduce(2_166_136_261 as UInt32) { ($0 ^ UInt32($1)) &* 16_777_619 })
    }

    /// Locks the store until the transaction ends, together with others who save, or against them.
    private func lock(alone: Bool) -> String {
        "SELECT pg_advisory_xact_lock\(alone ? "" : "_shared")(\(lockNumbers))"
    }

    /// Fails by dividing by zero where the store is another one than it should be; counts a save.
    private static let stamp = """
        WITH counted AS (UPDATE pippin.saves SET count = count + 1 WHERE schema_name = $1 AND slot = $2) \
        SELECT 1 / count(*) FROM pippin.stores WHERE schema_name = $1 AND generation = $3 AND ($4::bigint IS NULL OR \
        $4 = (SELECT sum(count)::bigint FROM pippin.saves WHERE schema_name = $1))
        """
    /// The same, and leaves the mark by which it can be told later whether the save came through; fails where somebody has asked already.
    private static let markingStamp = """
        WITH counted AS (UPDATE pippin.saves SET count = count + 1 WHERE schema_name = $1 AND slot = $2), \
        marked AS (\(SaveMark.claim("$1", "$5", "$6"))) \
        SELECT 1 / (count(*) * (SELECT count(*) FROM marked)) FROM pippin.stores WHERE schema_name = $1 AND generation = $3 \
        AND ($4::bigint IS NULL OR $4 = (SELECT sum(count)::bigint FROM pippin.saves WHERE schema_name = $1))
        """
    private static let sum = "SELECT sum(count)::bigint FROM pippin.saves WHERE schema_name = $1"
    private static let version = "SELECT generation FROM pippin.stores WHERE schema_name = $1"

    private var stampRequest: PostgresConnection.Request {
        var parameters = PostgresParameters()
        parameters.append(place.schema)
        // A pooler makes the number up, below zero, too.
        parameters.append(Int16(UInt32(bitPattern: connection.processID) % UInt32(BookkeepingTables.saveSlots)))
        parameters.append(generation)
        parameters.append(expectedChanges.map { $0 &+ ownSaves })
        guard let mark = writer?.next() else { return .init(Self.stamp, parameters) }
        parameters.append(mark.writer)
        parameters.append(mark.number)
        return .init(Self.markingStamp, parameters)
    }

    /// Keeps all others from saving until the transaction ends: for what changes more than rows.
    package static func lockAlone(_ place: StorePlace) -> String {
        "SELECT pg_advisory_xact_lock(747747, \(lockNumber(of: place.schema)))"
    }

    /// What a transaction that writes begins with. To be sent once, before anything else.
    func beginning() throws -> [PostgresConnection.Request] {
        if keepsOthersOut {
            keepsOthersOut = false
            if connection.isInTransaction { return [stampRequest] }
        }
        if isInLongTransaction { return [.init("SAVEPOINT pippin_save")] }
        let timeout = isPooled ? [settings.lockTimeout(local: true)] : []
        let texts =
            [connection.beginning()] + timeout + [lock(alone: expectedChanges != nil)]
        return texts.map { .init($0) } + [stampRequest]
    }

    /// Says what it means that a transaction could not begin.
    ///
    /// - Throws: `StructureChange`, or `UnexpectedChange`; the error itself where it is about something else.
    func explain(_ error: PostgresError) throws -> Never {
        guard error.state == "22012", error.statement == Self.stamp || error.statement == Self.markingStamp else {
            throw error
        }
        try checkGeneration()
        throw UnexpectedChange()
    }

    /// - Throws: `StructureChange` where the store was migrated, or is there no more.
    func checkGeneration() throws {
        let result = try connection.query(Self.version, schemaParameter)
        guard result.count == 1, result.integer(0, 0) == generation else { throw StructureChange() }
    }

    private var schemaParameter: PostgresParameters {
        var parameters = PostgresParameters()
        parameters.append(place.schema)
        return parameters
    }

    /// How often others have saved to the store.
    func changeCount() throws -> Int64 {
        try reading("read from") { try connection.query(Self.sum, schemaParameter).integer(0, 0) &- ownSaves }
    }

    /// Opens a transaction that writes nothing: others can read meanwhile, and not save. Nothing to do inside another one.
    func keepOthersOut() throws {
        try run("lock") {
            guard !connection.isInTransaction else { return }
            try connection.begin()
            do { try connection.execute(lock(alone: true)) } catch {
                try? connection.rollback()
                throw error
            }
            keepsOthersOut = true
        }
    }

    /// Ends the transaction that keeps others out; nothing happens where none does.
    func letOthersIn() {
        guard keepsOthersOut else { return }
        keepsOthersOut = false
        // Nothing was written in it.
        try? connection.rollback()
    }
}
