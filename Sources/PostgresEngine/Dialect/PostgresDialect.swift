import CoreDataModel
import PostgresConnection
import PredicateFormat
import SQLGeneration

/// The SQL dialect of PostgreSQL.
package struct PostgresDialect: SQLDialect {
    package init() {}

    package func parameter(_ number: Int) -> String { "$\(number)" }
    package func numbered(_ number: Int) -> String { "$\(number)" }
    // PostgreSQL does not see that two parameters have one value: `GROUP BY lower($1)` would not match `SELECT
    // lower($2)`.
    package var sharesParameters: Bool { true }
    package func identifier(_ name: String) -> String { quotedName(name) }

    package func name(_ column: SQLColumn.Name) -> String {
        switch column {
        case .key: ColumnName.key
        case .entity: ColumnName.entity
        case .version: ColumnName.version
        case .named(let name): identifier(name)
        }
    }

    package func literal(_ value: SQLValue) -> String {
        switch value {
        case .null: "NULL"
        case .integer(let number): String(number)
        case .double(let number):
            number.isFinite
                ? "\(number)::double precision" : "'\(number.isNaN ? "NaN" : "\(number)inity")'::double precision"
        case .text(let text): quotedText(text)
        case .blob(let data):
            quotedText("\\x" + data.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined())
                + "::bytea"
        }
    }

    package func same(_ left: SQLFragment, _ right: SQLFragment, isNegated: Bool) -> SQLFragment {
        isNegated ? "\(left) IS DISTINCT FROM \(right)" : "\(left) IS NOT DISTINCT FROM \(right)"
    }

    package func call(_ function: SQLFunction, _ arguments: [SQLFragment]) -> SQLFragment {
        let list = SQLFragment.list(arguments)
        return switch function {
        case .now: "now()"
        // By the rules of Unicode, as Swift does it, and not by those of the database's locale. A final sigma is
        // treated like any other.
        case .uppercase: "(upper(\(list) COLLATE \"und-x-icu\") COLLATE \"C\")"
        case .lowercase: "(lower(replace(\(list), 'Σ', 'σ') COLLATE \"und-x-icu\") COLLATE \"C\")"
        case .canonical: "canonical(\(list))"
        // Never run, since `isExactInPostgres` is false.
        case .search: "search(\(list))"
        case .ifNull: "COALESCE(\(list))"
        case .orderedByBytes: "(\(list) COLLATE \"C\")"
        // All values of a column have its type.
        case .haveSameKind: "TRUE"
        // A sum of bigints is a numeric, which would be divided as a fraction.
        case .sum(let isWhole): isWhole ? "SUM(\(list))::bigint" : "SUM(\(list))"
        case .decimalSum: "SUM(\(list))"
        case .extreme(let isGreatest, .boolean): "\(word: isGreatest ? "bool_or" : "bool_and")(\(list))"
        case .extreme(let isGreatest, .uuid):
            "\(word: isGreatest ? "MAX" : "MIN")((\(list))::text COLLATE \"C\")::uuid"
        case .extreme(let isGreatest, _): "\(word: isGreatest ? "MAX" : "MIN")(\(list))"
        case .average: "AVG((\(list))::double precision)"
        case .wholeNumber(let type, _): wholeNumber(list, type)
        // All bytes are in the table in this engine, and its statements do not ask for this.
        case .isInFile: "FALSE"
        case .fileContent, .inlinedContent, .markedContent: list
        case .changedProperties, .nestedValue: "NULL"
        case .listed(let kind): kind.rows(in: list)
        }
    }

    /// Casts the value to the type, which fails if it does not fit; a fraction fails like a number that is too large.
    private func wholeNumber(_ value: SQLFragment, _ type: NSAttributeType) -> SQLFragment {
        let name: SQLFragment =
            switch type {
            case .integer16AttributeType: "smallint"
            case .integer32AttributeType: "integer"
            default: "bigint"
            }
        let whole: SQLFragment = "trunc((\(value))::numeric) = (\(value))::numeric"
        return
            "CASE WHEN \(whole) THEN (\(value))::\(name) WHEN \(whole) IS NULL THEN NULL ELSE ((\(value))::numeric + 1e30)::\(name) END"
    }

    /// Whether the database compares two texts as memory does.
    static func isExact(_ comparison: ComparisonOperator, _ options: StringOptions) -> Bool {
        guard options.isEmpty || options.contains(.normalized) else { return false }
        switch comparison {
        case .like, .matches: return false
        default: return true
        }
    }

    package func stringSearch(
        _ left: SQLFragment, _ right: SQLFragment, _ comparison: ComparisonOperator, _ options: StringOptions
    ) -> SQLFragment {
        guard Self.isExact(comparison, options) else {
            // Never run, since `isExactInPostgres` is false. The server would refuse it, instead of comparing
            // differently.
            return "not_compared_by_the_database(\(left), \(right))"
        }
        return switch comparison {
        case .contains, .in: "strpos(\(left), \(right)) > 0"
        case .beginsWith: "starts_with(\(left), \(right))"
        // A long operand is not repeated: nested comparisons would double the SQL at each level.
        case .endsWith where !right.isPlain: "starts_with(reverse(\(left)), reverse(\(right)))"
        case .endsWith: "right(\(left), length(\(right))) = \(right)"
        case .lessThan: "\(left) COLLATE \"C\" < \(right)"
        case .lessThanOrEqualTo: "\(left) COLLATE \"C\" <= \(right)"
        case .greaterThan: "\(left) COLLATE \"C\" > \(right)"
        case .greaterThanOrEqualTo: "\(left) COLLATE \"C\" >= \(right)"
        case .notEqualTo: "\(left) <> \(right)"
        default: "\(left) = \(right)"
        }
    }

    package func order(_ operand: SQLFragment, _ comparison: SortTerm.Comparison, isAscending: Bool) -> SQLFragment {
        isAscending ? "\(operand) NULLS FIRST" : "\(operand) DESC NULLS LAST"
    }

    /// The number of values from which an array is bound instead of single values.
    private static let arrayThreshold = 8

    package func among(_ operand: SQLFragment, _ list: [SQLFragment]) -> SQLFragment {
        let bindings = list.compactMap(\.listed)
        guard list.count >= Self.arrayThreshold, bindings.count == list.count else {
            return "\(operand) IN (\(.list(list)))"
        }
        return "\(operand) = ANY(\(binding: .list(bindings)))"
    }

    package func truth(_ isTrue: Bool) -> String { isTrue ? "TRUE" : "FALSE" }

    package func page(limit: SQLBinding, offset: SQLBinding?) -> SQLFragment {
        let page: SQLFragment = " LIMIT \(binding: limit)"
        return offset.map { "\(page) OFFSET \(binding: $0)" } ?? page
    }

    package func insert(_ insert: SQLInsert) -> SQLFragment {
        let columns = SQLFragment.list(insert.columns.map { "\($0)" })
        let rows = insert.rows ?? "VALUES (\(.placeholders(insert.columns.count)))"
        let ending: SQLFragment =
            switch insert.conflict {
            case nil: ""
            case .ignored: " ON CONFLICT DO NOTHING"
            case .updates(let changes): " ON CONFLICT DO UPDATE SET \(changes)"
            }
        let returning: SQLFragment = insert.returnsKey ? " RETURNING \(.key)" : ""
        return "INSERT INTO \(name: insert.table) (\(columns)) \(rows)\(ending)\(returning)"
    }

    package func unindexed(_ operand: SQLFragment) -> SQLFragment { operand }
}

