import Foundation

/// A table as its declaration describes it: what records must look like to be rows of it.
package struct TableShape: Equatable, Sendable {
    package struct Column: Equatable, Sendable {
        package let name: String
        /// The declared type, in capitals; empty for none.
        package let type: String
        /// Whether the column stands for the row's key, so that records have null in its place.
        package internal(set) var isKey = false
        /// The integers that it may have; nil for any value.
        package var integers: ClosedRange<Int64>?
        /// The integers that it may have, one by one; nil for any value.
        package var choices: Set<Int64>?

        package init(name: String, type: String) { (self.name, self.type) = (name, type) }
    }

    package let name: String
    /// The page of its root.
    package let root: Int
    package var columns: [Column]

    package init(name: String, root: Int, columns: [Column]) {
        (self.name, self.root, self.columns) = (name, root, columns)
    }

    /// The tables of a database whose rows have numbers, by its schema.
    ///
    /// - Parameter pages: the database.
    /// - Returns: the tables; none for a database whose schema cannot be read.
    package static func all(in pages: DatabasePages) -> [TableShape] {
        var tables: [TableShape] = []
        pages.forEachRow(of: 1) { _, record, _ in
            guard record.values.count >= 5, record.values[0]?.string(pages.header.encoding) == "table",
                let name = record.values[1]?.string(pages.header.encoding),
                case .integer(let root)? = record.values[3], root > 1, root <= pages.count,
                let sql = record.values[4]?.string(pages.header.encoding), let columns = columns(of: sql)
            else { return }
            tables.append(TableShape(name: name, root: Int(root), columns: columns))
        }
        return tables
    }

    /// The columns that a statement declares.
    ///
    /// - Parameter sql: `CREATE TABLE …`, as SQLite keeps it.
    /// - Returns: `nil` for another statement, for a virtual table, and for a table without row numbers.
    package static func columns(of sql: String) -> [Column]? {
        var words = SQLWords(sql)
        guard words.next()?.keyword == "CREATE" else { return nil }
        while let word = words.next() {
            if word.keyword == "VIRTUAL" || word.keyword == "AS" { return nil }
            if word == .sign("(") { break }
        }
        var (columns, definition, depth): ([Column], [SQLWords.Word], Int) = ([], [], 1)
        var keys: [String] = []
        func add() {
            guard let first = definition.first else { return }
            if let word = first.keyword, ["PRIMARY", "UNIQUE", "CHECK", "FOREIGN", "CONSTRAINT"].contains(word) {
                let names = definition.drop { $0 != .sign("(") }.dropFirst().prefix { $0 != .sign(")") }
                if definition.contains(where: { $0.keyword == "PRIMARY" }), names.count == 1,
                    let name = names.first?.text
                {
                    keys.append(name.uppercased())
                }
                return
            }
            guard let name = first.text else { return }
            let constraints: Set = [
                "CONSTRAINT", "PRIMARY", "NOT", "NULL", "UNIQUE", "CHECK", "DEFAULT", "COLLATE", "REFERENCES",
                "GENERATED", "AS",
            ]
            let type = definition.dropFirst().prefix { $0.keyword.map { !constraints.contains($0) } ?? false }
            var column = Column(name: name, type: type.compactMap(\.text).joined(separator: " ").uppercased())
            let rest = definition.dropFirst(1 + type.count)
            // A computed column is in no record, unless it is stored.
            let isComputed = rest.contains { $0.keyword == "GENERATED" || $0.keyword == "AS" }
            if isComputed, !rest.contains(where: { $0.keyword == "STORED" }) { return }
            column.isKey = column.type == "INTEGER" && rest.contains { $0.keyword == "PRIMARY" }
            columns.append(column)
        }
        while depth > 0 {
            guard let word = words.next() else { return nil }
            if word == .sign("(") { depth += 1 } else if word == .sign(")") { depth -= 1 }
            if depth == 0 || (depth == 1 && word == .sign(",")) {
                add()
                definition = []
            } else {
                definition.append(word)
            }
        }
        while let word = words.next() { if word.keyword == "WITHOUT" { return nil } }
        for index in columns.indices where columns[index].type == "INTEGER" {
            if keys.contains(columns[index].name.uppercased()) { columns[index].isKey = true }
        }
        return columns.isEmpty ? nil : columns
    }

    // MARK: Fitting

    /// Whether values of these types can be a row.
    ///
    /// A record may have fewer values than the table has columns, since columns are added without touching rows.
    ///
    /// - Parameter types: the types of the values.
    /// - Returns: whether they can.
    func takes(_ types: some Collection<SerialType>) -> Bool {
        guard !types.isEmpty, types.count <= columns.count, types.count >= min(columns.count, 3) else { return false }
        return zip(columns, types).allSatisfy { $0.takes($1) }
    }

    /// Whether values can be a row: the numbers are among those that a column may have, and texts are texts.
    func takes(_ record: Record, _ encoding: DatabaseHeader.Encoding) -> Bool {
        zip(columns, record.values).allSatisfy { column, value in
            guard let value else { return true }
            switch value {
            case .integer(let number):
                return column.integers?.contains(number) != false && column.choices?.contains(number) != false
            case .null: return column.isKey || !column.isRestricted
            case .text: return value.string(encoding) != nil
            case .real(let number): return !number.isNaN
            case .blob: return true
            }
        }
    }

    /// How much the shape says: 1 for one that hardly anything else has, less for few columns, and for columns without
    /// restrictions.
    var strength: Double {
        let known = columns.filter { $0.isRestricted || $0.isKey }.count
        return columns.count < 4 ? 0.5 : known >= 2 ? 1 : columns.count >= 5 ? 0.8 : 0.5
    }
}

