import CoreDataModel
import Foundation
import PredicateFormat
import SQLGeneration
import SQLiteConnection

/// The SQL functions and collations that a store's statements and triggers call.
package enum StoreFunctions {
    /// Registers the functions with a connection.
    ///
    /// - Parameters:
    ///   - connection: the connection.
    ///   - derived: collects the reports of triggers; see ``DerivedValues``.
    /// - Throws: SQLite's errors.
    package static func register(on connection: Connection, derived: DerivedValues) throws {
        try connection.register(function: SQLFunctionName.now, argumentCount: 0, isDeterministic: false) { _ in
            .double(Date().timeIntervalSinceReferenceDate)
        }
        try connection.register(function: SQLFunctionName.wholeNumber, argumentCount: 3, wholeNumber)
        try connection.register(aggregate: SQLFunctionName.decimalSum, argumentCount: 1) { DecimalSumFunction() }
        try register(SQLFunctionName.uppercase, on: connection, .uppercase)
        try register(SQLFunctionName.lowercase, on: connection, .lowercase)
        try register(SQLFunctionName.canonical, on: connection, .canonical)
        let searches = StringSearches()
        try connection.register(function: SQLFunctionName.stringSearch, argumentCount: 4) { arguments in
            guard let left = searchedText(arguments, 0), let right = searchedText(arguments, 1) else { return .null }
            let number = UInt(truncatingIfNeeded: arguments.integer(at: 2))
            guard let comparison = ComparisonOperator(rawValue: number) else {
                return .failure("\(number) is not a comparison")
            }
            let texts = [0, 1].count { arguments.kind(at: $0) == .text }
            guard texts > (comparison.comparesWhole ? 1 : 0) else { return .integer(0) }
            let options = StringOptions(rawValue: UInt(truncatingIfNeeded: arguments.integer(at: 3)))
            if comparison == .matches, MatchesPattern.cached(right, options: options) == nil {
                return .failure("\"\(right)\" is not a regular expression for MATCHES")
            }
            guard comparison == .matches else {
                return .integer(searches.holds(left, comparison, right, options) ? 1 : 0)
            }
            do {
                return .integer(
                    try EvaluationFailure.throwing { searches.holds(left, comparison, right, options) } ? 1 : 0)
            } catch { return .failure(error.localizedDescription) }
        }
        try connection.register(function: SQLFunctionName.folded, argumentCount: 2) { arguments in
            guard arguments.kind(at: 0) == .text, let text = arguments.string(at: 0) else { return .null }
            return .text(text.folded(StringOptions(rawValue: UInt(truncatingIfNeeded: arguments.integer(at: 1)))))
        }
        try connection.register(tableFunction: SQLFunctionName.listed, argumentCount: 2) { arguments in
            guard let json = arguments.data(at: 0), let kind = arguments.string(at: 1).flatMap(ListedKind.init) else {
                return []
            }
            return kind.values(in: json).compactMap(FunctionResult.init)
        }
        try connection.register(function: SQLFunctionName.search, argumentCount: -1) { arguments in
            // Numbers have no words, as in memory.
            let texts = (0..<arguments.count).map { arguments.kind(at: $0) == .text ? arguments.string(at: $0) : nil }
            guard let query = texts.first ?? nil else { return .integer(0) }
            return .integer(SearchedTexts.have(query, texts.dropFirst().map { $0 ?? "" }) ? 1 : 0)
        }
        try connection.register(tableFunction: SQLFunctionName.keys, argumentCount: 1) { arguments in
            SQLBinding.keys(in: arguments.data(at: 0) ?? Data()).map(FunctionResult.integer)
        }
        for name in [SQLFunctionName.valueInserted, SQLFunctionName.valueUpdated, SQLFunctionName.columnUpdated] {
            let namesColumn = name == SQLFunctionName.columnUpdated
            try connection.register(function: name, argumentCount: 5, isDeterministic: false) { arguments in
                derived.note(arguments, namesColumn: namesColumn)
                return .null
            }
        }
        try register(SQLCollationName.caseInsensitive, on: connection, .caseInsensitive)
        try register(SQLCollationName.localized, on: connection, .localized)
        try register(SQLCollationName.localizedCaseInsensitive, on: connection, .localizedCaseInsensitive)
        try register(SQLCollationName.localizedStandard, on: connection, .localizedStandard)
    }

    /// Registers the function that reads a value from its file.
    ///
    /// - Parameters:
    ///   - connection: the connection.
    ///   - external: the values beside the store.
    /// - Throws: SQLite's errors.
    package static func registerContent(on connection: Connection, _ external: ExternalData) throws {
        try connection.register(function: SQLFunctionName.fileContent, argumentCount: 1) { arguments in
            guard arguments.kind(at: 0) != .null else { return .null }
            switch external.content(of: arguments.data(at: 0) ?? Data()) {
            case .value(let content): return .blob(content)
            case .missing(let missing): return .failure("a value cannot be moved into the store: \(missing.sentence)")
            }
        }
    }

    /// An argument as it is searched: a number by its digits; nil for nil and bytes.
    private static func searchedText(_ arguments: FunctionArguments, _ index: Int) -> String? {
        switch arguments.kind(at: index) {
        case .integer, .text: arguments.string(at: index)
        case .double: Value.double(arguments.double(at: index)).text
        case .null, .blob: nil
        }
    }

    /// The first argument, if an attribute of the type with the second argument's number can hold it.
    private static func wholeNumber(_ arguments: FunctionArguments) -> FunctionResult {
        let number: Int64?
        switch arguments.kind(at: 0) {
        case .null: return .null
        case .integer: number = arguments.integer(at: 0)
        // The lowest integer may also be the result of clamping smaller numbers.
        case .double: number = arguments.double(at: 0) > -0x1p63 ? Int64(exactly: arguments.double(at: 0)) : nil
        case .text, .blob: number = nil
        }
        let type = NSAttributeType(rawValue: UInt(truncatingIfNeeded: arguments.integer(at: 1)))
        if let number, let type, case .integer(let value)? = StoredValue(whole: number, for: type) {
            return .integer(value)
        }
        let value = arguments.string(at: 0) ?? "a value of bytes"
        return .failure(
            "“\(arguments.string(at: 2) ?? "")” would become \(value), which is not a whole number that its type holds")
    }

    private static func register(
        _ name: String, on connection: Connection, _ function: BuiltInFunction
    ) throws {
        try connection.register(function: name, argumentCount: 1) { arguments in
            guard let text = arguments.string(at: 0), case .string(let result) = function.apply([.string(text)]) else {
                return .null
            }
            return .text(result)
        }
    }

    private static func register(
        _ name: String, on connection: Connection, _ comparison: SortTerm.Comparison
    ) throws {
        try connection.register(collation: name) { first, second in
            let left = String(decoding: first, as: UTF8.self)
            let right = String(decoding: second, as: UTF8.self)
            return comparison.compare(left, right).rawValue
        }
    }
}

