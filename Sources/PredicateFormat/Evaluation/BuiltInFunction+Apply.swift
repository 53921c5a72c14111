import Foundation

extension BuiltInFunction {
    /// The function's value. It is `nil` for `nil`, and for arguments that the function cannot compute with, as in SQL.
    package func apply(_ arguments: [Value]) -> Value {
        switch self {
        case .now: return .date(Date())
        case .random: return .double(Double.random(in: 0..<1))
        default: break
        }
        guard let first = arguments.first else { return .null }
        if arguments.count == 2 { return apply(first, arguments[1]) }
        switch self {
        case .sum, .count, .minimum, .maximum, .average, .median, .mode, .standardDeviation, .distinct:
            return applyToCollection(first)
        case .uppercase, .lowercase, .length, .canonical:
            guard let text = first.comparedText else { return .null }
            return apply(to: text)
        case .noIndex: return first
        default: return apply(to: first)
        }
    }

    private func apply(to text: String) -> Value {
        switch self {
        case .uppercase: .string(text.uppercased())
        case .lowercase: .string(text.lowercased())
        case .length: .integer(Int64(text.unicodeScalars.count))
        case .canonical: .string(text.folded([.caseInsensitive, .diacriticInsensitive]))
        default: .null
        }
    }

    // MARK: One number

    private func apply(to value: Value) -> Value {
        switch (self, value) {
        case (.negate, _): return BuiltInFunction.subtract.apply(.integer(0), value)
        case (.absolute, .integer(let number)):
            return number == .min ? .double(-Double(number)) : .integer(abs(number))
        case (.absolute, .decimal(let number)): return .decimal(NSDecimalNumber(decimal: abs(number.decimalValue)))
        case (.ceiling, .integer), (.floor, .integer), (.truncate, .integer): return value
        case (.onesComplement, _): return value.wholePart.map { .integer(~$0) } ?? .null
        case (.randomBelow, _):
            guard let limit = value.integerValue, limit > 0 else { return .null }
            return .integer(Int64.random(in: 0..<limit))
        default: return value.doubleValue.map { .double(apply(to: $0)) } ?? .null
        }
    }

    private func apply(to number: Double) -> Double {
        switch self {
        case .squareRoot: number.squareRoot()
        case .logarithm: log10(number)
        case .naturalLogarithm: log(number)
        case .exponential: exp(number)
        case .ceiling: number.rounded(.up)
        case .floor: number.rounded(.down)
        case .truncate: number.rounded(.towardZero)
        case .absolute: abs(number)
        default: .nan
        }
    }

    // MARK: Two numbers

    private func apply(_ first: Value, _ second: Value) -> Value {
        switch self {
        case .search: return .integer(SearchedTexts.have(second, first) ? 1 : 0)
        case .bitwiseAnd, .bitwiseOr, .bitwiseXor, .leftShift, .rightShift:
            guard let a = first.wholePart, let b = second.wholePart else { return .null }
            return .integer(applyToBits(a, b))
        case .power:
            guard let a = first.doubleValue, let b = second.doubleValue else { return .null }
            return applyPower(first, second, pow(a, b))
        case .modulus:
            if case .integer(let a) = first, case .integer(let b) = second { return applyToIntegers(a, b) }
            return Self.remainder(first, second)
        default: return applyArithmetic(first, second)
        }
    }

    /// A power of integers is an integer if it fits.
    private func applyPower(_ first: Value, _ second: Value, _ result: Double) -> Value {
        guard case .integer = first, case .integer = second, abs(result) < 0x1p53, let integer = Int64(exactly: result)
        else { return .double(result) }
        return .integer(integer)
    }

    private func applyToBits(_ first: Int64, _ second: Int64) -> Int64 {
        switch self {
        case .bitwiseAnd: first & second
        case .bitwiseOr: first | second
        case .bitwiseXor: first ^ second
        case .leftShift: first << second
        default: first >> second
        }
    }

