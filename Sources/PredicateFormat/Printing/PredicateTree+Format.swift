import CompactCollections

extension PredicateTree {
    /// The predicate as a format string, in Core Data's spelling. Parsing it gives an equal tree, unless it contains
    /// objects or code, which no string can express.
    package var format: String {
        switch self {
        case .constant(let value): value ? "TRUEPREDICATE" : "FALSEPREDICATE"
        case .comparison(let comparison): comparison.format
        case .and(let parts): parts.isEmpty ? "TRUEPREDICATE" : join(parts, "AND")
        case .or(let parts): parts.isEmpty ? "FALSEPREDICATE" : join(parts, "OR")
        case .not(let part): "NOT \(part.formatAsPart)"
        }
    }

    private func join(_ parts: [PredicateTree], _ word: String) -> String {
        // A single part is written alone.
        parts.count == 1 ? parts[0].format : parts.map(\.formatAsPart).joined(separator: " \(word) ")
    }

    private var formatAsPart: String {
        switch self {
        case .and(let parts), .or(let parts): parts.isEmpty ? format : "(\(format))"
        case .not: "(\(format))"
        case .constant, .comparison: format
        }
    }
}

extension ComparisonTree {
    /// The comparison as a format string.
    package var format: String {
        let prefix =
            switch modifier {
            case .direct: ""
            case .all: "ALL "
            case .any: "ANY "
            }
        return "\(prefix)\(left.formatInComparison) \(comparison.format)\(options.format) \(right.formatInComparison)"
    }
}

extension ComparisonOperator {
    /// The operator in Core Data's spelling.
    package var format: String {
        switch self {
        case .lessThan: "<"
        case .lessThanOrEqualTo: "<="
        case .greaterThan: ">"
        case .greaterThanOrEqualTo: ">="
        case .equalTo: "=="
        case .notEqualTo: "!="
        case .matches: "MATCHES"
        case .like: "LIKE"
        case .beginsWith: "BEGINSWITH"
        case .endsWith: "ENDSWITH"
        case .in: "IN"
        case .contains: "CONTAINS"
        case .between: "BETWEEN"
        }
    }
}

extension StringOptions {
    /// The options in brackets, or nothing.
    package var format: String {
        let letters: [(StringOptions, String)] = [
            (.caseInsensitive, "c"), (.diacriticInsensitive, "d"), (.normalized, "n"), (.localeSensitive, "l"),
        ]
        let format = letters.filter { contains($0.0) }.map(\.1).joined()
        return format.isEmpty ? "" : "[\(format)]"
    }
}
