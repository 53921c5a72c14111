/// What is stored, now and after each save that changes it.
///
/// ```swift
/// for try await people in manager.observe(Person.self, where: \.age > 30) {
///     show(people)
/// }
/// ```
///
/// The first element is the state at the beginning; each further one differs from the one before. Several saves while
/// an element is being worked on make one element, with the newest state. Cancelling the task ends the loop; a store
/// that is removed (`destroy()`) ends it with ``PersistenceError/Code/notLoaded``. With `startOver()` it continues. It
/// ends without an error when the manager closes the store (`close()`).
public struct LiveQuery<State: Sendable>: AsyncSequence, Sendable {
    /// What is observed.
    public typealias Element = State

    let makeInterest: @Sendable () -> Interest
    let signals: @Sendable (Interest) -> AsyncStream<Void>
    let read: @Sendable (Interest) async throws -> Reading<State>

    /// Starts to observe.
    public func makeAsyncIterator() -> Iterator {
        // Listening begins before the first reading, so that no save is missed in between.
        let interest = makeInterest()
        return Iterator(query: self, interest: interest, signals: signals(interest).makeAsyncIterator())
    }

    /// The states of a live query, one after the other.
    public struct Iterator: AsyncIteratorProtocol {
        private let query: LiveQuery
        private let interest: Interest
        private var signals: AsyncStream<Void>.Iterator
        private var last: Reading<State>?

        init(query: LiveQuery, interest: Interest, signals: AsyncStream<Void>.Iterator) {
            self.query = query
            self.interest = interest
            self.signals = signals
        }

        /// The state at the beginning, then the next one that differs; nil once the task is cancelled, or the store is
        /// closed after the first state.
        ///
        /// - Throws: what fetching throws.
        public mutating func next() async throws -> State? { try await nextReading()?.state }

        /// The next state, with the way it was read; nil once the task is cancelled.
        mutating func nextReading() async throws -> Reading<State>? {
            var isFirst = last == nil
            while true {
                if !isFirst, await signals.next() == nil { return nil }
                isFirst = false
                guard !Task.isCancelled else { return nil }
                do {
                    interest.willRead()
                    let reading = try await query.read(interest)
                    interest.didRead(reading.state, keys: reading.keys)
                    let isSame = last.map(reading.isSame) ?? false
                    last = reading
                    if !isSame { return reading }
                } catch is LiveQueryPause {} catch is CancellationError where Task.isCancelled {
                    return nil
                } catch let error as PersistenceError where error.code == .closed && last != nil {
                    return nil
                }
            }
        }
    }
}

/// A state of a live query, and the way it was read.
struct Reading<State: Sendable>: Sendable {
    let state: State
    let mark: ReadingMark
    /// The primary keys of the rows, if the state is a list that is followed.
    var keys: ContiguousArray<Int64>?
    /// The former reading that this one was derived from, and the difference.
    var step: (former: ReadingMark, edit: ListEdit)?

    func isSame(as other: Reading) -> Bool {
        if mark === other.mark { return true }
        if let step, step.former === other.mark { return step.edit.isEmpty }
        return areEqual(other.state, state)
    }
}

/// Thrown if there is no state now. The next signal brings one.
struct LiveQueryPause: Error {}
