import PostgresConnection

/// Pairs of keys by the statement that writes them.
struct PairStatements {
    private struct Pairs {
        var sources: [Int64] = []
        var targets: [Int64] = []
    }

    private var pairs: [String: Pairs] = [:]
    private var removals: [String] = []
    private var additions: [String] = []

    mutating func add(_ sql: String, _ source: Int64, _ target: Int64, isRemoval: Bool = false) {
        if pairs[sql] == nil {
            if isRemoval { removals.append(sql) } else { additions.append(sql) }
        }
        pairs[sql, default: Pairs()].sources.append(source)
        pairs[sql, default: Pairs()].targets.append(target)
    }

    var requests: [PostgresConnection.Request] {
        (removals + additions).compactMap { sql in
            guard let list = pairs[sql] else { return nil }
            var parameters = PostgresParameters()
            parameters.append(array: list.sources)
            parameters.append(array: list.targets)
            return PostgresConnection.Request(sql, parameters)
        }
    }
}
