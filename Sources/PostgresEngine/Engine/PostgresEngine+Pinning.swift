import CoreDataModel
import PostgresConnection
import StoreEngine

extension PostgresEngine {
    /// A generation of the current state of the store. All callers share one until something is written.
    ///
    /// - Parameter held: the place, if the caller has waited for one.
    /// - Returns: the generation; nil if the store cannot keep one.
    /// - Throws: ``GenerationsInUse`` if no place is free and the caller has not waited for one.
    func makeGeneration(holding held: GenerationPlace?) throws -> AnyObject? {
        let store = try current()
        guard store.longTransaction == nil else { return nil }
        var place = held?.queue === generations ? held : nil
        if store.place.failover.readsStandbys {
            let taken = try place ?? takePlace(store)
            if let reader = try standbyReader(store, taken) { return reader }
            place = taken
        }
        // Another server has its own transaction numbers.
        if let known = readers.latest(try store.currentSnapshot()), known.timeline == store.timeline { return known }
        let taken = try place ?? takePlace(store)
        let (reader, snapshot) = try store.pinnedReader(readerPool(store), in: taken)
        readers.add(reader, snapshot)
        return reader
    }

    private func takePlace(_ store: OpenDatabase) throws -> GenerationPlace {
        if let place = generations.takeNow() { return place }
        let (queue, limits, place, most) = (
            generations, GenerationLimits(facts.options), store.place, settings.maximumReaders
        )
        throw GenerationsInUse { end in
            let start = ContinuousClock.now
            do throws(GenerationQueue.Failure) {
                let place = try queue.wait(seconds: limits.seconds, end)
                NSPostgreSQLMetricsReceiver.record(.generationWaited(ContinuousClock.now - start))
                StoreMonitor.report(.wait(ContinuousClock.now - start))
                return place
            } catch {
                if error == .left { throw CancellationError() }
                NSPostgreSQLMetricsReceiver.record(.generationRefused(after: ContinuousClock.now - start))
                StoreMonitor.report(.wait(ContinuousClock.now - start))
                throw Self.noPlace(place, most, limits, error)
            }
        }
    }

    private static func noPlace(
        _ place: StorePlace, _ most: Int, _ limits: GenerationLimits, _ failure: GenerationQueue.Failure
    ) -> NSError {
        let reason =
            switch failure {
            case .full(let waiting): "\(waiting) wait for one to be let go"
            case .outOfTime, .left: "none was let go within \(limits.seconds) s"
            }
        return StoreError.make(
            CoreDataErrorCode.persistentStoreOperation,
            "The store “\(place.name)” has \(most) query generations pinned already, and \(reason); no more can be.",
            url: place.shownURL,
            suggestion: "Let contexts and tokens go, or raise NSPersistentStoreConnectionPoolMaxSizeKey.")
    }

    /// A generation on a standby, if one has what must be seen.
    private func standbyReader(_ store: OpenDatabase, _ place: GenerationPlace) throws -> OpenDatabase? {
        let pool =
            standbys
            ?? StandbyPool(
                store.place, store.settings, isPooled: store.isPooled, patience: store.place.failover.standbyPatience)
        standbys = pool
        guard let (connection, server) = pool.take(seeing: try readToken(store)) else { return nil }
        guard
            let (reader, snapshot) = try? store.pinnedReader(
                on: connection, in: place, giveBack: { pool.give($0, server) })
        else { return nil }
        readers.add(reader, "standby \(snapshot)")
        return reader
    }

    /// The token that a reading must see: everything that this has saved, and everything that was promised.
    ///
    /// - Returns: nil if there is nothing that must be seen.
    private func readToken(_ store: OpenDatabase) throws -> NSPostgreSQLReadToken? {
        guard store.saves.own != seenSaves else { return seen }
        let saves = store.saves.own
        // What is on the server's disk by now includes what was there when it answered to the save. If the server
        // answers without waiting for the disk, its latest position counts.
        let position = try store.reading("read from") {
            try store.connection.query(
                """
                SELECT CASE current_setting('synchronous_commit') WHEN 'off' THEN pg_current_wal_insert_lsn() \
                ELSE pg_current_wal_flush_lsn() END::text
                """
            ).string(0, 0)
        }
        if let token = NSPostgreSQLReadToken(text: position) { seen = max(seen ?? token, token) }
        seenSaves = saves
        return seen
    }

    /// A token that covers everything that this has saved.
    package func readToken() throws -> NSPostgreSQLReadToken? { try following { try readToken($0) } }

    /// Makes later generations see what a token promises.
    package func require(_ token: NSPostgreSQLReadToken) { seen = max(seen ?? token, token) }

    /// The connections that read without waiting for writing transactions.
    private func readerPool(_ store: OpenDatabase) -> ReaderPool {
        if let pool { return pool }
        let made = ReaderPool(store.place, store.settings, isPooled: store.isPooled)
        pool = made
        return made
    }

    /// The rows that a plan finds, in portions, from a connection of their own, so that rows can be written meanwhile.
    package func portions(_ plan: FetchPlan) throws -> any RowPortions {
        let store = try current()
        let generation = readGeneration as? OpenDatabase
        // A store in a transaction must read what it has itself written.
        if generation == nil, store.longTransaction != nil || store.locksOutWriters {
            return RowList(try fetchRows(plan))
        }
        let reader =
            try generation
            ?? following { store in
                guard store.place.session == nil else { return store }
                let reader = try store.pinnedReader(readerPool(store)).reader
                readers.note(reader)
                return reader
            }
        return try reader.cursor(plan) ?? RowList(try fetchRows(plan))
    }
}

/// Rows that have all been read already.
private final class RowList: RowPortions {
    private var rest: ArraySlice<Row>

    init(_ rows: ContiguousArray<Row>) { rest = Array(rows)[...] }

    func next(_ count: Int) -> ContiguousArray<Row> {
        defer { rest = rest.dropFirst(count) }
        return ContiguousArray(rest.prefix(count))
    }
}
