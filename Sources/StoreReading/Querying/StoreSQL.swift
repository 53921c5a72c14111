import CoreData
import Foundation
import StoreEngine

/// SQL over a store by the names of its model: entities are tables, attributes and to-one relationships are columns,
/// whatever the names in the database are. Pure, apart from ``run(_:columns:row:)``.
///
/// A statement gets what it names before it, as `WITH` clauses: `Book` has the column `_id` with the key, the
/// attributes, and for each to-one relationship the key of what it leads to. Pairs of a relationship between many and
/// many are the table `Book_tags` with the columns `book` and `tags`.
package struct StoreSQL {
    private let store: DirectStore

    package init(_ store: DirectStore) { self.store = store }

    /// Runs a statement.
    ///
    /// - Parameters:
    ///   - text: one `SELECT`.
    ///   - columns: receives the names of the columns.
    ///   - row: receives a row's values, and returns whether to go on.
    /// - Throws: `CommandError` for a store that is not in a database; an error for a statement that is wrong, or does
    ///   more than read.
    package func run(
        _ text: String, columns: ([String]) throws -> Void, row: ([FieldValue]) throws -> Bool
    ) throws {
        try store.asking { engine in
            guard let sql = engine.sql else {
                throw CommandError("“\(store.name)” is not a database: SQL is for stores in SQLite and PostgreSQL")
            }
            var count = 0
            try sql.read(
                Self.statement(text, store.layout, foldsNames: store.store.type != NSSQLiteStoreType),
                columns: {
                    count = $0.count
                    try columns($0)
                }
            ) { current in try row((0..<count).map { Self.field(try current.value(at: $0)) }) }
        }
    }

    private static func field(_ value: StoredValue) -> FieldValue {
        switch value {
        case .null: .null
        case .integer(let number): .integer(number)
        case .double(let number): .double(number)
        case .string(let text): .string(text)
        case .date(let seconds): .date(seconds)
        case .data(let data): .data(data)
        case .uuid(let uuid): .uuid(uuid)
        case .object(let number as NSDecimalNumber): .decimal(number.stringValue)
        case .identifier, .object: .unknown("it is of no type of SQL")
        }
    }

    /// A statement with what it names before it.
    ///
    /// - Parameters:
    ///   - text: the statement as it was written.
    ///   - layout: the store's model.
    ///   - foldsNames: whether the database takes names that are not in quotation marks as small letters, as PostgreSQL
    ///     does. SQLite does not distinguish the letters of names.
    /// - Returns: the statement.
    package static func statement(_ text: String, _ layout: ModelLayout, foldsNames: Bool) -> WrittenSQL {
        let words = Set(words(of: text).map { $0.lowercased() })
        var clauses: [[WrittenSQL.Part]] = []
        for entity in layout.entities {
            if words.contains(entity.name.lowercased()) {
                clauses.append(view(of: entity, foldsNames))
                let folded = entity.name.lowercased()
                if foldsNames, folded != entity.name {
                    clauses.append([.text("\(quoted(entity.name)) AS (SELECT * FROM \(quoted(folded)))")])
                }
            }
            for relationship in entity.relationships where relationship.isToMany {
                let name = "\(entity.name)_\(relationship.name)"
                guard words.contains(name.lowercased()), relationship.source === entity,
                    relationship.inverse?.isToMany == true
                else { continue }
                let source = folded(entity.name, true)
                let destination = folded(relationship.name, foldsNames)
                clauses.append(
                    [
                        .text("\(quoted(folded(name, foldsNames))) AS ("),
                        .pairs(
                            relationship, source: source,
                            destination: destination == source ? "other_\(destination)" : destination),
                        .text(")"),
                    ])
            }
        }
        guard !clauses.isEmpty else { return WrittenSQL([.text(text)]) }
        let (isRecursive, rest, hasClauses) = head(of: text)
        let views = clauses.flatMap { $0 + [.text(", ")] }.dropLast()
        return WrittenSQL(
            [.text(isRecursive ? "WITH RECURSIVE " : "WITH ")] + views + [.text(hasClauses ? ", " : " "), .text(rest)],
            original: text)
    }

    private static func folded(_ name: String, _ folds: Bool) -> String { folds ? name.lowercased() : name }

    /// What SQL calls a name, in any spelling.
    private static func quoted(_ name: String) -> String {
        "\"" + TextTools.replacing(0x22, with: "\"\"", in: name) + "\""
    }

    /// An entity as a selection with readable names and values.
    private static func view(of entity: EntityLayout, _ foldsNames: Bool) -> [WrittenSQL.Part] {
        var parts: [WrittenSQL.Part] = [
            .text("\(quoted(folded(entity.name, foldsNames))) AS (SELECT "), .key(entity), .text(" AS \"_id\""),
        ]
        func add(_ path: [String], _ type: NSAttributeType?, as name: [String]) {
            parts.append(.text(", "))
            switch type {
            case .dateAttributeType: parts.append(.date(entity, path))
            case .UUIDAttributeType where !foldsNames:
                // SQLite has the bytes.
                parts.append(.text("nullif(lower("))
                for (index, (start, count)) in [(1, 8), (9, 4), (13, 4), (17, 4), (21, 12)].enumerated() {
                    parts += [
                        .text(index == 0 ? "substr(hex(" : " || '-' || substr(hex("), .column(entity, path),
                        .text("), \(start), \(count))"),
                    ]
                }
                parts.append(.text("), '----')"))
            default: parts.append(.column(entity, path))
            }
            parts.append(.text(" AS \(quoted(folded(name.joined(separator: "_"), foldsNames)))"))
        }
        func add(_ attribute: AttributeLayout, _ path: [String]) {
            guard attribute.type == .compositeAttributeType else { return add(path, attribute.type, as: path) }
            // An enumeration's raw value is the enumeration.
            if ElementRole(of: attribute) == .rawValue, let raw = attribute.elements.first {
                return add(path + [raw.name], raw.type, as: path)
            }
            for element in attribute.elements { add(element, path + [element.name]) }
        }
        for slot in entity.slots where !slot.isTransient {
            if let attribute = slot.attribute {
                add(attribute, [slot.name])
            } else {
                add([slot.name], nil, as: [slot.name])
            }
        }
        return parts + [.text(" FROM "), .table(entity), .text(" WHERE "), .isOf(entity), .text(")")]
    }

    /// The words of a statement: what may be names, in quotation marks or not.
    private static func words(of text: String) -> [String] {
        text.split { !($0.isLetter || $0.isNumber || $0 == "_") }.map(String.init)
            + text.split(separator: "\"").map(String.init)
    }

    /// What a statement begins with: whether it has recursive clauses, the text after `WITH`, and whether there was
    /// one.
    private static func head(of text: String) -> (isRecursive: Bool, rest: String, hasClauses: Bool) {
        var rest = Substring(text)
        func skipBlanks() {
            while true {
                rest = rest.drop { $0.isWhitespace }
                if rest.hasPrefix("--") {
                    rest = rest.drop { !$0.isNewline }
                } else if rest.hasPrefix("/*"), let end = rest.range(of: "*/") {
                    rest = rest[end.upperBound...]
                } else {
                    return
                }
            }
        }
        func skip(_ word: String) -> Bool {
            let found = rest.prefix { $0.isLetter }
            guard found.lowercased() == word else { return false }
            rest = rest[found.endIndex...]
            skipBlanks()
            return true
        }
        skipBlanks()
        guard skip("with") else { return (false, String(rest), false) }
        return (skip("recursive"), String(rest), true)
    }
}

