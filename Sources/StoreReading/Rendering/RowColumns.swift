import CoreData
import StoreEngine

/// The values of rows to write, by name.
package struct RowColumns {
    package struct Column {
        package let name: String
        let slot: Int
    }

    package let entity: EntityLayout
    package let columns: [Column]

    /// Everything that the store keeps in a row: attributes and to-one relationships.
    package init(of entity: EntityLayout) {
        self.entity = entity
        columns = entity.slots.indices.filter { !entity.slots[$0].isTransient }.map {
            Column(name: entity.slots[$0].name, slot: $0)
        }
    }

    /// Some of the columns, in the given order.
    ///
    /// - Throws: `CommandError` for an unknown name.
    package init(of entity: EntityLayout, names: [String]) throws {
        let all = RowColumns(of: entity).columns
        self.entity = entity
        columns = try names.map { name in
            let resolved = StoredNames.resolved(name, in: entity)
            guard let column = all.first(where: { $0.name == resolved }) else {
                let known = TextProblem.hint(for: name, among: all.map(\.name))
                throw CommandError("“\(entity.name)” has no column “\(name)”; \(known)")
            }
            return column
        }
    }

    /// The columns with numbers, following the object's own number, which is one as well.
    package var numbers: Set<Int> {
        let numbers = columns.indices.filter { entity.slots[columns[$0].slot].attribute?.type.isNumber ?? false }
        return Set([0] + numbers.map { $0 + 1 })
    }

    /// The numbers of the entity's properties that are shown.
    var slots: [Int] { columns.map(\.slot) }

    func value(_ row: Row, _ column: Column) -> FieldValue {
        let slot = row.objectID.layout.slots[column.slot]
        if let attribute = slot.attribute { return FieldValue(row.values[column.slot], attribute) }
        switch row.values[column.slot] {
        case .identifier(let identifier): return .object(ObjectLink(identifier))
        case .object(let object as UnavailableValue): return .unknown(object.reason)
        default: return .noObject
        }
    }
}

