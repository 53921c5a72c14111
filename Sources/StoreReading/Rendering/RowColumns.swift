import CoreData
import StoreEngine

/// The values of rows to write, by name.
package struct RowColumns {
    package struct Column {
        package let name: String
        let slot: Int
        /// The slots of the to-one relationships that lead to the object which has the value; none for the row itself.
        var path: [Int] = []
        /// The entity that these lead to.
        let entity: EntityLayout

        var attribute: AttributeLayout? { entity.slots[slot].attribute }
        /// The property's own name.
        var property: String { path.isEmpty ? name : entity.slots[slot].name }
    }

    /// The objects that a portion of the rows leads to.
    private final class RelatedRows {
        struct Key: Hashable {
            let root: ObjectIdentifier
            let key: Int64

            init(_ identifier: NSManagedObjectID) {
                (root, key) = (ObjectIdentifier(identifier.layout.root), identifier.key)
            }
        }

        var rows: [Key: Row] = [:]
    }

    package let entity: EntityLayout
    package let columns: [Column]
    private let related = RelatedRows()

    /// Everything that the store keeps in a row: attributes and to-one relationships.
    package init(of entity: EntityLayout) {
        self.entity = entity
        columns = entity.slots.indices.filter { !entity.slots[$0].isTransient }.map {
            Column(name: entity.slots[$0].name, slot: $0, entity: entity)
        }
    }

    /// Some of the columns, in the given order, and columns of related objects, such as `author.name`.
    ///
    /// - Throws: `CommandError` for an unknown name, and for a relationship to many on the way.
    package init(of entity: EntityLayout, names: [String]) throws {
        let all = RowColumns(of: entity).columns
        self.entity = entity
        columns = try names.map { name in
            if name.contains("."), let column = try Self.related(name, of: entity) { return column }
            let resolved = StoredNames.resolved(name, in: entity)
            guard let column = all.first(where: { $0.name == resolved }) else {
                let known = TextProblem.hint(for: name, among: all.map(\.name))
                throw CommandError("“\(entity.name)” has no column “\(name)”; \(known)")
            }
            return column
        }
    }

    /// The column of a related object; nil if the first name is not a relationship.
    private static func related(_ name: String, of entity: EntityLayout) throws -> Column? {
        var (here, path) = (entity, [Int]())
        let names = StoredNames.resolved(name.split(separator: ".").map(String.init), in: entity)
        for (index, key) in names.enumerated() {
            if index == names.count - 1, let slot = here.slotIndex(forName: key), !here.slots[slot].isTransient {
                return path.isEmpty ? nil : Column(name: name, slot: slot, path: path, entity: here)
            }
            guard let relationship = here.relationship(named: key) else {
                if index == 0 { return nil }
                let known = TextProblem.hint(
                    for: key, among: Set(here.selfAndSubentities.flatMap(\.propertyByName.keys)).sorted())
                throw CommandError("“\(here.name)” has no “\(key)”, which “\(name)” names; \(known)")
            }
            guard !relationship.isToMany else {
                throw CommandError(
                    "“\(key)” leads from “\(here.name)” to many objects; a column takes one value of each row, such as author.name"
                )
            }
            path.append(relationship.slot)
            here = relationship.destination
        }
        return nil
    }

    /// Reads the objects that rows lead to, before these are written.
    func readRelated(of rows: ContiguousArray<Row>, in store: DirectStore) throws {
        related.rows = [:]
        for column in columns where !column.path.isEmpty {
            var current = Array(rows)
            for slot in column.path {
                let identifiers = current.compactMap { row -> NSManagedObjectID? in
                    if case .identifier(let identifier) = row.values[slot] { identifier } else { nil }
                }
                let unknown = Set(identifiers).filter { related.rows[.init($0)] == nil }
                if !unknown.isEmpty {
                    let found = try store.asking { try $0.rows(for: unknown.sorted { $0.key < $1.key }) }
                    for row in found { related.rows[.init(row.objectID)] = row }
                }
                current = identifiers.compactMap { related.rows[.init($0)] }
            }
        }
    }

    /// The columns with numbers, following the object's own number, which is one as well.
    package var numbers: Set<Int> {
        let numbers = columns.indices.filter { columns[$0].attribute?.type.isNumber ?? false }
        return Set([0] + numbers.map { $0 + 1 })
    }

    /// The numbers of the entity's own properties that are shown.
    var slots: [Int] { columns.filter(\.path.isEmpty).map(\.slot) }

    func value(_ row: Row, _ column: Column) -> FieldValue {
        var row = row
        for slot in column.path {
            switch row.values[slot] {
            case .identifier(let identifier):
                guard let next = related.rows[.init(identifier)] else {
                    return .unknown("\(identifier.layout.name)/p\(identifier.key) is not there")
                }
                row = next
            case .object(let object as UnavailableValue): return .unknown(object.reason)
            default: return column.attribute == nil ? .noObject : .null
            }
        }
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
        let shown = column.path.isEmpty ? entity : column.entity.name
        let decimals = column.path.isEmpty ? decimals[column.slot] ?? 0 : 0
        let value = style.inZone(style.shown(value, column.property, of: shown), decimals: decimals)
        guard format == .jsonl, case .json(let text) = value, text.utf8.contains(where: { $0 == 0x0A || $0 == 0x0D })
        else { return value }
        let attribute =
            column.path.isEmpty ? row.objectID.layout.slots[column.slot].attribute : column.attribute
        guard attribute?.isJSON ?? false else { return .data(Data(text.utf8)) }
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
                let value = columns.value(row, column)
                let entity = column.path.isEmpty ? row.objectID.layout.name : column.entity.name
                return Self.cell(style.inZone(style.shown(value, column.property, of: entity)))
                    + style.rawText(of: value, column.property, of: entity)
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
