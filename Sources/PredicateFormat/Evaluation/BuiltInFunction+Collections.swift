import Foundation

extension BuiltInFunction {
    /// The function's value for a collection; elements that are `nil` do not count, except for `count:`.
    func applyToCollection(_ collection: Value) -> Value {
        guard let elements = collection.elements else {
            // SQL's aggregates accept a single value as well.
            if self == .count { return .integer(collection.isNull ? 0 : 1) }
            return collection.isNull ? .null : applyToCollection(.collection([collection]))
        }
        if self == .count { return .integer(Int64(elements.count)) }
        let values = elements.filter { !$0.isNull }
        switch self {
        case .sum where !values.allSatisfy { $0.doubleValue != nil }: return .null
        case .sum: return values.reduce(.integer(0)) { BuiltInFunction.add.apply([$0, $1]) }
        case .minimum: return values.min { $0.comparison(with: $1) == .orderedAscending } ?? .null
        case .maximum: return values.max { $0.comparison(with: $1) == .orderedAscending } ?? .null
        case .distinct: return distinct(elements)
        case .mode: return mode(values)
        default: return statistic(values.compactMap(\.numberOrSeconds)).map { .double($0) } ?? .null
        }
    }

    private func distinct(_ values: [Value]) -> Value {
        var seen: Set<Value> = []
        return .collection(values.filter { seen.insert($0).inserted })
    }

    private func mode(_ values: [Value]) -> Value {
        var counts: [Value: Int] = [:]
        for value in values { counts[value, default: 0] += 1 }
        guard let highest = counts.values.max() else { return .null }
        return .collection(distinct(values).elements?.filter { counts[$0] == highest } ?? [])
    }

    private func statistic(_ numbers: [Double]) -> Double? {
        guard !numbers.isEmpty else { return nil }
        let count = Double(numbers.count)
        let average = numbers.reduce(0, +) / count
        switch self {
        case .average: return average
        case .standardDeviation:
            return (numbers.reduce(0) { $0 + ($1 - average) * ($1 - average) } / count).squareRoot()
        case .median:
            let sorted = numbers.sorted()
            let middle = sorted.count / 2
            return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
        default: return nil
        }
    }
}

extension Value {
    /// A number, or the seconds of a date since 2001, as a column holds it.
    fileprivate var numberOrSeconds: Double? {
        if case .date(let date) = self { return date.timeIntervalSinceReferenceDate }
        return doubleValue
    }
}
