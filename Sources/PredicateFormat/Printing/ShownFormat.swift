import Foundation

extension PredicateTree {
    /// The format string that `predicateFormat` shows: ``format``, except that UUIDs are shown without a cast.
    var shownFormat: String { format.withPlainUUIDs }
}

extension ExpressionTree {
    /// The text that the expression's description shows.
    var shownFormat: String { format.withPlainUUIDs }
}

extension String {
    /// The format string with UUIDs as Core Data shows them, although it cannot parse them: `id == E621E1F8-…` for `id
    /// == CAST("E621E1F8-…", "NSUUID")`. In a text within it, quotes are escaped, so that it is not taken for a cast.
    fileprivate var withPlainUUIDs: String {
        let (start, end, digits) = (#"CAST(""#, #"", "NSUUID")"#, 36)
        guard utf8.count >= start.utf8.count + digits, contains(end) else { return self }
        var shown = ""
        for (number, part) in components(separatedBy: start).enumerated() {
            if number == 0 {
                shown += part
            } else if part.dropFirst(digits).hasPrefix(end), !shown.hasSuffix("\\") {
                shown += part.prefix(digits) + part.dropFirst(digits + end.count)
            } else {
                shown += start + part
            }
        }
        return shown
    }
}

extension Value {
    /// The value as a format string spells it.
    package var format: String {
        switch self {
        case .null: "nil"
        case .integer(let value): String(value)
        case .double(let value): value.isFinite ? value.description : "CAST(\"\(value)\", \"NSNumber\")"
        case .decimal(let value): "CAST(\(value.stringValue.quoted), \"NSDecimalNumber\")"
        case .string(let value): value.quoted
        case .date(let value): "CAST(\(seconds(value)), \"NSDate\")"
        case .data(let value): "CAST(\"\(value.base64EncodedString())\", \"NSData\")"
        case .uuid(let value): "CAST(\"\(value.uuidString)\", \"NSUUID\")"
        case .url(let value): "CAST(\(value.absoluteString.quoted), \"NSURL\")"
        case .collection(let elements): "{\(elements.map(\.format).joined(separator: ", "))}"
        case .object(let reference): String(describing: reference.object)
        }
    }

    /// Like ``format``, with whole numbers without a fraction.
    var formatInComparison: String {
        switch self {
        case .double(let value) where value == value.rounded() && abs(value) < 1e15:
            value.sign == .minus && value == 0 ? "-0.0" : String(Int64(value))
        case .collection(let elements): "{\(elements.map(\.formatInComparison).joined(separator: ", "))}"
        default: format
        }
    }

    /// Six digits after the point, as Core Data prints dates, or more if necessary.
    private func seconds(_ date: Date) -> String {
        let seconds = date.timeIntervalSinceReferenceDate
        let text = String(format: "%.6f", seconds)
        return Double(text) == seconds ? text : seconds.description
    }
}

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
