/// The difference between two lists of models, by their identifiers, for a list view.
///
/// Removals use indexes of the former list, everything else uses indexes of the new one. A model that moved and changed
/// is both a move and an update.
public struct ListDifference<Model: CoreModel>: Sendable {
    /// A model, and its index in the new list.
    public struct Placed: Sendable {
        /// The index in the new list.
        public let index: Int
        /// The model.
        public let model: Model
    }

    /// A model that stayed, and has another place relative to the others that stayed.
    public struct Move: Sendable, Equatable {
        /// The index in the former list.
        public let from: Int
        /// The index in the new list.
        public let to: Int
    }

    /// The new list.
    public let models: [Model]
    /// The new models, in ascending order of their indexes.
    public let insertions: [Placed]
    /// The indexes in the former list of the removed models, ascending.
    public let removals: [Int]
    /// The models that stayed, and have another place relative to each other.
    public let moves: [Move]
    /// The models that stayed and have new values, in ascending order of their indexes.
    public let updates: [Placed]

    /// Whether both lists are equal.
    public var isEmpty: Bool { insertions.isEmpty && removals.isEmpty && moves.isEmpty && updates.isEmpty }

    /// The difference between two lists.
    ///
    /// - Parameters:
    ///   - former: the former list. No two models of a list have the same identifier.
    ///   - models: the new list.
    public init(from former: [Model], to models: [Model]) {
        self.models = models
        let (formerKeys, keys) = (former.map { Model.listKey(of: $0.id) }, models.map { Model.listKey(of: $0.id) })
        let formerPlaces = Dictionary(zip(formerKeys, former.indices), uniquingKeysWith: { first, _ in first })
        let present = Set(keys)
        removals = former.indices.filter { !present.contains(formerKeys[$0]) }
        // By place in the new list, the place in the former one.
        let origins = keys.map { formerPlaces[$0] }
        insertions = models.indices.filter { origins[$0] == nil }.map { Placed(index: $0, model: models[$0]) }
        updates = models.indices.compactMap { index in
            guard let place = origins[index], !areEqual(former[place], models[index]) else { return nil }
            return Placed(index: index, model: models[index])
        }
        let stayed = models.indices.filter { origins[$0] != nil }
        let from = origins.compactMap(\.self)
        moves = zip(zip(from, stayed), ascendingPart(of: from)).compactMap { place, isInOrder in
            isInOrder ? nil : Move(from: place.0, to: place.1)
        }
    }

    /// The difference of an edit that led to a list.
    init(_ edit: ListEdit, _ models: [Model]) {
        self.models = models
        removals = edit.removals
        insertions = edit.insertions.map { Placed(index: $0, model: models[$0]) }
        updates = edit.updates.map { Placed(index: $0, model: models[$0]) }
        moves = edit.moves.map { Move(from: $0.from, to: $0.to) }
    }
}

extension LiveQuery {
    /// The observed lists as differences; the first one is from an empty list.
    public func differences<Model: CoreModel>() -> Differences<Model> where State == [Model] {
        Differences(query: self)
    }

    /// How an observed list changes.
    public struct Differences<Model: CoreModel>: AsyncSequence, Sendable where State == [Model] {
        /// The difference between a list and the one before.
        public typealias Element = ListDifference<Model>

        let query: LiveQuery<[Model]>

        /// Starts to observe.
        public func makeAsyncIterator() -> Iterator { Iterator(states: query.makeAsyncIterator()) }

        /// The differences, one after the other.
        public struct Iterator: AsyncIteratorProtocol {
            var states: LiveQuery<[Model]>.Iterator
            var former: Reading<[Model]>?

            /// The next difference; nil once the task is cancelled.
            ///
            /// - Throws: what fetching throws.
            public mutating func next() async throws -> ListDifference<Model>? {
                guard let reading = try await states.nextReading() else { return nil }
                defer { former = reading }
                if let step = reading.step, step.former === former?.mark {
                    return ListDifference(step.edit, reading.state)
                }
                return ListDifference(from: former?.state ?? [], to: reading.state)
            }
        }
    }
}

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
