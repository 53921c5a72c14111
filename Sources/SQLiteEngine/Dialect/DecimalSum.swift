import Foundation
import SQLiteConnection

/// The sum of decimals, which SQLite keeps as floating-point numbers: of the decimals that these stand for, so that it
/// has no rounding errors of its own.
package struct DecimalSum {
    /// How many digits behind the point there are at most in a number that is added as a whole one.
    private static let places = 15
    private static let powers: [Double] = (0...places).map { pow(10, Double($0)) }
    /// From here on two decimals may be one floating-point number.
    private static let limit = 1e15

    /// By number of digits behind the point, in units of the last one.
    private var sums = [Int64](repeating: 0, count: places + 1)
    /// The sum of values that do not fit into these.
    private var rest = Decimal()
    /// The sum in floating point, for infinities.
    private var plain = 0.0
    /// How many digits behind the point were enough so far.
    private var place = 0

    package init() {}

    /// Adds a number.
    package mutating func add(_ number: Double) {
        plain += number
        for candidate in place...Self.places {
            let units = (number * Self.powers[candidate]).rounded()
            guard units.magnitude < Self.limit else { break }
            if units / Self.powers[candidate] == number {
                place = candidate
                return add(Int64(units), at: candidate)
            }
        }
        guard number.isFinite else { return }
        rest += Decimal(string: "\(number)") ?? Decimal(number)
    }

    /// Adds a whole number.
    package mutating func add(whole number: Int64) {
        plain += Double(number)
        add(number, at: 0)
    }

    private mutating func add(_ units: Int64, at place: Int) {
        let (sum, isTooMuch) = sums[place].addingReportingOverflow(units)
        if isTooMuch { rest += Self.decimal(sums[place], place) }
        sums[place] = isTooMuch ? units : sum
    }

    /// The sum, as SQLite keeps decimals.
    package var value: Double {
        guard plain.isFinite else { return plain }
        let total = sums.enumerated().reduce(rest) { $0 + Self.decimal($1.element, $1.offset) }
        return Double("\(total)") ?? plain
    }

    private static func decimal(_ units: Int64, _ places: Int) -> Decimal {
        let sign: FloatingPointSign = units < 0 ? .minus : .plus
        return Decimal(sign: sign, exponent: -places, significand: Decimal(units.magnitude))
    }
}

/// ``DecimalSum`` of a group, for SQL. NULL for a group without numbers, as sums are.
final class DecimalSumFunction: AggregateFunction {
    private var sum = DecimalSum()
    private var isOfAny = false

    func add(_ arguments: FunctionArguments) {
        switch arguments.kind(at: 0) {
        case .null: return
        case .integer: sum.add(whole: arguments.integer(at: 0))
        default: sum.add(arguments.double(at: 0))
        }
        isOfAny = true
    }

    var result: FunctionResult { isOfAny ? .double(sum.value) : .null }
}
