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
        /// Keywords, signs and names that the generator itself invented.
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
        /// An operand for which no index is to be used.
        case unindexed(SQLFragment)
        /// A comparison of a whole number with a fraction, for which databases differ.
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
            if case .select = segment { return true }
            return segment.parts.contains(where: \.readsOtherRows)
        }
    }

    /// How many segments there are, including nested ones, but not the constants of lists; more than a limit are not counted.
    func size(upTo limit: Int) -> Int {
        var size = segments.count
        for segment in segments {
            for part in segment.parts where size <= limit {
                if case .among = segment, part.isParameter { continue }
                size += part.size(upTo: limit - size)
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
    /// The fragments in it.
    fileprivate var parts: [SQLFragment] {
        switch self {
        case .select(let inner), .unindexed(let inner), .mixingNumbers(let inner), .order(let inner, _, _): [inner]
        case .same(let left, let right, _), .stringSearch(let left, let right, _, _): [left, right]
        // The dialects may write these arguments twice.
        case .call(.areOfOneKind, let arguments): arguments + arguments
        case .call(_, let arguments): arguments
        case .among(let operand, let list): [operand] + list
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

/// A column, with its table's alias if that must be given.
package struct SQLColumn: Sendable, Equatable {
    /// The columns that every row has.
    package enum Name: Sendable, Equatable {
        /// The row's key.
        case key
        /// The number of the row's entity.
        case entity
        /// A number that grows with every change of the row.
        case version
        case named(String)
    }

    package var alias: String?
    package var name: Name

    package init(_ name: Name, of alias: String? = nil) { (self.name, self.alias) = (name, alias) }
    package init(_ name: String, of alias: String? = nil) { self.init(.named(name), of: alias) }
}

/// A new row, or a change of the row that conflicts with it.
package struct SQLInsert: Sendable, Equatable {
    package enum Conflict: Sendable, Equatable {
        /// The existing row stays, which is no error.
        case ignored
        /// The existing row takes these values.
        case updates(SQLFragment)
    }

    package var table: String
    package var columns: [SQLColumn]
    /// The selection of the rows; nil for one row whose values are bound.
    package var rows: SQLFragment?
    /// What to do about a row with the same unique values; nil for an error.
    package var conflict: Conflict?
    /// Whether the key of the row is to be read.
    package var returnsKey = false
    /// Whether the row's entity is to be read, after its key.
    package var returnsEntity = false

    package init(
        into table: String, _ columns: [SQLColumn], rows: SQLFragment? = nil, conflict: Conflict? = nil,
        returnsKey: Bool = false, returnsEntity: Bool = false
    ) {
        self.returnsEntity = returnsEntity
        self.table = table
        self.columns = columns
        self.rows = rows
        self.conflict = conflict
        self.returnsKey = returnsKey
    }
}

/// A function whose name or syntax depends on the database.
package enum SQLFunction: Sendable, Equatable {
    case now, uppercase, lowercase, canonical
    /// The average of a group, as a fraction.
    case average
    /// The sum of a group, which is a whole number if the group's numbers are.
    case sum(isWhole: Bool)
    /// The sum of a group of decimals, without rounding errors.
    case decimalSum
    /// The smallest or greatest value of a group that is kept in a way for which not all databases have an order.
    case extreme(isGreatest: Bool, of: ColumnStorage)
    /// Whether both arguments are numbers, texts or bytes.
    case areOfOneKind
    /// A text that is ordered by its bytes, and not as a language has it.
    case orderedByBytes
    /// The first argument, unless it is NULL; then the second.
    case ifNull
    /// The first argument, which must be a whole number in the range of an attribute's type. Any other value fails the
    /// statement, with the attribute's name.
    case wholeNumber(NSAttributeType, name: String)
    /// Whether a column that allows external storage contains the name of a file instead of the value.
    case isInFile
    /// The value of a column that allows external storage, read from its file if it is in one.
    case fileContent
    /// A value in the form that a column that allows external storage has it.
    case markedContent
    /// The history's mask of changed properties with the numbering of the new model, from an entity's number and a
    /// mask.
    case changedProperties
    /// The value at a path of nested JSON, as a column of the type has it, from the JSON's bytes.
    case nestedValue(path: [String], type: NestedType)

    /// The type of a value in nested JSON.
    package enum NestedType: Sendable, Equatable {
        case attribute(NSAttributeType)
        case json
        case presence
    }

    /// The sum of a group of numbers that are kept in a way.
    package static func sum(of storage: ColumnStorage?, isWhole: Bool) -> SQLFunction {
        storage == .decimal ? .decimalSum : .sum(isWhole: isWhole)
    }

    /// Whether only connections of ours know it, so that nothing in the file may depend on it.
    package var isOurs: Bool {
        switch self {
        case .ifNull, .average, .sum, .extreme, .isInFile, .markedContent, .areOfOneKind, .orderedByBytes: false
        case .now, .uppercase, .lowercase, .canonical, .decimalSum, .wholeNumber, .fileContent, .changedProperties,
            .nestedValue:
            true
        }
    }
}
