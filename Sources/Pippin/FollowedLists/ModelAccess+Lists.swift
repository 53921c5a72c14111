import StoreSession

/// A list that was read, and the way it was read.
struct ReadList<Model: CoreModel>: Sendable {
    let models: [Model]
    /// The primary keys of their rows; nil if the list must be read as a whole each time.
    var keys: ContiguousArray<Int64>?
    /// The difference from the former list; nil if it was not computed.
    var edit: ListEdit?
    /// The list that the next reading starts from.
    var kept: ListSnapshot<Model>?
}

extension ModelAccess {
    /// Reads a list. If it was read before, only the rows that were written since are read.
    ///
    /// A list is followed like this if its models are filtered and ordered by their own values. Changes from other
    /// programs, from batch requests and in saves of many rows are not known row by row, so the list is then read as a
    /// whole. The store is asked which models contain a changed model.
    ///
    /// - Parameters:
    ///   - request: the models, from the first one on.
    ///   - isPlain: whether the filter uses only attributes of the models, and these contain no models of their own
    ///     type.
    ///   - former: the list as it was before; nil for the first reading.
    /// - Returns: the list.
    /// - Throws: what fetching throws.
    /// - SQL: `SELECT … FROM Z<ENTITY> WHERE Z_PK IN (?, …) AND <filter>`, or what `fetch` runs
    func list<Model: CoreModel>(
        _ request: ModelRequest<Model>, isPlain: Bool, since former: ReadList<Model>?
    ) throws -> ReadList<Model> {
        let fetcher = try fetcher(Model.self)
        let selection = try fetcher.selection(request)
        return try PersistenceError.explaining(.readFailed) {
            if isPlain, request.limit.map({ $0 > 0 }) ?? true,
                let rows = try source() as? StoreRows, rows.isSetSource,
                let order = ListOrder(selection.sortDescriptors ?? [], of: fetcher.plan),
                let moment = try rows.moment()
            {
                let reader = ListReader(fetcher: fetcher, selection: selection, order: order, rows: rows)
                return try reader.read(since: former, moment)
            }
            return ReadList(models: try fetcher.models(selection, try source()))
        }
    }
}

/// Reads a list whose rows are known by their keys.
private struct ListReader<Model: CoreModel> {
    let fetcher: StructFetcher<Model>
    let selection: RecordSelection
    let order: ListOrder
    let rows: StoreRows

    func read(since former: ReadList<Model>?, _ moment: StoresMoment) throws -> ReadList<Model> {
        if let kept = former?.kept, let (list, edit) = try change(kept, moment) {
            return ReadList(models: list.models, keys: list.keys, edit: edit, kept: list)
        }
        let (models, keys) = try models(selection)
        guard let keys else { return ReadList(models: models) }
        // Asking turns the log of saves on.
        _ = rows.session.rowsSaved(between: moment, and: moment)
        return ReadList(
            models: models, keys: keys, kept: ListSnapshot(models: models, keys: keys, moment: moment))
    }

    private func change(
        _ kept: ListSnapshot<Model>, _ moment: StoresMoment
    ) throws -> (ListSnapshot<Model>, ListEdit)? {
        // With more changes than that, reading the whole list is faster.
        let most = max(16, kept.models.count / 8)
        guard
            let changed = try rows.keysSaved(
                of: fetcher.plan, fetcher.registry, between: kept.moment, and: moment, atMost: most),
            changed.count <= most
        else { return nil }
        var found: [ListFollower<Model>.Found] = []
        if !changed.isEmpty {
            guard let some = try rows.predicate(of: fetcher.plan, keys: changed) else { return nil }
            let filter = selection.predicate.map { NSCompoundPredicate(andPredicateWithSubpredicates: [some, $0]) }
            let (models, keys) = try models(RecordSelection(predicate: filter ?? some))
            guard let keys else { return nil }
            found = zip(keys, models).map { .init(key: $0, model: $1) }
        }
        let encoder = RecordEncoder(fetcher.plan.record)
        let follower = ListFollower<Model>(order: order, limit: selection.limit) {
            try encoder.encode($0).values
        }
        // A model that can be read but not encoded has no values by which to find its place.
        do { return try follower.list(kept, changed: changed, found: found, at: moment) } catch { return nil }
    }

    /// The models, and the primary keys of their rows; nil if these cannot be told apart.
    private func models(_ selection: RecordSelection) throws -> ([Model], ContiguousArray<Int64>?) {
        let plan = fetcher.plan
        guard !plan.relationships.isEmpty else {
            return try FlatReader(plan: plan, source: rows).modelsWithKeys(Model.self, selection)
        }
        let found = try rows.rows(of: plan, selection)
        let models = try fetcher.models(of: found, rows)
        return (models, models.count == found.count ? ContiguousArray(found.map(\.objectID.key)) : nil)
    }
}

