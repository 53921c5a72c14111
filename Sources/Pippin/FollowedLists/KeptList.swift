import Ordering

#if !canImport(ObjectiveC)
    import CoreData

    /// A list of models with the keys of their rows, as it was in one state of the stores.
    struct KeptList<Model: CoreModel>: Sendable {
        let models: [Model]
        /// The primary key of each model's row.
        let keys: ContiguousArray<Int64>
        let moment: StoresMoment
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
            _ former: KeptList<Model>, changed: Set<Int64>, found: [Found], at moment: StoresMoment
        ) throws -> (list: KeptList<Model>, edit: ListEdit)? {
            var rest = Dictionary(found.map { ($0.key, $0.model) }, uniquingKeysWith: { $1 })
            var replaced: [(place: Int, model: Model)] = []
            var leaving: [Int] = []
            var gone: [Int] = []
            var arrivals: [Arrival] = []
            for place in places(of: changed, in: former.keys) {
                guard let model = rest.removeValue(forKey: former.keys[place]) else {
                    leaving.append(place)
                    gone.append(place)
                    continue
                }
                let new = try values(model)
                guard let comparison = order.compare(try values(former.models[place]), new) else { return nil }
                if comparison == .orderedSame {
                    replaced.append((place, model))
                } else {
                    leaving.append(place)
                    arrivals.append(Arrival(key: former.keys[place], model: model, values: new, from: place))
                }
            }
            for (key, model) in rest.ordered(by: { $0.key < $1.key }) {
                arrivals.append(Arrival(key: key, model: model, values: try values(model), from: nil))
            }
            let areIdentifiersNew = Set(gone.map { former.models[$0].id })
                .isDisjoint(with: arrivals.lazy.filter { $0.from == nil }.map(\.model.id))
            guard areIdentifiersNew else { return nil }

            // The models after the last one of a limited list are unknown.
            let isCut = limit.map { former.models.count >= $0 } ?? false
            if isCut, let last = former.models.last {
                let boundary = try values(last)
                var known: [Arrival] = []
                for arrival in arrivals {
                    guard let comparison = order.compare(arrival.values, boundary) else { return nil }
                    if comparison != .orderedDescending {
                        known.append(arrival)
                    } else if let from = arrival.from {
                        gone.append(from)
                    }
                }
                arrivals = known
            }
            guard let sorted = inOrder(arrivals) else { return nil }

            var edit = ListEdit()
            let staying = former.models.count - leaving.count
            var insertionPlaces: [Int] = []
            for arrival in sorted {
                guard let place = try place(of: arrival, in: former, leaving, staying) else { return nil }
                insertionPlaces.append(place)
            }
            let count = staying + sorted.count
            if isCut, let limit, count < limit { return nil }
            let wanted = min(count, limit ?? count)
            // A model beyond the limit was there before, or never reaches the list.
            let arriving = sorted.indices.filter { insertionPlaces[$0] + $0 < wanted }
            let stayingOnes = wanted - arriving.count
            for place in stayingOnes..<staying { gone.append(Self.formerPlace(place, leaving)) }
            for index in sorted.indices where !arriving.contains(index) {
                if let from = sorted[index].from { gone.append(from) }
            }

            edit.removals = gone.sorted()
            var candidates: [(from: Int, to: Int)] = []
            for index in arriving {
                let to = insertionPlaces[index] + index
                guard let from = sorted[index].from else {
                    edit.insertions.append(to)
                    continue
                }
                // Texts that are equal but have different bytes are sorted differently, too.
                if !areEqual(former.models[from], sorted[index].model) { edit.updates.append(to) }
                let place = insertionPlaces[index]
                let before = place > 0 ? Self.formerPlace(place - 1, leaving) : -1
                let after = place < stayingOnes ? Self.formerPlace(place, leaving) : former.models.count
                if before < from && from < after {
                    candidates.append((from, to))
                } else {
                    edit.moves.append(.init(from: from, to: to))
                }
            }
            for (candidate, isInOrder) in zip(candidates, ascendingPart(of: candidates.map(\.from))) where !isInOrder {
                edit.moves.append(.init(from: candidate.from, to: candidate.to))
            }
            edit.moves = edit.moves.ordered { $0.to < $1.to }
            for (place, model) in replaced where !areEqual(former.models[place], model) {
                let rank = place - leaving.count { $0 < place }
                guard rank < stayingOnes else { continue }
                edit.updates.append(rank + arriving.count { insertionPlaces[$0] <= rank })
            }
            edit.updates.sort()
            if edit.isEmpty { return (KeptList(models: former.models, keys: former.keys, moment: moment), edit) }

            var (models, keys) = (former.models, former.keys)
            for (place, model) in replaced { models[place] = model }
            let arrived = arriving.map { (insertionPlaces[$0], sorted[$0]) }
            let isInPlace = leaving.isEmpty && arrived.isEmpty && stayingOnes == staying
            if !isInPlace {
                models = Self.merged(models, leaving, arrived.map { ($0, $1.model) }, count: wanted)
                keys = Self.merged(keys, leaving, arrived.map { ($0, $1.key) }, count: wanted)
            }
            return (KeptList(models: models, keys: keys, moment: moment), edit)
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
            return try? arrivals.ordered { one, other in
                guard let comparison = order.compare(one.values, other.values) else { throw Unordered() }
                return comparison == .orderedAscending
            }
        }

        /// The position among the staying models before which an arrival is inserted: after its equals. Nil if that is
        /// unknown.
        private func place(
            of arrival: Arrival, in former: KeptList<Model>, _ leaving: [Int], _ staying: Int
        ) throws -> Int? {
            guard !order.isEmpty else { return staying }
            var (low, high) = (0, staying)
            while low < high {
                let middle = (low + high) / 2
                let model = former.models[Self.formerPlace(middle, leaving)]
                guard let comparison = order.compare(arrival.values, try values(model)) else { return nil }
                if comparison == .orderedAscending { high = middle } else { low = middle + 1 }
            }
            return low
        }

        /// The place in the former list of one of the models that stay.
        private static func formerPlace(_ rank: Int, _ leaving: [Int]) -> Int {
            var place = rank
            for left in leaving where left <= place { place += 1 }
            return place
        }

        /// Elements with those at some places removed, and others inserted before some of those that stay. Slices of
        /// the former elements are copied one after the other.
        private static func merged<Elements: RangeReplaceableCollection & RandomAccessCollection>(
            _ elements: Elements, _ leaving: [Int], _ arrivals: [(Int, Elements.Element)], count: Int
        ) -> Elements where Elements.Index == Int {
            var merged = Elements()
            merged.reserveCapacity(count)
            var place = 0
            func copy(upTo end: Int) {
                var leaving = leaving[(leaving.firstIndex { $0 >= place } ?? leaving.count)...]
                while let left = leaving.first, left < end {
                    merged.append(contentsOf: elements[place..<left])
                    place = left + 1
                    leaving = leaving.dropFirst()
                }
                if place < end { merged.append(contentsOf: elements[place..<end]) }
                place = max(place, end)
            }
            for (rank, arrival) in arrivals {
                // Copies the staying elements that come before it.
                copy(upTo: rank == 0 ? 0 : formerPlace(rank - 1, leaving) + 1)
                merged.append(arrival)
            }
            let left = count - merged.count
            if left > 0 {
                let firstRank = place - leaving.count { $0 < place }
                copy(upTo: formerPlace(firstRank + left - 1, leaving) + 1)
            }
            return merged
        }
    }
#endif