extension SQLFragment {
    /// The statement for PostgreSQL.
    package var postgres: SQLStatement { rendered(by: PostgresDialect()) }

    /// Whether the database answers as evaluation in memory does. If not, the engine evaluates that part itself.
    package var isExactInPostgres: Bool {
        segments.allSatisfy { segment in
            switch segment {
            case .stringSearch(let left, let right, let comparison, let options):
                PostgresDialect.isExact(comparison, options) && left.isExactInPostgres && right.isExactInPostgres
            // PostgreSQL turns a whole number into a fraction if both are compared, and loses digits.
            case .mixingNumbers, .call(.canonical, _), .call(.search, _), .call(.haveSameKind, _): false
            // A date in JSON has more digits than a timestamp.
            case .call(.listed(.date), _): false
            case .call(_, let arguments): arguments.allSatisfy(\.isExactInPostgres)
            case .amongTexts(let operand, let list, let options):
                PostgresDialect.isExact(.equalTo, options) && operand.isExactInPostgres
                    && list.allSatisfy(\.isExactInPostgres)
            case .existence(let existence): existence.rows.isExactInPostgres
            case .among(let operand, let list):
                operand.isExactInPostgres && list.allSatisfy(\.isExactInPostgres)
            case .select(let inner), .unindexed(let inner): inner.isExactInPostgres
            case .same(let left, let right, _): left.isExactInPostgres && right.isExactInPostgres
            case .order(let operand, let comparison, _): comparison == .plain && operand.isExactInPostgres
            default: true
            }
        }
    }
}

extension SQLFragment {
    /// The value if it can be an element of an array: a text, a UUID or an object's key, which are compared as they
    /// are.
    fileprivate var listed: SQLBinding? {
        guard segments.count == 1, case .parameter(let binding) = segments[0] else { return nil }
        if binding.isKey { return binding }
        switch binding {
        case .constant(_, .column(.string)), .element(_, _, .column(.string)), .constant(_, .column(.uuid)),
            .element(_, _, .column(.uuid)):
            return binding
        default: return nil
        }
    }
}

extension ListedKind {
    /// The single values of a list as rows, from the bytes of its JSON:
    /// `(SELECT value::bigint AS value FROM json_array_elements_text(convert_from(t0.sizes, 'UTF8')::json))`.
    ///
    /// For bytes that are not a list, and a zero character, PostgreSQL refuses the statement; then the engine evaluates
    /// the condition itself.
    func rows(in json: SQLFragment) -> SQLFragment {
        "(SELECT \(value) AS value FROM json_array_elements_text(convert_from(\(json), 'UTF8')::json))"
    }

    /// A value in its type.
    private var value: SQLFragment {
        switch self {
        case .boolean: "value::boolean"
        case .integer: "value::bigint"
        case .float: "value::real"
        case .double: "value::double precision"
        case .text, .url: "value COLLATE \"C\""
        case .uuid: "value::uuid"
        // Never run: a timestamp has fewer digits than a date in JSON.
        case .date: "NULL::timestamp"
        }
    }
}