/// Applies changes to a list. The work is proportional to the changes, except for one copy of the list.
struct ListFollower<Model: CoreModel> {
    let order: ListOrder
    /// The largest number of models, if there is a limit. The order then leaves no two of them equal.
    let limit: Int?
    /// The values of a model by field, as rows have them.
    let values: (Model) throws -> ContiguousArray<StoredValue>

    /// A model that the filter selects, and the key of its row.
    struct Found {
        let key: Int64
        let model: Model
    }

    private struct Arrival {
        let key: Int64
        let model: Model
        let values: ContiguousArray<StoredValue>
        /// The place in the former list; nil for a new one.
        let from: Int?
    }

    /// The list after rows have changed.
    ///
    /// - Parameters:
    ///   - former: the list before.
    ///   - changed: the keys of the rows that were written since; keys of other rows may be among them.
    ///   - found: those of them that the filter selects now.
    ///   - moment: the state of the stores that `found` was read from.
    /// - Returns: the list, and how it differs; nil if what is known does not determine it.
    /// - Throws: what extracting values from models throws.
    func list(
        _ former: ListSnapshot<Model>, changed: Set<Int64>, found: [Found], at moment: StoresMoment
    ) throws -> (list: ListSnapshot<Model>, edit: ListEdit)? {
        guard var outcomes = try self.outcomes(of: former, changed, found), hasNewIdentifiers(outcomes, in: former)
        else {
            return nil
        }
        // The models after the last one of a limited list are unknown.
        let isCut = limit.map { former.models.count >= $0 } ?? false
        if isCut, let last = former.models.last, try !leaveOut(&outcomes, after: last) { return nil }
        guard let arrivals = inOrder(outcomes.arrivals) else { return nil }
        let staying = StayingPlaces(of: former.models.count, without: outcomes.leaving)
        guard let ranks = try self.ranks(of: arrivals, in: former, staying) else { return nil }
        let count = staying.count + arrivals.count
        if isCut, let limit, count < limit { return nil }

        let wanted = min(count, limit ?? count)
        // A model beyond the limit was there before, or never reaches the list.
        let arriving = arrivals.indices.prefix { ranks[$0] + $0 < wanted }
        let steps = Steps(
            former: former, staying: staying, stayingCount: wanted - arriving.count, arrivals: arrivals[arriving],
            ranks: ranks[arriving])
        for rank in steps.stayingCount..<staying.count { outcomes.gone.append(staying.place(ofRank: rank)) }
        for arrival in arrivals[arriving.upperBound...] {
            if let from = arrival.from { outcomes.gone.append(from) }
        }
        let edit = steps.edit(outcomes)
        if edit.isEmpty { return (ListSnapshot(models: former.models, keys: former.keys, moment: moment), edit) }

        var (models, keys) = (former.models, former.keys)
        for (place, model) in outcomes.replaced { models[place] = model }
        if !steps.leavesPlaces {
            let arrived = zip(steps.ranks, steps.arrivals)
            models = staying.merge(models, with: arrived.lazy.map { ($0, $1.model) }, count: wanted)
            keys = staying.merge(keys, with: arrived.lazy.map { ($0, $1.key) }, count: wanted)
        }
        return (ListSnapshot(models: models, keys: keys, moment: moment), edit)
    }

    // MARK: What becomes of the rows that were written

    private struct RowOutcomes {
        /// The models that stay where they are, with other values.
        var replaced: [(place: Int, model: Model)] = []
        /// The places that leave: of those that are gone, and of those that move. Ascending.
        var leaving: [Int] = []
        var gone: [Int] = []
        var arrivals: [Arrival] = []
    }

    /// Nil if the order does not tell whether a model moves.
    private func outcomes(of former: ListSnapshot<Model>, _ changed: Set<Int64>, _ found: [Found]) throws
        -> RowOutcomes?
    {
        var outcomes = RowOutcomes()
        var rest = Dictionary(found.map { ($0.key, $0.model) }, uniquingKeysWith: { $1 })
        for place in places(of: changed, in: former.keys) {
            guard let model = rest.removeValue(forKey: former.keys[place]) else {
                outcomes.leaving.append(place)
                outcomes.gone.append(place)
                continue
            }
            let new = try values(model)
            guard let comparison = order.compare(try values(former.models[place]), new) else { return nil }
            if comparison == .orderedSame {
                outcomes.replaced.append((place, model))
            } else {
                outcomes.leaving.append(place)
                outcomes.arrivals.append(Arrival(key: former.keys[place], model: model, values: new, from: place))
            }
        }
        for (key, model) in rest.sorted(by: { $0.key < $1.key }) {
            outcomes.arrivals.append(Arrival(key: key, model: model, values: try values(model), from: nil))
        }
        return outcomes
    }

    /// Whether no new row has the identifier of one that is gone.
    private func hasNewIdentifiers(_ outcomes: RowOutcomes, in former: ListSnapshot<Model>) -> Bool {
        Set(outcomes.gone.map { former.models[$0].id })
            .isDisjoint(with: outcomes.arrivals.lazy.filter { $0.from == nil }.map(\.model.id))
    }

