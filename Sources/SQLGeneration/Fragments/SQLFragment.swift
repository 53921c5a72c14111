import CoreDataModel
import PredicateFormat

/// A piece of SQL as a value: segments that a dialect renders once, at the end.
///
/// A fragment is written as a string whose interpolations each say their kind:
///
/// ```swift
/// let fragment: SQLFragment = "SELECT \(column) FROM \(name: mapping.table) WHERE \(column) = \(binding: .value(.integer(3)))"
/// fragment.rendered(by: dialect).text  // SELECT t0.ZAGE FROM ZCAR WHERE t0.ZAGE = ?
/// ```
package struct SQLFragment: Sendable, Equatable {
    package var segments: [Segment]

    package indirect enum Segment: Sendable, Equatable {
        /// Keywords, signs and names that the generator chose.
        case text(String)
        /// The name of a table, a column, an index.
        case identifier(String)
        case column(SQLColumn)
        /// A value as a literal.
        case literal(SQLValue)
        /// A value that is bound when the statement runs.
        case parameter(SQLBinding)
        /// A value that is bound by its position when the statement runs.
        case placeholder
        /// The same with a number, from 1: the value may be used more than once.
        case numbered(Int)
        /// `(SELECT …)`
        case select(SQLFragment)
        /// Whether two values are equal, where NULL equals NULL.
        case same(SQLFragment, SQLFragment, isNegated: Bool)
        case call(SQLFunction, [SQLFragment])
        /// Whether a value is one of several.
        case among(SQLFragment, [SQLFragment])
        /// Whether a text is one of several, when the options' differences are ignored.
        case amongTexts(SQLFragment, [SQLFragment], StringOptions)
        /// Whether other rows lead to one.
        case existence(SQLExistence)
        /// Whether a comparison of two texts holds.
        case stringSearch(SQLFragment, SQLFragment, ComparisonOperator, StringOptions)
        /// A term of an order, NULL first: `t0.ZNAME COLLATE … DESC`.
        case order(SQLFragment, SortTerm.Comparison, isAscending: Bool)
        /// A condition that always holds, or never.
        case truth(Bool)
        /// The clause that limits a selection of rows.
        case page(limit: SQLBinding, offset: SQLBinding?)
        /// A new row.
        case insert(SQLInsert)
        /// An operand without its column's affinity, so that SQLite converts neither side; no index is used for it.
        case unindexed(SQLFragment)
        /// An operand that PostgreSQL would compare or compute otherwise than memory does, such as a whole number
        /// beside a fraction.
        case mixingNumbers(SQLFragment)
    }

    package init(_ segments: [Segment]) { self.segments = segments }
    package init(_ segment: Segment) { segments = [segment] }

    package static let empty = SQLFragment([])
    package var isEmpty: Bool { segments.isEmpty }

    @inline(never)
    package static func + (left: SQLFragment, right: SQLFragment) -> SQLFragment {
        SQLFragment(left.segments + right.segments)
    }

    @inline(never)
    package static func joined(_ fragments: [SQLFragment], separator: SQLFragment) -> SQLFragment {
        var segments: [Segment] = []
        for (index, fragment) in fragments.enumerated() {
            if index > 0 { segments += separator.segments }
            segments += fragment.segments
        }
        return SQLFragment(segments)
    }

    /// `a, b, c`
    package static func list(_ fragments: [SQLFragment]) -> SQLFragment { joined(fragments, separator: ", ") }

    /// `?, ?, ?`
    package static func placeholders(_ count: Int) -> SQLFragment {
        list(Array(repeating: SQLFragment(.placeholder), count: count))
    }

    package static func parameter(_ binding: SQLBinding) -> SQLFragment { SQLFragment(.parameter(binding)) }
    package static func call(_ function: SQLFunction, _ arguments: SQLFragment...) -> SQLFragment {
        SQLFragment(.call(function, arguments))
    }

    /// `(SELECT …)`
    package static func select(_ selection: SQLFragment) -> SQLFragment { SQLFragment(.select(selection)) }

    /// `(…)`
    package var inParentheses: SQLFragment { "(\(self))" }
}

extension SQLFragment {
    /// The same fragment with each segment changed, including nested ones, from the innermost outwards.
    package func mapSegments(_ change: (Segment) throws -> Segment) throws -> SQLFragment {
        var changed: [Segment] = []
        for segment in segments { changed.append(try change(segment.mapParts { try $0.mapSegments(change) })) }
        return SQLFragment(changed)
    }

    /// Whether it contains a selection of other rows.
    package var readsOtherRows: Bool {
        segments.contains { segment in
            switch segment {
            case .select, .existence: true
            default: segment.parts.contains(where: \.readsOtherRows)
            }
        }
    }

    /// How many segments there are, including nested ones, but not the constants of lists; more than a limit are not
    /// counted.
    func size(upTo limit: Int) -> Int {
        var size = segments.count
        for segment in segments {
            for part in segment.parts where size <= limit && !(segment.isList && part.isParameter) {
                let partSize = part.size(upTo: limit - size)
                size += segment.isWrittenTwice ? 2 * partSize : partSize
            }
        }
        return size
    }

