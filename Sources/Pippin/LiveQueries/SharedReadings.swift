import StoreSession

/// The readings that equal live queries of a manager share: one after each save that touches them, for all of them.
final class SharedReadings: Sendable {
    private let state = Locked(State())

    private struct State {
        var readings: [ReadingKey: WeakReading] = [:]
        /// The number of entries at which unused ones are removed. Doing so each time would be slow with many queries.
        var limit = 64
    }

    private struct WeakReading: @unchecked Sendable {
        // @unchecked Sendable: only accessed under the lock; the object that it refers to is Sendable.
        weak var reading: AnyObject?
    }

    /// The reading of a live query. It is released with the last query that uses it.
    func reading<Answer: Sendable>(_ key: ReadingKey, of type: Answer.Type) -> SharedReading<Answer> {
        state.withLock { state in
            if let known = state.readings[key]?.reading as? SharedReading<Answer> { return known }
            if state.readings.count >= state.limit {
                state.readings = state.readings.filter { $1.reading != nil }
                state.limit = max(64, 2 * state.readings.count)
            }
            let new = SharedReading<Answer>()
            state.readings[key] = WeakReading(reading: new)
            return new
        }
    }
}

/// What a live query asks for. Two queries with equal keys have equal states.
struct ReadingKey: Hashable, @unchecked Sendable {
    // @unchecked Sendable: predicates and sort descriptors do not change.
    private let model: ObjectIdentifier
    private let predicate: NSPredicate?
    private let order: [NSSortDescriptor]
    private let limit: Int?
    /// The bytes of the texts, since texts that are equal but have different bytes may select different rows.
    private let bytes: [UInt8]

    init(model: ObjectIdentifier, _ selection: RecordSelection) {
        self.model = model
        predicate = selection.predicate
        order = selection.sortDescriptors ?? []
        limit = selection.limit
        bytes = Array((predicate?.description ?? "").utf8)
    }

    static func == (one: ReadingKey, other: ReadingKey) -> Bool {
        one.model == other.model && one.limit == other.limit && one.bytes == other.bytes && one.order == other.order
            && one.predicate == other.predicate
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(model)
        hasher.combine(limit)
        hasher.combine(bytes)
    }
}

/// A state that several observations wait for.
final class SharedReading<State: Sendable>: Sendable {
    /// The latest reading, and the count of signals before it began.
    private let latest = Locked<(signals: Int, task: Task<State, any Error>)?>(nil)

    /// The state after a signal: from a reading that began after the signal, finished or not, or from a new one.
    ///
    /// - Parameters:
    ///   - signals: counts the signals. A signal after a reading began may be of a save that the reading does not show.
    ///   - isFirst: whether the observation has just begun. It may know of a save for which there was no signal, so it
    ///     reads for itself.
    ///   - read: reads the state, given the one that was read before. It is not cancelled with the observation that
    ///     happened to start it.
    /// - Returns: the state.
    /// - Throws: what `read` throws.
    func state(
        after signals: @Sendable () -> Int, isFirst: Bool,
        _ read: @escaping @Sendable (_ former: State?) async throws -> State
    ) async throws -> State {
        let wanted = signals()
        let task = latest.withLock { latest in
            if !isFirst, let latest, latest.signals >= wanted { return latest.task }
            let began = signals()
            // Detached: the task-local context of the first observation must not affect the others.
            let former = latest?.task
            let task = Task.detached(priority: Task.currentPriority) { try await read(try? former?.value) }
            latest = (began, task)
            return task
        }
        return try await task.value
    }
}
