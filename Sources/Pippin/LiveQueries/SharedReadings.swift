import CoreData

/// What equal live queries of a manager read: once after each save that touches them, for all of them.
final class SharedReadings: Sendable {
    private let state = Locked(State())

    private struct State {
        var readings: [ReadingKey: WeakReading] = [:]
        /// At so many, those that nobody has any more are looked for: not each time, which many queries would feel.
        var limit = 64
    }

    private struct WeakReading: @unchecked Sendable {
        // @unchecked Sendable: under the lock only; what it refers to is Sendable.
        weak var reading: AnyObject?
    }

    /// The reading of a live query, which goes with the last query that has it.
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

/// What a live query asks: two with equal keys have equal states.
struct ReadingKey: Hashable, @unchecked Sendable {
    // @unchecked Sendable: predicates and sort descriptors do not change.
    private let model: ObjectIdentifier
    private let predicate: NSPredicate?
    private let order: [NSSortDescriptor]
    private let limit: Int?
    /// Texts that are equal and written in other bytes may select other rows.
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

    /// The state after a signal: the one that was read since, or is being read, or else one that is read now.
    ///
    /// - Parameters:
    ///   - signals: counts the signals. One that comes after a reading began may be of a save that the reading does not show.
    ///   - isFirst: whether the observation begins: it may know of a save that nobody was told of, so it reads for itself.
    ///   - read: reads the state, given the one that was read before. It is not cancelled with the observation that happens to be the first.
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
            // Detached: what the first observation is in the midst of is not the others'.
            let former = latest?.task
            let task = Task.detached(priority: Task.currentPriority) { try await read(try? former?.value) }
            latest = (began, task)
            return task
        }
        return try await task.value
    }
}