extension FunctionResult {
    /// A single value of a list, as a column has it; nil for anything else.
    fileprivate init?(_ value: Value) {
        switch value {
        case .integer(let number): self = .integer(number)
        case .double(let number): self = .double(number)
        case .string(let text): self = .text(text)
        case .date(let date): self = .double(date.timeIntervalSinceReferenceDate)
        case .uuid(let uuid): self = .blob(uuid.bytes)
        case .url(let url): self = .text(url.absoluteString)
        case .null, .decimal, .data, .collection, .object: return nil
        }
    }
}

/// The reports of triggers since the last save began.
package final class DerivedValues {
    struct Change {
        let number: Int
        let key: Int64
        /// The property; its column where `namesColumn`.
        let name: String
        let namesColumn: Bool
        let value: SQLValue
    }

    private(set) var changes: [Change] = []
    /// Whether the reports are unused, as in a batch request.
    var isIgnored = false

    package init() {}

    func removeAll() { changes.removeAll(keepingCapacity: true) }

    /// Records a call `(table, Z_ENT, Z_PK, property or column, value)`.
    func note(_ arguments: FunctionArguments, namesColumn: Bool) {
        guard !isIgnored, arguments.count == 5, let name = arguments.string(at: 3) else { return }
        let value: SQLValue
        switch arguments.kind(at: 4) {
        case .null: value = .null
        case .integer: value = .integer(arguments.integer(at: 4))
        case .double: value = .double(arguments.double(at: 4))
        case .text: value = .text(arguments.string(at: 4) ?? "")
        case .blob: value = .blob(arguments.data(at: 4) ?? Data())
        }
        changes.append(
            Change(
                number: Int(arguments.integer(at: 1)), key: arguments.integer(at: 2), name: name,
                namesColumn: namesColumn, value: value))
    }
}

/// The string comparisons of a statement, each prepared once for the constant on its right side.
private final class StringSearches {
    private struct Key: Hashable {
        let comparison: ComparisonOperator
        /// A `Value`, since equal ones have the same bytes, whereas strings are equal that only look alike.
        let right: Value
        let options: StringOptions
    }

    private var ready: [Key: CompiledPredicate] = [:]

    func holds(_ left: String, _ comparison: ComparisonOperator, _ right: String, _ options: StringOptions) -> Bool {
        let key = Key(comparison: comparison, right: .string(right), options: options)
        if let known = ready[key] { return known.evaluate(.string(left)) }
        let tree = ComparisonTree(.evaluatedObject, comparison, .constant(.string(right)), options: options)
        let predicate = CompiledPredicate(.comparison(tree))
        // A column on the right side brings a new text with each row.
        if ready.count >= 64 { ready.removeAll(keepingCapacity: true) }
        ready[key] = predicate
        return predicate.evaluate(.string(left))
    }
}

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