    private var isParameter: Bool {
        if segments.count == 1, case .parameter = segments[0] { true } else { false }
    }

    /// Whether it is a column or a constant.
    package var isPlain: Bool {
        guard segments.count == 1 else { return false }
        if case .column = segments[0] { return true }
        return isParameter
    }

    /// The same fragment with a limit and an offset in place of those of the run.
    package func bound(limit: Int, offset: Int) throws -> SQLFragment {
        let context = BindingContext(limit: limit, offset: offset)
        return try mapSegments { segment in
            guard case .page(let limit, let offset) = segment else { return segment }
            return .page(
                limit: .value(try limit.value(context)), offset: try offset.map { .value(try $0.value(context)) })
        }
    }
}

extension SQLFragment.Segment {
    fileprivate var isList: Bool {
        if case .among = self { true } else if case .amongTexts = self { true } else { false }
    }

    /// Whether a dialect writes the fragments in it twice.
    fileprivate var isWrittenTwice: Bool { if case .call(.haveSameKind, _) = self { true } else { false } }

    /// The fragments in it.
    fileprivate var parts: [SQLFragment] {
        switch self {
        case .select(let inner), .unindexed(let inner), .mixingNumbers(let inner), .order(let inner, _, _): [inner]
        case .same(let left, let right, _), .stringSearch(let left, let right, _, _): [left, right]
        case .call(_, let arguments): arguments
        case .among(let operand, let list), .amongTexts(let operand, let list, _): [operand] + list
        case .existence(let existence): existence.parts
        case .insert, .text, .identifier, .column, .literal, .parameter, .placeholder, .numbered, .truth, .page: []
        }
    }

    /// The same segment with the fragments in it changed.
    fileprivate func mapParts(_ change: (SQLFragment) throws -> SQLFragment) throws -> SQLFragment.Segment {
        switch self {
        case .select(let inner): return .select(try change(inner))
        case .same(let left, let right, let isNegated):
            return .same(try change(left), try change(right), isNegated: isNegated)
        case .call(let function, let arguments): return .call(function, try arguments.map(change))
        case .among(let operand, let list): return .among(try change(operand), try list.map(change))
        case .amongTexts(let operand, let list, let options):
            return .amongTexts(try change(operand), try list.map(change), options)
        case .existence(let existence): return .existence(try existence.mapParts(change))
        case .stringSearch(let left, let right, let comparison, let options):
            return .stringSearch(try change(left), try change(right), comparison, options)
        case .unindexed(let operand): return .unindexed(try change(operand))
        case .insert(var insert):
            insert.rows = try insert.rows.map(change)
            return .insert(insert)
        case .mixingNumbers(let operand): return .mixingNumbers(try change(operand))
        case .order(let operand, let comparison, let isAscending):
            return .order(try change(operand), comparison, isAscending: isAscending)
        case .text, .identifier, .column, .literal, .parameter, .placeholder, .numbered, .truth, .page:
            return self
        }
    }
}

extension SQLFragment: ExpressibleByStringInterpolation {
    @inline(never)
    package init(stringLiteral text: String) { segments = text.isEmpty ? [] : [.text(text)] }

    package init(stringInterpolation: StringInterpolation) { segments = stringInterpolation.segments }

    /// A plain string cannot be interpolated: its kind must be given.
    ///
    /// Nothing is inlined: statements are generated once, from hundreds of such strings, and every inlined copy costs
    /// compile time.
    package struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var segments: [Segment] = []

        package init(literalCapacity: Int, interpolationCount: Int) {}

        @inline(never)
        package mutating func appendLiteral(_ text: String) {
            if !text.isEmpty { segments.append(.text(text)) }
        }

        @inline(never)
        package mutating func appendInterpolation(_ fragment: SQLFragment) { segments += fragment.segments }

        @inline(never)
        package mutating func appendInterpolation(_ column: SQLColumn) { segments.append(.column(column)) }

        /// The name of a table, a column, an index.
        @inline(never)
        package mutating func appendInterpolation(name: String) { segments.append(.identifier(name)) }

        /// One of the columns that every row has.
        @inline(never)
        package mutating func appendInterpolation(_ name: SQLColumn.Name, of alias: String? = nil) {
            segments.append(.column(SQLColumn(name, of: alias)))
        }

        @inline(never)
        package mutating func appendInterpolation(binding: SQLBinding) { segments.append(.parameter(binding)) }

        @inline(never)
        package mutating func appendInterpolation(literal: SQLValue) { segments.append(.literal(literal)) }

        @inline(never)
        package mutating func appendInterpolation(text: String) { segments.append(.literal(.text(text))) }

        @inline(never)
        package mutating func appendInterpolation(number: some BinaryInteger) {
            segments.append(.text(String(number)))
        }

        /// A keyword, a sign, or a name that the generator invented: never anything from a model or a predicate.
        @inline(never)
        package mutating func appendInterpolation(word: String) { segments.append(.text(word)) }
    }
}
