import CoreDataModel
import Foundation
import PredicateFormat
import SQLGeneration

/// SQLite's SQL, for tables of Core Data's format.
package struct SQLiteDialect: SQLDialect {
    package init() {}

    package func parameter(_ number: Int) -> String { "?" }

    /// SQLite compares each constant of a statement with all earlier ones, in order to compute it only once, unless it
    /// is in a list or the result of a query. Ten thousand constants took it seconds.
    package func parameterAmongMany(_ number: Int) -> String? { "(SELECT \(parameter(number)))" }

    package func numbered(_ number: Int) -> String { "?\(number)" }
    package func identifier(_ name: String) -> String { quoted(name) }

    package func name(_ column: SQLColumn.Name) -> String {
        switch column {
        case .key: "Z_PK"
        case .entity: "Z_ENT"
        case .version: "Z_OPT"
        case .named(let name): identifier(name)
        }
    }

    package func literal(_ value: SQLValue) -> String { spelled(value) }

    package func same(_ left: SQLFragment, _ right: SQLFragment, isNegated: Bool) -> SQLFragment {
        isNegated ? "\(left) IS NOT \(right)" : "\(left) IS \(right)"
    }

    package func call(_ function: SQLFunction, _ arguments: [SQLFragment]) -> SQLFragment {
        switch function {
        case .now: "\(word: SQLFunctionName.now)()"
        case .uppercase: "\(word: SQLFunctionName.uppercase)(\(.list(arguments)))"
        case .lowercase: "\(word: SQLFunctionName.lowercase)(\(.list(arguments)))"
        case .canonical: "\(word: SQLFunctionName.canonical)(\(.list(arguments)))"
        case .search: "\(word: SQLFunctionName.search)(\(.list(arguments)))"
        case .ifNull: "IFNULL(\(.list(arguments)))"
        case .orderedByBytes: .list(arguments)
        case .haveSameKind: haveSameKind(arguments[0], arguments[1])
        case .average: "AVG(\(.list(arguments)))"
        case .sum: "SUM(\(.list(arguments)))"
        case .extreme(let isGreatest, _): "\(word: isGreatest ? "MAX" : "MIN")(\(.list(arguments)))"
        case .decimalSum: "\(word: SQLFunctionName.decimalSum)(\(.list(arguments)))"
        case .wholeNumber(let type, let name): wholeNumber(.list(arguments), type, name)
        case .isInFile: isInFile(.list(arguments))
        case .fileContent: "\(word: SQLFunctionName.fileContent)(\(.list(arguments)))"
        case .inlinedContent: "\(word: SQLFunctionName.inlinedContent)(\(.list(arguments)))"
        case .markedContent: markedContent(.list(arguments))
        case .changedProperties: "\(word: SQLFunctionName.changedProperties)(\(.list(arguments)))"
        case .nestedValue(let path, let type): nestedValue(.list(arguments), path, type)
        case .listed(let kind): "\(word: SQLFunctionName.listed)(\(.list(arguments)), \(text: kind.rawValue))"
        }
    }

    private func haveSameKind(_ left: SQLFragment, _ right: SQLFragment) -> SQLFragment {
        let isText: SQLFragment = "(typeof(\(left)) = 'text') = (typeof(\(right)) = 'text')"
        return "\(isText) AND (typeof(\(left)) = 'blob') = (typeof(\(right)) = 'blob')"
    }

    private func markedContent(_ value: SQLFragment) -> SQLFragment {
        "CASE WHEN \(value) IS NOT NULL THEN CAST(X'01' || \(value) AS BLOB) END"
    }

    private func nestedValue(
        _ json: SQLFragment, _ path: [String], _ type: SQLFunction.NestedType
    ) -> SQLFragment {
        let keys = String(decoding: (try? JSONEncoder().encode(path)) ?? Data(), as: UTF8.self)
        let kind =
            switch type {
            case .attribute(let type): String(type.rawValue)
            case .json: "json"
            case .presence: "presence"
            }
        return "\(word: SQLFunctionName.nestedValue)(\(json), \(text: keys), \(text: kind))"
    }

    /// SQLite knows the length without reading the value.
    private func isInFile(_ value: SQLFragment) -> SQLFragment {
        "typeof(\(value)) = 'blob' AND length(\(value)) BETWEEN 37 AND 64 AND substr(\(value), 1, 1) = X'02'"
    }

    /// The function is only called if the value does not fit: calling it for each row would take as long as the change
    /// itself.
    private func wholeNumber(_ value: SQLFragment, _ type: NSAttributeType, _ name: String) -> SQLFragment {
        let bounds: SQLFragment =
            switch type {
            case .integer16AttributeType: "BETWEEN \(number: Int16.min) AND \(number: Int16.max)"
            case .integer32AttributeType: "BETWEEN \(number: Int32.min) AND \(number: Int32.max)"
            default: "IS NOT NULL"
            }
        let refused: SQLFragment =
            "\(word: SQLFunctionName.wholeNumber)(\(value), \(number: type.rawValue), \(binding: .value(.text(name))))"
        return "CASE WHEN typeof(\(value)) = 'integer' AND (\(value)) \(bounds) THEN \(value) ELSE \(refused) END"
    }

    /// A condition that null and the whole numbers of an attribute's type meet. It calls no function: a statement with
    /// one, even with `typeof`, makes SQLite copy each page before it changes a row there.
    ///
    /// The lowest of all integers does not meet it, because it may be the result of clamping a smaller number.
    package static func holdsWholeNumber(_ value: SQLFragment, _ type: NSAttributeType) -> SQLFragment {
        let bounds: SQLFragment =
            switch type {
            case .integer16AttributeType: "\(number: Int16.min) AND \(number: Int16.max)"
            case .integer32AttributeType: "\(number: Int32.min) AND \(number: Int32.max)"
            default: "\(number: -Int64.max) AND \(number: Int64.max)"
            }
        // The sign keeps SQLite from converting texts, which are greater than all numbers.
        return "((\(value)) IS NULL OR +(\(value)) BETWEEN \(bounds) AND +(\(value)) = CAST(\(value) AS INTEGER))"
    }

    /// `NSCoreDataStringSearch(t0.ZNAME, ?, 8, 3)`, with the raw values of the operator and its options.
    package func stringSearch(
        _ left: SQLFragment, _ right: SQLFragment, _ comparison: ComparisonOperator, _ options: StringOptions
    ) -> SQLFragment {
        let search: SQLFragment = "\(word: SQLFunctionName.stringSearch)(\(left), \(right)"
        return "\(search), \(number: comparison.rawValue), \(number: options.rawValue))"
    }

    /// The number of keys from which they are one parameter, since SQLite limits how many a statement has.
    private static let manyKeys = 500

    /// `t0.Z_PK IN (?, …)`, or `t0.Z_PK IN (SELECT value FROM PippinKeys(?))` for many objects.
    package func among(_ operand: SQLFragment, _ list: [SQLFragment]) -> SQLFragment {
        guard list.count >= Self.manyKeys else { return "\(operand) IN (\(.list(list)))" }
        let keys = list.compactMap(\.key)
        guard keys.count == list.count else { return "\(operand) IN (\(.list(list)))" }
        return "\(operand) IN (SELECT value FROM \(word: SQLFunctionName.keys)(\(binding: .list(keys))))"
    }

    /// `PippinFolded(t0.ZNAME, 3) IN (?, …)`: each text is folded once, and looked up.
    package func amongTexts(_ operand: SQLFragment, _ list: [SQLFragment], _ options: StringOptions) -> SQLFragment {
        func folded(_ text: SQLFragment) -> SQLFragment {
            "\(word: SQLFunctionName.folded)(\(text), \(number: options.rawValue))"
        }
        return "\(folded(operand)) IN (\(.list(list.map { $0.bound(folded: options) ?? folded($0) })))"
    }

    /// SQLite does not turn `EXISTS` into a join, and would look for destinations of every row.
    package func existence(_ existence: SQLExistence) -> SQLFragment { existence.membership }

    package func truth(_ isTrue: Bool) -> String { isTrue ? "1" : "0" }

    package func order(_ operand: SQLFragment, _ comparison: SortTerm.Comparison, isAscending: Bool) -> SQLFragment {
        "\(operand)\(collation(comparison))\(isAscending ? "" : " DESC" as SQLFragment)"
    }

    private func collation(_ comparison: SortTerm.Comparison) -> SQLFragment {
        switch comparison {
        case .plain: ""
        case .caseInsensitive: " COLLATE \(word: SQLCollationName.caseInsensitive)"
        case .localized: " COLLATE \(word: SQLCollationName.localized)"
        case .localizedCaseInsensitive: " COLLATE \(word: SQLCollationName.localizedCaseInsensitive)"
        case .localizedStandard: " COLLATE \(word: SQLCollationName.localizedStandard)"
        }
    }

    package func page(limit: SQLBinding, offset: SQLBinding?) -> SQLFragment {
        let page: SQLFragment = " LIMIT \(binding: limit)"
        return offset.map { "\(page) OFFSET \(binding: $0)" } ?? page
    }

    package func insert(_ insert: SQLInsert) -> SQLFragment {
        var isIgnored = false
        var ending = SQLFragment.empty
        switch insert.conflict {
        case nil: break
        case .ignored: isIgnored = !insert.returnsKey
        case .updates(let changes): ending = " ON CONFLICT DO UPDATE SET \(changes)"
        }
        if insert.returnsKey {
            if insert.conflict == .ignored { ending = " ON CONFLICT DO NOTHING" }
            ending = "\(ending) RETURNING \(.key)\(insert.returnsEntity ? ", \(.entity)" : "")"
        }
        let verb: SQLFragment = isIgnored ? "INSERT OR IGNORE INTO" : "INSERT INTO"
        let columns = SQLFragment.list(insert.columns.map { "\($0)" })
        let rows = insert.rows ?? "VALUES (\(.placeholders(insert.columns.count)))"
        return "\(verb) \(name: insert.table) (\(columns)) \(rows)\(ending)"
    }

    /// The unary plus prevents SQLite from using an index of the column.
    package func unindexed(_ operand: SQLFragment) -> SQLFragment { "+\(operand)" }
}

