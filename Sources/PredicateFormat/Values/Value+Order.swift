import Foundation

extension Value {
    /// The order of two values of one kind; nil if they have none: either is `nil` or NaN, they are of different kinds,
    /// or of a kind without an order (collections, objects).
    package func comparison(with other: Value) -> ComparisonResult? {
        switch (self, other) {
        case (.integer(let a), .integer(let b)): return order(a, b)
        case (.string(let a), .string(let b)): return a.literalComparison(with: b)
        case (.date(let a), .date(let b)):
            return order(a.timeIntervalSinceReferenceDate, b.timeIntervalSinceReferenceDate)
        case (.uuid(let a), .uuid(let b)): return withUnsafeBytesCompared(a.uuid, b.uuid)
        case (.data(let a), .data(let b)): return bytesCompared(a, b)
        case (.url(let a), .url(let b)): return a.absoluteString.literalComparison(with: b.absoluteString)
        // A date beside a number is seconds since 2001, as a column holds it.
        case (.date(let date), _):
            return Value.double(date.timeIntervalSinceReferenceDate).numericComparison(with: other)
        case (_, .date(let date)): return numericComparison(with: .double(date.timeIntervalSinceReferenceDate))
        default: return numericComparison(with: other)
        }
    }

    /// The order of two numbers of any type, by value; nil if one of them is not a number.
    ///
    /// Decimals are compared exactly with each other and with integers, and as doubles with doubles, as in a store's
    /// columns.
    package func numericComparison(with other: Value) -> ComparisonResult? {
        switch (self, other) {
        case (.integer(let a), .integer(let b)): return order(a, b)
        case (.double(let a), .double(let b)): return a.isNaN || b.isNaN ? nil : order(a, b)
        case (.integer(let a), .double(let b)): return exactComparison(a, b)
        case (.double(let a), .integer(let b)): return exactComparison(b, a)?.reversed
        case (.decimal(let a), .decimal(let b)): return order(a.decimalValue, b.decimalValue)
        case (.decimal(let a), .integer(let b)): return order(a.decimalValue, Decimal(b))
        case (.integer(let a), .decimal(let b)): return order(Decimal(a), b.decimalValue)
        case (.decimal(let a), .double(let b)): return b.isNaN ? nil : order(a.nearestDouble, b)
        case (.double(let a), .decimal(let b)): return a.isNaN ? nil : order(a, b.nearestDouble)
        default: return nil
        }
    }

    /// The value as a floating-point number, if it is a number.
    package var doubleValue: Double? {
        switch self {
        case .integer(let value): Double(value)
        case .double(let value): value
        case .decimal(let value): value.nearestDouble
        default: nil
        }
    }

    /// The value as an integer, if it is a whole number.
    package var integerValue: Int64? {
        switch self {
        case .integer(let value): value
        case .double(let value): Int64(exactly: value)
        case .decimal(let value): value.wholeNumber
        default: nil
        }
    }
}

extension ComparisonResult {
    /// The opposite order.
    package var reversed: ComparisonResult {
        switch self {
        case .orderedAscending: .orderedDescending
        case .orderedSame: .orderedSame
        case .orderedDescending: .orderedAscending
        }
    }
}

@inline(__always)
private func order<T: Comparable>(_ first: T, _ second: T) -> ComparisonResult {
    first < second ? .orderedAscending : first == second ? .orderedSame : .orderedDescending
}

/// Compares without rounding the integer to a double: 2^53 + 1 is more than 2^53.
private func exactComparison(_ integer: Int64, _ double: Double) -> ComparisonResult? {
    if double.isNaN { return nil }
    if double >= 0x1p63 { return .orderedAscending }
    if double < -0x1p63 { return .orderedDescending }
    let whole = double.rounded(.down)
    let comparison = order(integer, Int64(whole))
    if comparison == .orderedSame, whole < double { return .orderedAscending }
    return comparison
}

private func bytesCompared(_ first: Data, _ second: Data) -> ComparisonResult {
    if first.lexicographicallyPrecedes(second) { return .orderedAscending }
    return first == second ? .orderedSame : .orderedDescending
}

private func withUnsafeBytesCompared(_ first: uuid_t, _ second: uuid_t) -> ComparisonResult {
    withUnsafeBytes(of: first) { a in
        withUnsafeBytes(of: second) { b in
            if a.lexicographicallyPrecedes(b) { return .orderedAscending }
            return a.elementsEqual(b) ? .orderedSame : .orderedDescending
        }
    }
}