/// Rows as text, one after the other. Pure.
package struct RowWriter {
    private let format: RowFormat
    private let columns: RowColumns
    private let isVerbatim: Bool
    private let marksGaps: Bool
    private let style: ValueStyle
    private var count = 0
    /// How many values cannot be read, and which is the first.
    private var gaps = (count: 0, first: "")
    private let decimals: [Int: Int]

    /// - Parameters:
    ///   - format: any format except a table, whose widths need all rows.
    ///   - columns: the values to write of each row.
    ///   - isVerbatim: whether cells of CSV are written unchanged; otherwise an apostrophe is put before what a
    ///     spreadsheet would evaluate.
    ///   - marksGaps: whether values that cannot be read are marked, in JSON in each object and in CSV in a column of
    ///     their own; otherwise they are only left out. See `ValueMarks`.
    ///   - style: how values are shown, and what is beside them.
    ///   - decimals: the fewest decimals of the second in each column of dates, by slot.
    package init(
        _ format: RowFormat, _ columns: RowColumns, isVerbatim: Bool = false, marksGaps: Bool = false,
        style: ValueStyle = ValueStyle(), decimals: [Int: Int] = [:]
    ) {
        (self.style, self.decimals) = (style, decimals)
        self.format = format
        self.columns = columns
        self.isVerbatim = isVerbatim
        self.marksGaps = marksGaps
    }

    /// The text before the rows.
    package var start: String {
        switch format {
        case .csv:
            CSVText.line(
                [ObjectHead.name]
                    + columns.columns.map { column in
                        let head = ObjectHead.property(column.name)
                        return isVerbatim ? head : CSVText.guarded(head)
                    } + style.names(marks: marksGaps))
        case .json: "["
        case .jsonl, .table: ""
        }
    }

    /// The text after the rows.
    package var end: String { format == .json ? (count == 0 ? "]\n" : "\n]\n") : "" }

    /// Writes a row: as one text, if no value is long.
    package mutating func write(_ row: Row, _ output: (String) throws -> Void) throws {
        count += 1
        let (uri, entity) = (row.objectID.uriText, row.objectID.layout.name)
        let found = columns.columns.map { (name: $0.name, value: read(row, $0)) }
        let members = style.members(beside: found, of: entity, marks: marksGaps)
        let fields = zip(columns.columns, found).map { column, field in
            (name: field.name, value: value(field.value, row, column, entity))
        }
        switch format {
        case .csv:
            let cells = style.names(marks: marksGaps).map { name in members.first { $0.0 == name }?.1 ?? "" }
            try CSVText.write(
                uri, fields.map(\.value.withoutGaps), beside: cells, isVerbatim: isVerbatim, output)
        case .json:
            try DumpJSON.write(uri, fields, beside: members, from: count == 1 ? "\n  " : ",\n  ", output)
        case .jsonl, .table:
            try DumpJSON.write(uri, fields, beside: members, from: "", to: "\n", isLine: true, output)
        }
    }

    /// What was left out of the rows, as a sentence without its final period; nil for nothing.
    package var omission: String? {
        switch gaps.count {
        case 0: nil
        case 1: "a value cannot be read, and is left out: \(gaps.first)"
        default: "\(gaps.count) values cannot be read, and are left out; the first is \(gaps.first)"
        }
    }

    private mutating func read(_ row: Row, _ column: RowColumns.Column) -> FieldValue {
        let value = columns.value(row, column)
        guard let gap = value.gap else { return value }
        gaps.count += 1
        if gaps.count == 1 { gaps.first = "\(row.objectID.layout.name)/p\(row.objectID.key).\(column.name) (\(gap))" }
        return value
    }

    /// A value of a row as it is written. JSON of several lines cannot be in a line of JSON Lines: if only its bytes
    /// say that it is JSON, it is written as bytes.
    private func value(
        _ value: FieldValue, _ row: Row, _ column: RowColumns.Column, _ entity: String
    ) -> FieldValue {
        let value = style.inZone(style.shown(value, column.name, of: entity), decimals: decimals[column.slot] ?? 0)
        guard format == .jsonl, case .json(let text) = value, text.utf8.contains(where: { $0 == 0x0A || $0 == 0x0D })
        else { return value }
        guard row.objectID.layout.slots[column.slot].attribute?.isJSON ?? false else { return .data(Data(text.utf8)) }
        return LongText.isLong(value) ? value : .json(Self.withoutLineBreaks(text))
    }

    /// JSON in one line: line breaks occur only between tokens, and are escaped within a JSON string.
    static func withoutLineBreaks(_ text: String) -> String {
        text.replacing("\r\n", with: " ").replacing("\n", with: " ").replacing("\r", with: " ")
    }

    /// A row's values for people.
    package func cells(of row: Row) -> [String] {
        [
            row.objectID.layout === columns.entity
                ? "\(row.objectID.key)"
                : "\(TextTools.inOneLine(row.objectID.layout.name))/\(row.objectID.key)"
        ]
            + columns.columns.map { column in
                let (value, entity) = (columns.value(row, column), row.objectID.layout.name)
                return Self.cell(style.inZone(style.shown(value, column.name, of: entity)))
                    + style.rawText(of: value, column.name, of: entity)
            }
    }

    package var heads: [String] { ["#"] + columns.columns.map { TextTools.inOneLine($0.name) } }

    private static func cell(_ value: FieldValue) -> String {
        switch value {
        case .string(let text): DumpText.cell(text)
        case .object(let link): "→ \(TextTools.inOneLine(link.entityName))/\(link.key)"
        default: DumpText.text(of: value)
        }
    }
}

/// The formats of rows.
package enum RowFormat: String, CaseIterable, Sendable {
    case table
    case csv
    case json
    case jsonl

    package var mediaType: String {
        switch self {
        case .table: "text/plain; charset=utf-8"
        case .csv: "text/csv; charset=utf-8; header=present"
        case .json: "application/json"
        case .jsonl: "application/jsonl"
        }
    }
}