/// The rows of a statement as text.
package struct SQLRows {
    private static let first = 500

    private let format: RowFormat
    private let isVerbatim: Bool
    private var heads: [String] = []
    private var waiting: [[String]] = []
    private var numbers: Set<Int> = []
    private var layout: TableLayout?
    package private(set) var count = 0

    /// - Parameters:
    ///   - format: the format of the rows.
    ///   - isVerbatim: whether cells of CSV are written unchanged; see `RowWriter`.
    package init(_ format: RowFormat, isVerbatim: Bool = false) {
        (self.format, self.isVerbatim) = (format, isVerbatim)
    }

    /// The text before the rows.
    package mutating func begin(_ columns: [String], _ output: (String) throws -> Void) throws {
        heads = columns
        numbers = Set(columns.indices)
        switch format {
        case .csv: try output(CSVText.line(isVerbatim ? heads : heads.map(CSVText.guarded)))
        case .json: try output("[")
        case .jsonl, .table: break
        }
    }

    package mutating func write(_ row: [FieldValue], _ output: (String) throws -> Void) throws {
        count += 1
        switch format {
        case .csv:
            let cells = row.map { value -> String in
                if value == .string("") || value == .data(Data()) { return "\"\"" }
                return CSVText.quoted(isVerbatim ? CSVText.cell(value) : CSVText.guardedCell(value))
            }
            try output(cells.joined(separator: ",") + "\r\n")
        case .json: try output((count == 1 ? "\n  " : ",\n  ") + object(row))
        case .jsonl: try output(object(row) + "\n")
        case .table:
            for (index, value) in row.enumerated() where !value.isNumber { numbers.remove(index) }
            let cells = row.map { value -> String in
                if case .string(let text) = value { return TableLayout.part(of: DumpText.cell(text)) }
                return TableLayout.part(of: DumpText.text(of: value))
            }
            if let layout { return try output(layout.line(cells) + "\n") }
            waiting.append(cells)
            if waiting.count == Self.first { try beginTable({ $0 }, output) }
        }
    }

    /// The text after the rows.
    package mutating func end(
        bold: (String) -> String, quiet: (String) -> String, _ output: (String) throws -> Void
    ) throws {
        switch format {
        case .csv, .jsonl: break
        case .json: try output(count == 0 ? "]\n" : "\n]\n")
        case .table:
            if layout == nil { try beginTable(bold, output) }
            try output(quiet(TextTools.count(count, "row")) + "\n")
        }
    }

    private mutating func beginTable(_ bold: (String) -> String, _ output: (String) throws -> Void) throws {
        let heads = heads.map(TextTools.inOneLine)
        let made = TableLayout(heads: heads, rows: waiting, numbers: numbers)
        layout = made
        try output(bold(made.line(heads)) + "\n")
        for cells in waiting { try output(made.line(cells) + "\n") }
        waiting = []
    }

    private func object(_ row: [FieldValue]) -> String {
        JSONText.object(Array(zip(heads, row.map(DumpJSON.text(of:)))))
    }
}

extension FieldValue {
    /// Whether the value is a number, or there is none.
    fileprivate var isNumber: Bool {
        switch self {
        case .null, .integer, .double, .decimal: true
        default: false
        }
    }
}