extension SQLFragment {
    /// A constant that is folded when it is bound; nil for anything else.
    fileprivate func bound(folded options: StringOptions) -> SQLFragment? {
        guard segments.count == 1, case .parameter(let binding) = segments[0] else { return nil }
        switch binding {
        case .constant(let value, .column(let storage)):
            return .parameter(.constant(value, .folded(storage, options)))
        case .argument(let index, .column(let storage)): return .parameter(.argument(index, .folded(storage, options)))
        case .element(of: let index, at: let position, .column(let storage)):
            return .parameter(.element(of: index, at: position, .folded(storage, options)))
        default: return nil
        }
    }

    /// The binding of an object's key; nil for anything else.
    fileprivate var key: SQLBinding? {
        guard segments.count == 1, case .parameter(let binding) = segments[0], binding.isKey else { return nil }
        return binding
    }

    /// The statement for SQLite.
    package var sqlite: SQLStatement { rendered(by: SQLiteDialect()) }
}

/// Writes an identifier as SQL: unchanged if it is a plain word, otherwise in double quotes.
package func quoted(_ identifier: String) -> String {
    let isPlain = identifier.utf8.allSatisfy { byte in
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            return true
        default: return false
        }
    }
    // Core Data's names begin with Z or A_, and are not keywords; a leading digit cannot occur.
    if isPlain { return identifier }
    return "\"" + doubled("\"", in: identifier) + "\""
}

/// A text in which a quotation mark is doubled, also before a combining character, with which it is one `Character`.
func doubled(_ mark: Unicode.Scalar, in text: String) -> String {
    var result = String.UnicodeScalarView()
    for scalar in text.unicodeScalars {
        result.append(scalar)
        if scalar == mark { result.append(scalar) }
    }
    return String(result)
}
