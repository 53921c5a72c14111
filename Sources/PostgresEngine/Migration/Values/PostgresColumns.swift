import CoreDataModel
import Foundation
import MigrationPlans
import PostgresConnection
import SQLGeneration
import StoreEngine

/// The values of rows in PostgreSQL's form. Pure.
struct PostgresColumns: ColumnMoving {
    /// The epoch of Foundation's dates, as the database writes it.
    private static let epoch: SQLFragment = "timestamptz '2001-01-01 00:00:00+00'"

    func literal(
        _ value: StoredValue, _ column: SlotColumn, _ attribute: AttributeLayout?, _ mapping: EntityMapping,
        _ schema: SQLSchema
    ) throws -> SQLFragment {
        switch (value, ColumnKind(column.storage, attribute)) {
        case (.null, _): return "NULL"
        case (.integer(let number), .boolean): return number == 0 ? "FALSE" : "TRUE"
        case (.integer(let number), _): return "\(literal: .integer(number))"
        case (.double(let number), _): return number.isNaN ? "NULL" : "\(literal: .double(number))"
        case (.string(let text), _) where !text.utf8.contains(0): return "\(text: text)"
        case (.uuid(let uuid), _): return "\(text: uuid.uuidString)::uuid"
        case (.data(let data), _): return "\(literal: .blob(data))"
        case (.date(let seconds), _): if let date = Self.date(seconds) { return date }
        case (.object(let url as NSURL), .url): return "\(text: (url as URL).absoluteString)"
        case (.object(let number as NSDecimalNumber), .decimal):
            return number == NSDecimalNumber.notANumber
                ? "NULL" : "\(text: number.description(withLocale: nil))::numeric"
        case (.object(let object), .transformable):
            if let data = TransformableCoding.bytes(of: object, for: attribute) { return "\(literal: .blob(data))" }
        default: break
        }
        throw StoreError.make(
            CoreDataErrorCode.managedObjectValidation,
            "The default value of “\(mapping.layout.name).\(column.property)” cannot be stored in PostgreSQL.")
    }

    // In parentheses: a column's DEFAULT takes no operator of several words.
    private static func date(_ seconds: Double) -> SQLFragment? {
        if seconds.isNaN { return "NULL" }
        if seconds.isInfinite { return seconds > 0 ? "timestamptz 'infinity'" : "timestamptz '-infinity'" }
        guard let timestamp = Timestamp(secondsSince2001: seconds) else { return nil }
        let (days, rest) = timestamp.microseconds.quotientAndRemainder(dividingBy: 86_400_000_000)
        let parts: SQLFragment = "\(number: days) * interval '1 day' + \(number: rest) * interval '1 microsecond'"
        return "((timestamp '2000-01-01 00:00:00' + \(parts)) AT TIME ZONE 'UTC')"
    }

    // MARK: Other types

    func moved(
        _ column: SlotColumn, _ source: AttributeLayout, to destination: SlotColumn, _ attribute: AttributeLayout,
        fallback: SQLFragment?
    ) -> MovedValue {
        let (before, now) = (ColumnKind(column.storage, source), ColumnKind(destination.storage, attribute))
        let converted = Self.converted("\(name: column.name)", before, now)
        let value: MovedValue = converted.map { .computed($0) } ?? .column(column.name)
        return value.orElse(fallback)
    }

