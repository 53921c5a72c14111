import Foundation

extension Value: Hashable {
    // Not inlined, here and below: the optimizer would copy both to every use of a set of values.
    @inline(never)
    package static func == (first: Value, second: Value) -> Bool {
        switch (first, second) {
        case (.integer(let a), .integer(let b)): return a == b
        case (.string(let a), .string(let b)): return a.isLiterallyEqual(to: b)
        case (.object(let a), .object(let b)): return a == b
        case (.null, .null): return true
        case (.double(let a), .double(let b)): return a == b
        case (.date(let a), .date(let b)): return a == b
        case (.uuid(let a), .uuid(let b)): return a == b
        case (.data(let a), .data(let b)): return a == b
        case (.url(let a), .url(let b)): return a == b
        case (.collection(let a), .collection(let b)): return a == b
        default: return first.comparison(with: second) == .orderedSame
        }
    }

    @inline(never)
    package func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0 as UInt8)
        // Equal numbers have the same hash, also across types, and so has a date with the number of its seconds.
        case .integer(let value): hasher.combine(Double(value))
        case .double(let value): hasher.combine(value)
        case .decimal(let value): hasher.combine(value.nearestDouble)
        case .string(let value): hasher.combine(value)
        case .date(let value): hasher.combine(value.timeIntervalSinceReferenceDate)
        case .data(let value): hasher.combine(value)
        case .uuid(let value): hasher.combine(value)
        case .url(let value): hasher.combine(value)
        case .collection(let value): hasher.combine(value)
        case .object(let value): hasher.combine(value)
        }
    }
}
