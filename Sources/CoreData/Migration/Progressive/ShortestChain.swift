/// The shortest path over the versions of a model, by their indexes in a list. Pure.
struct ShortestChain {
    /// A step from one version to another.
    struct Hop: Hashable, Sendable {
        let from: Int
        let to: Int
    }

    /// How many versions there are.
    let count: Int
    /// Whether the list is in the order in which the versions were made, so that no step leads back.
    let isOrdered: Bool
    /// The steps that have mapping models.
    let mapped: Set<Hop>
    /// Whether a mapping can be inferred for a step. This is expensive, so it is only asked for steps on promising
    /// paths, and once.
    let canInfer: (Hop) -> Bool

    /// The steps of the shortest path, or `nil` if there is none.
    ///
    /// A mapping model specifies what must happen to objects between two versions, and an inferred step that bypasses
    /// it would not do that. So the path with the fewest such steps is used; among these, the one with the fewest
    /// steps; and among these, the one with the most mapping models.
    ///
    /// The search is A*: first the cost of the rest of the path is computed for each version, assuming that every step
    /// can be inferred; then steps are tried in the order of the lowest possible cost of a path over them. The direct
    /// step comes first.
    func hops(from start: Int, to end: Int) -> [Hop]? {
        guard start != end else { return [] }
        let remaining = costsIfAllCanBeInferred(to: end)
        var reached: [Int: (cost: Cost, hop: Hop?)] = [:]
        var candidates = CandidateQueue()
        func reach(_ version: Int, by hop: Hop?, at cost: Cost) {
            reached[version] = (cost, hop)
            for next in 0..<count where reached[next] == nil && isAllowed(version, next, end) {
                guard let rest = remaining[next] else { continue }
                let hop = Hop(from: version, to: next)
                candidates.insert(Candidate(estimate: cost + self.cost(of: hop) + rest, reached: cost, hop: hop))
            }
        }
        reach(start, by: nil, at: Cost())
        while let candidate = candidates.removeFirst() {
            let hop = candidate.hop
            guard reached[hop.to] == nil, mapped.contains(hop) || canInfer(hop) else { continue }
            reach(hop.to, by: hop, at: candidate.reached + cost(of: hop))
            if hop.to == end { break }
        }
        var hops: [Hop] = []
        var place = end
        while place != start {
            guard let hop = reached[place]?.hop else { return nil }
            hops.append(hop)
            place = hop.from
        }
        return hops.reversed()
    }

    private func isAllowed(_ from: Int, _ to: Int, _ end: Int) -> Bool {
        from != to && (!isOrdered || (from < to && to <= end))
    }

    /// The lowest possible cost from each version to the last one.
    private func costsIfAllCanBeInferred(to end: Int) -> [Int: Cost] {
        var best = [end: Cost()]
        var closed: Set<Int> = []
        while let next = best.filter({ !closed.contains($0.key) }).min(by: { ($0.value, $0.key) < ($1.value, $1.key) })
        {
            closed.insert(next.key)
            for version in 0..<count where !closed.contains(version) && isAllowed(version, next.key, end) {
                let total = next.value + cost(of: Hop(from: version, to: next.key))
                if best[version].map({ total < $0 }) ?? true { best[version] = total }
            }
        }
        return best
    }

    private func cost(of hop: Hop) -> Cost {
        if mapped.contains(hop) { return Cost(steps: 1) }
        let passed = mapped.lazy.filter { other in
            isOrdered ? hop.from <= other.from && other.to <= hop.to : other.from == hop.from || other.to == hop.to
        }
        return Cost(passedMappings: passed.count, steps: 1, inferred: 1)
    }
}

extension ShortestChain {
    /// The cost of a path; its parts are compared one after the other.
    private struct Cost: Comparable {
        var passedMappings = 0
        var steps = 0
        var inferred = 0

        static func < (first: Cost, second: Cost) -> Bool {
            (first.passedMappings, first.steps, first.inferred) < (second.passedMappings, second.steps, second.inferred)
        }

        static func + (first: Cost, second: Cost) -> Cost {
            Cost(
                passedMappings: first.passedMappings + second.passedMappings, steps: first.steps + second.steps,
                inferred: first.inferred + second.inferred)
        }
    }

    /// A step that may be on the path.
    private struct Candidate: Comparable {
        /// The lowest possible cost of the whole path.
        let estimate: Cost
        /// The cost of reaching the beginning of the step.
        let reached: Cost
        let hop: Hop

        /// Among equal costs, the path that is closer to its end comes first, and then the one over earlier versions.
        static func < (first: Candidate, second: Candidate) -> Bool {
            if first.estimate != second.estimate { return first.estimate < second.estimate }
            if first.reached != second.reached { return second.reached < first.reached }
            return (first.hop.from, first.hop.to) < (second.hop.from, second.hop.to)
        }
    }

    /// The candidates in a binary heap, the best one on top.
    private struct CandidateQueue {
        private var heap: [Candidate] = []

        mutating func insert(_ candidate: Candidate) {
            heap.append(candidate)
            var place = heap.count - 1
            while place > 0, heap[place] < heap[(place - 1) / 2] {
                heap.swapAt(place, (place - 1) / 2)
                place = (place - 1) / 2
            }
        }

        mutating func removeFirst() -> Candidate? {
            guard let first = heap.first, let last = heap.popLast() else { return nil }
            guard !heap.isEmpty else { return first }
            heap[0] = last
            var place = 0
            while true {
                let children = [2 * place + 1, 2 * place + 2].filter { $0 < heap.count }
                guard let least = children.min(by: { heap[$0] < heap[$1] }), heap[least] < heap[place] else { break }
                heap.swapAt(place, least)
                place = least
            }
            return first
        }
    }
}