    /// The SQL of the conversion; nil for an unchanged value.
    static func converted(_ value: SQLFragment, _ before: ColumnKind, _ now: ColumnKind) -> SQLFragment? {
        guard before.type != now.type else { return nil }
        let type: SQLFragment = "\(word: now.type.name)"
        switch (before, now) {
        case (.boolean, .smallint), (.boolean, .integer), (.boolean, .bigint): return "\(value)::integer::\(type)"
        case (.boolean, .double), (.boolean, .decimal): return "\(value)::integer::\(type)"
        case (_, .boolean) where before.isNumber: return "(\(value) <> 0)"
        case (.double, .decimal): return "\(value)::text::numeric"
        case (.double, _) where now.isWhole: return "trunc(\(value))::\(type)"
        case (.decimal, _) where now.isWhole: return "trunc(\(value))::\(type)"
        case (_, _) where before.isNumber && now.isNumber: return "\(value)::\(type)"
        case (.date, .double): return "extract(epoch FROM \(value) - \(epoch))::double precision"
        case (.double, .date): return "\(epoch) + \(value) * interval '1 second'"
        case (_, .string), (_, .url): return "\(value)::text"
        case (.string, .data): return "convert_to(\(value), 'UTF8')"
        case (.data, _), (.transformable, _): return "convert_from(\(value), 'UTF8')::\(type)"
        default: return "\(value)::text::\(type)"
        }
    }

    // MARK: Nested values that were kept as JSON

    func nested(_ column: String, _ path: [String], _ element: AttributeLayout) -> SQLFragment {
        if element.isPresenceMark {
            let mark: SQLFragment = element.type == .booleanAttributeType ? "TRUE" : "1"
            return "CASE WHEN \(nestedIsPresent(column, Array(path.dropLast()))) THEN \(mark) END"
        }
        let text: SQLFragment = "(\(json(column)) #>> \(keys(path)))"
        if element.isJSON { return "convert_to((\(json(column)) #> \(keys(path)))::text, 'UTF8')" }
        if element.type == .booleanAttributeType { return "\(text)::boolean" }
        let kind = ColumnKind(ColumnStorage(element) ?? .string, element)
        switch kind {
        case .data, .transformable: return "decode(\(text), 'base64')"
        case .date: return "\(Self.epoch) + \(text)::double precision * interval '1 second'"
        case .smallint, .integer, .bigint: return "\(text)::numeric::\(word: kind.type.name)"
        default: return "\(text)::\(word: kind.type.name)"
        }
    }

    func nestedIsPresent(_ column: String, _ path: [String]) -> SQLFragment {
        let value: SQLFragment = path.isEmpty ? json(column) : "(\(json(column)) #> \(keys(path)))"
        return "COALESCE(jsonb_typeof(\(value)) <> 'null', FALSE)"
    }

    /// Whether the JSON in a column has other parts than some. An empty list has nothing.
    static func hasOtherParts(_ column: String, _ parts: NestedParts) -> SQLFragment {
        hasOthers(in: json(column), parts)
    }

    private static func hasOthers(in value: SQLFragment, _ parts: NestedParts) -> SQLFragment {
        let keys = SQLFragment.list(parts.members.keys.sorted().map { "\(text: $0)" as SQLFragment })
        var others: [SQLFragment] = [
            "EXISTS (SELECT 1 FROM jsonb_each(\(value)) AS part(k, v) WHERE v <> 'null' AND k <> ALL (ARRAY[\(keys)]::text[]))"
        ]
        for (key, inner) in parts.members.sorted(by: { $0.key < $1.key }) {
            if let inner { others.append(hasOthers(in: "(\(value) -> \(text: key))", inner)) }
        }
        return """
            CASE COALESCE(jsonb_typeof(\(value)), 'null') WHEN 'null' THEN FALSE WHEN 'array' THEN jsonb_array_length(\(value)) > 0 \
            WHEN 'object' THEN \(.joined(others, separator: " OR ")) ELSE TRUE END
            """
    }

    private func json(_ column: String) -> SQLFragment { Self.json(column) }
    private static func json(_ column: String) -> SQLFragment { "convert_from(\(name: column), 'UTF8')::jsonb" }
    private func keys(_ path: [String]) -> SQLFragment {
        "ARRAY[\(.list(path.map { "\(text: $0)" as SQLFragment }))]::text[]"
    }
}

extension ColumnKind {
    fileprivate var isWhole: Bool {
        switch self {
        case .smallint, .integer, .bigint: true
        default: false
        }
    }

    fileprivate var isNumber: Bool { isWhole || self == .double || self == .decimal }
}