    private func applyArithmetic(_ first: Value, _ second: Value) -> Value {
        switch (first, second) {
        case (.integer(let a), .integer(let b)):
            return applyToIntegers(a, b)
        case (.decimal, .decimal), (.decimal, .integer), (.integer, .decimal):
            return applyToDecimals(first.decimalValue, second.decimalValue)
        default:
            guard let a = first.doubleValue, let b = second.doubleValue else { return applyToDates(first, second) }
            return applyToDoubles(a, b)
        }
    }

    /// A date moved by a number of seconds, or the seconds between two dates; nil for other values.
    private func applyToDates(_ first: Value, _ second: Value) -> Value {
        switch (self, first, second) {
        case (.subtract, .date(let later), .date(let earlier)):
            .double(later.timeIntervalSinceReferenceDate - earlier.timeIntervalSinceReferenceDate)
        case (.subtract, .date(let date), _): second.doubleValue.map { .date(date - $0) } ?? .null
        case (.add, .date(let date), _): second.doubleValue.map { .date(date + $0) } ?? .null
        case (.add, _, .date(let date)): first.doubleValue.map { .date(date + $0) } ?? .null
        default: .null
        }
    }

    /// Arithmetic as in SQLite: division truncates, division by zero gives nil, and an overflow gives a double.
    private func applyToIntegers(_ first: Int64, _ second: Int64) -> Value {
        let result: (partialValue: Int64, overflow: Bool)
        switch self {
        case .add: result = first.addingReportingOverflow(second)
        case .subtract: result = first.subtractingReportingOverflow(second)
        case .multiply: result = first.multipliedReportingOverflow(by: second)
        case .divide where second != 0: result = first.dividedReportingOverflow(by: second)
        case .modulus where second != 0:
            // The remainder of the only division that overflows is 0.
            return .integer(second == -1 ? 0 : first % second)
        default: return .null
        }
        return result.overflow ? applyToDoubles(Double(first), Double(second)) : .integer(result.partialValue)
    }

    /// The remainder of whole numbers, as in SQLite, which first truncates both numbers.
    private static func remainder(_ first: Value, _ second: Value) -> Value {
        guard let first = first.wholePart, let second = second.wholePart, second != 0 else { return .null }
        return .double(second == -1 ? 0 : Double(first % second))
    }

    private func applyToDoubles(_ first: Double, _ second: Double) -> Value {
        switch self {
        case .add: .double(first + second)
        case .subtract: .double(first - second)
        case .multiply: .double(first * second)
        case .divide where second != 0: .double(first / second)
        default: .null
        }
    }

    private func applyToDecimals(_ first: Decimal, _ second: Decimal) -> Value {
        switch self {
        case .add: return .decimal(NSDecimalNumber(decimal: first + second))
        case .subtract: return .decimal(NSDecimalNumber(decimal: first - second))
        case .multiply: return .decimal(NSDecimalNumber(decimal: first * second))
        case .divide where !second.isZero: return .decimal(NSDecimalNumber(decimal: first / second))
        default:
            return applyToDoubles(
                NSDecimalNumber(decimal: first).nearestDouble, NSDecimalNumber(decimal: second).nearestDouble)
        }
    }
}

extension Value {
    /// The number truncated to an integer, without loss of precision; nil for anything but a number.
    fileprivate var wholePart: Int64? {
        if let number = integerValue { return number }
        return doubleValue.flatMap { $0.isNaN ? nil : Int64(clamping: $0) }
    }

    fileprivate var decimalValue: Decimal {
        switch self {
        case .decimal(let number): number.decimalValue
        case .integer(let number): Decimal(number)
        default: Decimal()
        }
    }
}

extension Int64 {
    /// The number truncated to an integer, or the nearest that fits.
    fileprivate init(clamping number: Double) {
        self = number >= 0x1p63 ? .max : number < -0x1p63 ? .min : Int64(number)
    }
}

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