extension TableShape.Column {
    /// Whether only some integers can be in it.
    var isRestricted: Bool { integers != nil || choices != nil }

    /// Whether a value of a type can be in the column.
    func takes(_ type: SerialType) -> Bool {
        if isKey { return type.isNull }
        if isRestricted { return type.isInteger }
        if type.isNull { return true }
        switch self.type {
        case "INTEGER": return type.isInteger
        case "FLOAT", "DOUBLE", "REAL", "TIMESTAMP": return type.isInteger || type.isReal
        case "VARCHAR", "TEXT": return type.isText
        case "BLOB": return type.isBlob || type.isText
        case "DECIMAL", "NUMERIC": return !type.isBlob
        default: return true
        }
    }
}

/// The words of a statement, as far as declarations of tables need them.
struct SQLWords {
    enum Word: Equatable {
        case name(String)
        case quoted(String)
        case sign(Character)

        /// The word in capitals, if it is not quoted.
        var keyword: String? { if case .name(let text) = self { text.uppercased() } else { nil } }
        /// The word.
        var text: String? {
            switch self {
            case .name(let text), .quoted(let text): text
            case .sign: nil
            }
        }
    }

    private let characters: [Unicode.Scalar]
    private var place = 0

    init(_ text: String) { characters = Array(text.unicodeScalars) }

    /// The next word; nil at the end.
    mutating func next() -> Word? {
        while place < characters.count {
            let first = characters[place]
            if first.properties.isWhitespace {
                place += 1
            } else if first == "-", place + 1 < characters.count, characters[place + 1] == "-" {
                while place < characters.count, characters[place] != "\n" { place += 1 }
            } else if first == "/", place + 1 < characters.count, characters[place + 1] == "*" {
                place += 2
                while place < characters.count, !(characters[place] == "/" && characters[place - 1] == "*") {
                    place += 1
                }
                place += 1
            } else if first == "\"" || first == "'" || first == "`" || first == "[" {
                return .quoted(quoted(until: first == "[" ? "]" : first))
            } else if Self.isPart(first) {
                let start = place
                while place < characters.count, Self.isPart(characters[place]) { place += 1 }
                var text = String.UnicodeScalarView()
                text.append(contentsOf: characters[start..<place])
                return .name(String(text))
            } else {
                place += 1
                return .sign(Character(first))
            }
        }
        return nil
    }

    /// A quoted word. Its end is there twice where it is a part of the word.
    private mutating func quoted(until end: Unicode.Scalar) -> String {
        var text = String.UnicodeScalarView()
        place += 1
        while place < characters.count {
            let scalar = characters[place]
            place += 1
            if scalar == end {
                guard place < characters.count, characters[place] == end, end != "]" else { break }
                place += 1
            }
            text.append(scalar)
        }
        return String(text)
    }

    private static func isPart(_ scalar: Unicode.Scalar) -> Bool {
        scalar == "_" || scalar == "$" || scalar.value >= 0x80 || scalar.properties.isAlphabetic
            || ("0"..."9").contains(scalar)
    }
}
