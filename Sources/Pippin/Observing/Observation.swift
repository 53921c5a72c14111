/// What is stored, now and after each save that changes it.
///
/// ```swift
/// for try await people in manager.observe(Person.self, where: \.age > 30) {
///     show(people)
/// }
/// ```
///
/// The first element is the state at the beginning; every further one differs from the one before it. Saves that come while an
/// element is being worked on are one: what comes next is the newest state. Cancelling the task ends the loop; a store that is taken
/// away (`destroy()`) ends it with ``PersistenceError/Code/notLoaded``. With `startOver()` it goes on.
public struct Observation<State: Sendable>: AsyncSequence, Sendable {
    /// What is observed.
    public typealias Element = State

    let makeInterest: @Sendable () -> Interest
    let signals: @Sendable (Interest) -> AsyncStream<Void>
    let state: @Sendable (Interest) async throws -> State
    let isSame: @Sendable (State, State) -> Bool

    /// Starts to observe.
    public func makeAsyncIterator() -> Iterator {
        // Listening begins before the first look, so that no save falls in between.
        let interest = makeInterest()
        return Iterator(observation: self, interest: interest, signals: signals(interest).makeAsyncIterator())
    }

    /// The states of an observation, one after the other.
    public struct Iterator: AsyncIteratorProtocol {
        private let observation: Observation
        private let interest: Interest
        private var signals: AsyncStream<Void>.Iterator
        private var last: State?

        init(observation: Observation, interest: Interest, signals: AsyncStream<Void>.Iterator) {
            self.observation = observation
            self.interest = interest
            self.signals = signals
        }

        /// The state at the beginning, then the next one that differs; nil once the task is cancelled.
        ///
        /// - Throws: what fetching throws.
        public mutating func next() async throws -> State? {
            var isFirst = last == nil
            while true {
                if !isFirst, await signals.next() == nil { return nil }
                isFirst = false
                guard !Task.isCancelled else { return nil }
                do {
                    interest.willRead()
                    let state = try await observation.state(interest)
                    interest.didRead(state)
                    if let last, observation.isSame(last, state) { continue }
                    last = state
                    return state
                } catch is ObservationPause {}
            }
        }
    }
}

/// There is no state now; the next signal brings one.
struct ObservationPause: Error {}

/// Whether two values are equal; values of a type that is not `Equatable` never are.
func areEqual<Value>(_ one: Value, _ other: Value) -> Bool {
    guard let one = one as? any Equatable else { return false }
    return equals(one, other)
}

private func equals<Value: Equatable>(_ one: Value, _ other: Any) -> Bool { (other as? Value) == one }
