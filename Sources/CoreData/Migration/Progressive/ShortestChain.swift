/// The shortest way over the versions of a model, by their places in a list. Pure.
struct ShortestChain {
    /// A step from one version to another.
    struct Hop: Hashable, Sendable {
        let from: Int
        let to: Int
    }

    /// How many versions there are.
    let count: Int
    /// Whether the list is in the order in which the versions were made: then no step leads back.
    let isOrdered: Bool
    /// The steps that there are mapping models for.
    let mapped: Set<Hop>
    /// Whether a mapping can be inferred for a step.
    let canInfer: (Hop) -> Bool

    /// The steps of the shortest way, or `nil` when there is none.
    ///
    /// A mapping model says what must happen to objects between two versions, and an inferred step that passes over it would
    /// not do it. So the way with the fewest such steps is taken, of these the one with the fewest steps, and of these the
    /// one with the most mapping models.
    func hops(from start: Int, to end: Int) -> [Hop]? {
        var best: [Int: (cost: Cost, hop: Hop?)] = [start: (Cost(), nil)]
        var open: Set<Int> = [start]
        var closed: Set<Int> = []
        while let next = open.min(by: { (best[$0]?.cost ?? Cost(), $0) < (best[$1]?.cost ?? Cost(), $1) }) {
            open.remove(next)
            closed.insert(next)
            if next == end { break }
            guard let reached = best[next]?.cost else { continue }
            for version in 0..<count where !closed.contains(version) && isAllowed(next, version, end) {
                let hop = Hop(from: next, to: version)
                guard let cost = cost(of: hop) else { continue }
                let total = reached + cost
                if let known = best[version]?.cost, known <= total { continue }
                best[version] = (total, hop)
                open.insert(version)
            }
        }
        var hops: [Hop] = []
        var place = end
        while place != start {
            guard let hop = best[place]?.hop else { return nil }
            hops.insert(hop, at: 0)
            place = hop.from
        }
        return hops
    }

    private func isAllowed(_ from: Int, _ to: Int, _ end: Int) -> Bool {
        !isOrdered || (from < to && to <= end)
    }

    private func cost(of hop: Hop) -> Cost? {
        if mapped.contains(hop) { return Cost(steps: 1) }
        guard canInfer(hop) else { return nil }
        let passed = mapped.filter { other in
            isOrdered ? hop.from <= other.from && other.to <= hop.to : other.from == hop.from || other.to == hop.to
        }
        return Cost(passedMappings: passed.count, steps: 1, inferred: 1)
    }
}

extension ShortestChain {
    /// What a way costs; the parts count one after the other.
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
}
