package import StoreSession

/// What a step of a migration does with the rows of one entity.
package protocol EntityChange: Sendable {
    /// Sets the values of the new rows. All changes of a step do this before any of them connects rows.
    ///
    /// - Throws: an error that ends the migration.
    func change(_ entity: ChangedEntity) throws

    /// Connects the new rows, once all of them have their values.
    ///
    /// - Throws: an error that ends the migration.
    func connect(_ entity: ChangedEntity) throws
}

extension EntityChange {
    package func connect(_ entity: ChangedEntity) throws {}
}

/// An entity that a step changes: its rows as they were, and the rows that they have become, which have the same keys.
package struct ChangedEntity {
    /// The store before the step, which is only read.
    package let source: StoreSession
    /// The store after the step. Everything that can be inferred is there.
    package let destination: StoreSession
    package let old: EntityLayout
    package let new: EntityLayout
    /// The version before the step, and the one after it.
    let from: ModelVersion
    let to: ModelVersion
    private let progress: StepProgress
    /// The keys of the rows before the step: 8 bytes for each row.
    private let keys: ContiguousArray<Int64>

    /// How many rows are read, changed and written at once.
    private static let portion = 1000

    /// - Throws: ``PersistenceError/Code/unknownEntity``, and the errors of reading.
    init(
        _ names: (old: String, new: String), from source: (version: ModelVersion, session: StoreSession),
        to destination: (version: ModelVersion, session: StoreSession), _ progress: StepProgress
    ) throws {
        func layout(_ name: String, _ session: StoreSession) throws -> EntityLayout {
            let known = session.modelLayout.entityByName
            guard let layout = known[name] else { throw PersistenceError.unknownEntity(name, known: Array(known.keys)) }
            return layout
        }
        (self.source, self.destination) = (source.session, destination.session)
        (from, to) = (source.version, destination.version)
        (old, new) = (try layout(names.old, source.session), try layout(names.new, destination.session))
        self.progress = progress
        var plan = FetchPlan(entity: old)
        plan.includesSubentities = false
        var keys: ContiguousArray<Int64> = []
        try source.session.forEachRow(plan) { row in
            keys.append(row.key)
            return true
        }
        self.keys = keys
    }

    /// How many rows there are.
    var count: Int { keys.count }

    /// Hands out the IDs of the rows before the step, a portion at a time.
    ///
    /// - Parameter body: works with a portion.
    /// - Throws: what the body throws.
    package func forEachPortion(_ body: (_ identifiers: [NSManagedObjectID]) throws -> Void) throws {
        guard let store = source.onlyStore else { return }
        var start = 0
        while start < keys.count {
            let end = min(start + Self.portion, keys.count)
            try body(keys[start..<end].map { NSManagedObjectID(layout: old, store: store.identity, key: $0) })
            start = end
        }
    }

    /// The ID of what a row has become.
    package func successor(of identifier: NSManagedObjectID) -> NSManagedObjectID? {
        destination.onlyStore.map { NSManagedObjectID(layout: new, store: $0.identity, key: identifier.key) }
    }

    /// Does the work for one row, and counts it as done.
    ///
    /// - Parameters:
    ///   - name: what a person knows the row by.
    ///   - work: what is done for it.
    /// - Returns: what the work returns.
    /// - Throws: ``PersistenceError/Code/migrationFailed`` with the name and the reason for which the work failed, and
    ///   `CancellationError` if the migration was cancelled.
    package func changing<Result>(_ name: @autoclosure () -> String, _ work: () throws -> Result) throws -> Result {
        let result = try naming(name(), work)
        try progress.advance()
        return result
    }

    /// Does work for a row; its error names the row.
    func naming<Result>(_ name: @autoclosure () -> String, _ work: () throws -> Result) throws -> Result {
        do { return try work() } catch {
            throw PersistenceError.failedAt(
                entity: old.name, record: name(), from: from.name, to: to.name,
                reason: error is EncodingError ? error.encodingReason : error.message)
        }
    }

    /// The attribute by which a person knows a row; nil where no struct says so.
    package var identifierKey: String? { from.registry.plans.first { $0.name == old.name }?.uidKey }

    /// What a person knows a row by.
    func name(of row: Row) -> String {
        if let slot = identifierKey.flatMap(old.slotIndex(forName:)), let key = RecordKey(row.values[slot]) {
            return key.text
        }
        return row.objectID.uriRepresentation().absoluteString
    }
}

/// How far a step is, for a person who waits, and who may cancel it.
final class StepProgress {
    /// The units of a progress for one step.
    static let units: Int64 = 100

    private let progress: Progress?
    /// The units of the steps before.
    private let start: Int64
    /// How much there is to do, if that is known.
    var total = 0
    private var done = 0

    init(_ progress: Progress?, after start: Int64) { (self.progress, self.start) = (progress, start) }

    /// Counts a row as done.
    ///
    /// - Throws: `CancellationError` if the migration was cancelled.
    func advance() throws {
        guard let progress else { return }
        done += 1
        progress.completedUnitCount = start + min(Self.units, Int64(done) * Self.units / Int64(max(total, 1)))
        try check()
    }

    /// - Parameter part: how far the step is, from 0 to 1.
    /// - Throws: `CancellationError` if the migration was cancelled.
    func advance(to part: Float) throws {
        progress?.completedUnitCount = start + Int64(part * Float(Self.units))
        try check()
    }

    func finish() { progress?.completedUnitCount = start + Self.units }

    /// - Throws: `CancellationError` if the migration was cancelled.
    func check() throws {
        if progress?.isCancelled ?? false { throw CancellationError() }
    }
}
