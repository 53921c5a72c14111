import CompactCollections
import PredicateFormat

// SQLite compares each constant of a statement with all others while it compiles it, unless they are in a list: ten
// thousand of `id != 1 AND id != 2 …` took a second, and take milliseconds as `NOT id IN {1, 2, …}`.
extension PredicateSQL {
    /// The parts of an AND, with many exclusions of single values of one property combined into one exclusion of all
    /// these values.
    func gatheringExclusions(_ parts: [PredicateTree], in scope: SQLScope) throws -> [PredicateTree] {
        let fewest = 400
        guard parts.count >= fewest else { return parts }
        var excluded: [[String]: [ExpressionTree]] = [:]
        for part in parts {
            if let (path, value) = exclusion(part) { excluded[path, default: []].append(value) }
        }
        for (path, values) in excluded {
            guard values.count >= fewest, case .column = try scope.resolve(path, schema: schema) else {
                excluded[path] = nil
                continue
            }
        }
        var gathered: [PredicateTree] = []
        for part in parts {
            guard let (path, _) = exclusion(part), let values = excluded[path] else {
                gathered.append(part)
                continue
            }
            // The combined exclusion replaces the first one; the others are contained in it.
            if !values.isEmpty {
                gathered.append(.not(.comparison(ComparisonTree(.keyPath(path), .in, .aggregate(values)))))
            }
            excluded[path] = []
        }
        return gathered
    }

    /// The property and value of `age != 5`.
    private func exclusion(_ part: PredicateTree) -> (path: [String], value: ExpressionTree)? {
        guard case .comparison(let comparison) = part, comparison.comparison == .notEqualTo,
            comparison.modifier == .direct, comparison.options.isEmpty, case .keyPath(let path) = comparison.left,
            let value = constant(comparison.right)
        else { return nil }
        switch value {
        case .null, .collection, .object: return nil
        default: return (path, comparison.right)
        }
    }
}
