/// The difference between two lists of models, by their identifiers: what a list view has to do.
///
/// Removals count from the former list, everything else is about the new one. A model that moved and changed is both a
/// move and an update.
public struct ListDifference<Model: CoreModel>: Sendable {
    /// A model, and its place in the new list.
    public struct Placed: Sendable {
        /// The place in the new list.
        public let index: Int
        /// The model.
        public let model: Model
    }

    /// A model that has another place among those that stayed.
    public struct Move: Sendable, Equatable {
        /// The place in the former list.
        public let from: Int
        /// The place in the new list.
        public let to: Int
    }

    /// The new list.
    public let models: [Model]
    /// The models that are new, in ascending places.
    public let insertions: [Placed]
    /// The places in the former list of the models that are gone, ascending.
    public let removals: [Int]
    /// The models that stayed and have another place among these.
    public let moves: [Move]
    /// The models that stayed and have other values, in ascending places.
    public let updates: [Placed]

    /// Whether both lists are the same.
    public var isEmpty: Bool { insertions.isEmpty && removals.isEmpty && moves.isEmpty && updates.isEmpty }

    /// The difference between two lists.
    ///
    /// - Parameters:
    ///   - former: the former list. No two models of a list share their identifier.
    ///   - models: the new list.
    public init(from former: [Model], to models: [Model]) {
        self.models = models
        let formerPlaces = Dictionary(former.enumerated().map { ($1.id, $0) }, uniquingKeysWith: { first, _ in first })
        let uids = Set(models.map(\.id))
        removals = former.indices.filter { !uids.contains(former[$0].id) }
        insertions = models.indices.filter { formerPlaces[models[$0].id] == nil }.map {
            Placed(index: $0, model: models[$0])
        }
        updates = models.indices.compactMap { index in
            guard let place = formerPlaces[models[index].id], !areEqual(former[place], models[index]) else {
                return nil
            }
            return Placed(index: index, model: models[index])
        }
        let stayed = models.indices.filter { formerPlaces[models[$0].id] != nil }
        let from = stayed.map { formerPlaces[models[$0].id] ?? 0 }
        moves = zip(zip(from, stayed), ascendingPart(of: from)).compactMap { place, isInOrder in
            isInOrder ? nil : Move(from: place.0, to: place.1)
        }
    }

    /// The difference that made a list what it is.
    init(_ edit: ListEdit, _ models: [Model]) {
        self.models = models
        removals = edit.removals
        insertions = edit.insertions.map { Placed(index: $0, model: models[$0]) }
        updates = edit.updates.map { Placed(index: $0, model: models[$0]) }
        moves = edit.moves.map { Move(from: $0.from, to: $0.to) }
    }
}

extension Observation {
    /// The same as differences: the first one from an empty list.
    public func differences<Model: CoreModel>() -> Differences<Model> where State == [Model] {
        Differences(observation: self)
    }

    /// How an observed list changes.
    public struct Differences<Model: CoreModel>: AsyncSequence, Sendable where State == [Model] {
        /// How the list became what it is.
        public typealias Element = ListDifference<Model>

        let observation: Observation<[Model]>

        /// Starts to observe.
        public func makeAsyncIterator() -> Iterator { Iterator(states: observation.makeAsyncIterator()) }

        /// The differences, one after the other.
        public struct Iterator: AsyncIteratorProtocol {
            var states: Observation<[Model]>.Iterator
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
