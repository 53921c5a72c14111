import CoreDataModel
import PredicateFormat

@testable import SQLGeneration

/// SQL as no database here has it, so that nothing is SQLite's by accident.
struct OtherDialect: SQLDialect {
    func parameter(_ number: Int) -> String { "$\(number)" }
    func numbered(_ number: Int) -> String { "$\(number)" }
    func identifier(_ name: String) -> String { "[\(name.lowercased())]" }
    func literal(_ value: SQLValue) -> String { "<\(value)>" }

    func name(_ column: SQLColumn.Name) -> String {
        switch column {
        case .key: "id"
        case .entity: "kind"
        case .version: "version"
        case .named(let name): identifier(name)
        }
    }

    func same(_ left: SQLFragment, _ right: SQLFragment, isNegated: Bool) -> SQLFragment {
        isNegated ? "\(left) IS DISTINCT FROM \(right)" : "\(left) IS NOT DISTINCT FROM \(right)"
    }

    func call(_ function: SQLFunction, _ arguments: [SQLFragment]) -> SQLFragment {
        switch function {
        case .now: "clock()"
        case .ifNull: "coalesce(\(.list(arguments)))"
        case .uppercase: "upper(\(.list(arguments)))"
        case .lowercase: "lower(\(.list(arguments)))"
        case .canonical: "fold(\(.list(arguments)))"
        case .wholeNumber: "whole(\(.list(arguments)))"
        case .average: "mean(\(.list(arguments)))"
        case .extreme(let isGreatest, _): "\(word: isGreatest ? "greatest" : "smallest")(\(.list(arguments)))"
        case .sum, .decimalSum: "total(\(.list(arguments)))"
        case .haveSameKind: "alike(\(.list(arguments)))"
        case .orderedByBytes: "bytewise(\(.list(arguments)))"
        case .isInFile: "get_byte(\(.list(arguments)), 0) = 2"
        case .fileContent: "content(\(.list(arguments)))"
        case .inlinedContent: "inlined(\(.list(arguments)))"
        case .markedContent: "marked(\(.list(arguments)))"
        case .changedProperties: "mask(\(.list(arguments)))"
        case .search: "found(\(.list(arguments)))"
        case .listed(let kind): "elements(\(.list(arguments)), \(text: kind.rawValue))"
        case .nestedValue(let path, _): "\(.list(arguments)) -> \(text: path.joined(separator: "."))"
        }
    }

    func stringSearch(
        _ left: SQLFragment, _ right: SQLFragment, _ comparison: ComparisonOperator, _ options: StringOptions
    ) -> SQLFragment { "search(\(left), \(right))" }

    func truth(_ isTrue: Bool) -> String { isTrue ? "true" : "false" }

    func order(_ operand: SQLFragment, _ comparison: SortTerm.Comparison, isAscending: Bool) -> SQLFragment {
        let collation: SQLFragment = comparison == .plain ? "" : " COLLATE \"other\""
        return "\(operand)\(collation)\(isAscending ? "" : " DESC" as SQLFragment)"
    }

    func page(limit: SQLBinding, offset: SQLBinding?) -> SQLFragment {
        let start: SQLFragment = offset.map { " OFFSET \(binding: $0) ROWS" } ?? ""
        return "\(start) FETCH FIRST \(binding: limit) ROWS ONLY"
    }

    func insert(_ insert: SQLInsert) -> SQLFragment {
        "PUT \(.list(insert.columns.map { "\($0)" })) INTO \(name: insert.table)\(insert.rows.map { " FROM \(.select($0))" } ?? "")"
    }

    func unindexed(_ operand: SQLFragment) -> SQLFragment { operand }
    func columnType(_ storage: ColumnStorage) -> String { "any" }
}

extension SQLFragment {
    /// The text in a dialect that is not SQLite's.
    var other: String { rendered(by: OtherDialect()).text }
}
