import CompactCollections

/// Gives each wanted item one of its candidates, and no candidate to two items. Pure.
///
/// Only what all possible assignments have in common is assigned; the rest is ambiguous.
struct Assignment {
    let matches: [ColumnMatching.Match]

    /// - Parameter candidates: the candidates of each wanted item.
    init(_ candidates: [[String]]) {
        var search = Search(candidates)
        search.run()
        if let common = search.common, !search.gaveUp {
            matches = zip(common, candidates).map { names, all in
                names.count == 1 ? .found(names.first ?? "") : .ambiguous(all.filter(names.contains))
            }
            return
        }
        // Not every item can have a candidate: a candidate is certain only if no other item wants it.
        var counts: [String: Int] = [:]
        for name in candidates.joined() { counts[name, default: 0] += 1 }
        matches = candidates.map { names in
            if names.isEmpty { return .missing }
            return names.count == 1 && counts[names[0]] == 1 ? .found(names[0]) : .ambiguous(names)
        }
    }

    /// Enumerates the assignments in which every wanted item gets a candidate.
    private struct Search {
        private let candidates: [[String]]
        /// The candidates that each item gets in some assignment; nil until one was found.
        private(set) var common: [Set<String>]?
        private(set) var gaveUp = false
        private var chosen: [String] = []
        private var steps = 0

        init(_ candidates: [[String]]) { self.candidates = candidates }

        mutating func run() {
            guard !gaveUp else { return }
            steps += 1
            if steps > 20_000 {
                gaveUp = true
                return
            }
            guard chosen.count < candidates.count else {
                let way = chosen.map { Set([$0]) }
                common = common.map { zip($0, way).map { $0.union($1) } } ?? way
                return
            }
            for name in candidates[chosen.count] where !chosen.contains(name) {
                chosen.append(name)
                run()
                chosen.removeLast()
            }
        }
    }
}