    /// Takes out what comes after the last model of a limited list. False if the order does not tell.
    private func leaveOut(_ outcomes: inout RowOutcomes, after last: Model) throws -> Bool {
        let boundary = try values(last)
        var known: [Arrival] = []
        for arrival in outcomes.arrivals {
            guard let comparison = order.compare(arrival.values, boundary) else { return false }
            if comparison != .orderedDescending {
                known.append(arrival)
            } else if let from = arrival.from {
                outcomes.gone.append(from)
            }
        }
        outcomes.arrivals = known
        return true
    }

    private func places(of changed: Set<Int64>, in keys: ContiguousArray<Int64>) -> [Int] {
        guard let least = changed.min(), let greatest = changed.max() else { return [] }
        var places: [Int] = []
        keys.withUnsafeBufferPointer { keys in
            for place in keys.indices where keys[place] >= least && keys[place] <= greatest {
                if changed.contains(keys[place]) { places.append(place) }
            }
        }
        return places
    }

    private struct Unordered: Error {}

    /// Arrivals in order. Equal ones stay in the order that they have; nil if that order is unknown.
    private func inOrder(_ arrivals: [Arrival]) -> [Arrival]? {
        guard !order.isEmpty else { return arrivals }
        return try? arrivals.sorted { one, other in
            guard let comparison = order.compare(one.values, other.values) else { throw Unordered() }
            return comparison == .orderedAscending
        }
    }

    /// For each arrival, the rank of the staying model that it comes before: after its equals. Nil if that is
    /// unknown.
    private func ranks(
        of arrivals: [Arrival], in former: ListSnapshot<Model>, _ staying: StayingPlaces
    ) throws -> [Int]? {
        guard !order.isEmpty else { return Array(repeating: staying.count, count: arrivals.count) }
        var ranks: [Int] = []
        ranks.reserveCapacity(arrivals.count)
        for arrival in arrivals {
            var isKnown = true
            let rank = try firstIndex(in: staying.count) { rank in
                let model = former.models[staying.place(ofRank: rank)]
                let comparison = order.compare(arrival.values, try values(model))
                if comparison == nil { isKnown = false }
                return comparison == .orderedAscending
            }
            guard isKnown else { return nil }
            ranks.append(rank)
        }
        return ranks
    }

    // MARK: The edit

    /// The models that stay, and those that arrive among them.
    private struct Steps {
        let former: ListSnapshot<Model>
        let staying: StayingPlaces
        /// How many of those that stay are in the list afterwards.
        let stayingCount: Int
        /// Those that are in the list afterwards, in order.
        let arrivals: ArraySlice<Arrival>
        /// The ranks of the staying models that they come before, ascending.
        let ranks: ArraySlice<Int>

        /// Whether every model stays at its place.
        var leavesPlaces: Bool { staying.leaving.isEmpty && arrivals.isEmpty && stayingCount == staying.count }

        func edit(_ outcomes: RowOutcomes) -> ListEdit {
            var edit = ListEdit()
            edit.removals = outcomes.gone.sorted()
            var candidates: [(from: Int, to: Int)] = []
            for (index, arrival) in zip(arrivals.indices, arrivals) {
                let to = ranks[index] + index
                guard let from = arrival.from else {
                    edit.insertions.append(to)
                    continue
                }
                // Texts that are equal but have different bytes are sorted differently, too.
                if !areEqual(former.models[from], arrival.model) { edit.updates.append(to) }
                if isBetweenNeighbours(from, ranks[index]) {
                    candidates.append((from, to))
                } else {
                    edit.moves.append(.init(from: from, to: to))
                }
            }
            let areInOrder = ascendingPart(of: candidates.map(\.from))
            for (candidate, isInOrder) in zip(candidates, areInOrder) where !isInOrder {
                edit.moves.append(.init(from: candidate.from, to: candidate.to))
            }
            edit.moves = edit.moves.sorted { $0.to < $1.to }
            for (place, model) in outcomes.replaced where !areEqual(former.models[place], model) {
                let rank = staying.rank(of: place)
                if rank < stayingCount { edit.updates.append(rank + countOfArrivals(upTo: rank)) }
            }
            edit.updates.sort()
            return edit
        }

        /// Whether a former place is between those of the models that stay around a rank.
        private func isBetweenNeighbours(_ from: Int, _ rank: Int) -> Bool {
            (rank == 0 || staying.place(ofRank: rank - 1) < from)
                && (rank >= stayingCount || from < staying.place(ofRank: rank))
        }

        /// How many models arrive before the staying model of a rank.
        private func countOfArrivals(upTo rank: Int) -> Int {
            firstIndex(in: ranks.count) { ranks[ranks.startIndex + $0] > rank }
        }
    }
}
