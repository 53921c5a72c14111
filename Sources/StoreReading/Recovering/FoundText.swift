import Foundation
import SQLiteConnection
import StoreEngine

/// What was found in a store's files, as JSON Lines.
///
/// What is said of an object, and what the store has of it, are apart: the latter is in the member `properties`.
package enum FoundText {
    /// The kind of place that an object comes from, without a number.
    package static func kind(_ origin: StoreRecovery.Origin) -> String {
        switch origin {
        case .live: "live"
        case .history: "history"
        case .found(let row):
            switch row.origin {
            case .file, .interrupted: "file"
            case .journal: "journal"
            case .frame: "frame"
            case .freePage: "free page"
            case .freeBlock: "free block"
            case .unallocated: "unallocated space"
            }
        }
    }

    /// `live`, `file`, `journal 3`, `frame 12`, `free page 7`, `free block of page 3`, `unallocated space of
    /// page 3`, `history`.
    package static func origin(_ origin: StoreRecovery.Origin) -> String {
        guard case .found(let row) = origin else { return kind(origin) }
        switch row.origin {
        case .file, .interrupted: return kind(origin)
        case .journal(let number): return "\(kind(origin)) \(number)"
        case .frame(let number, _): return "\(kind(origin)) \(number)"
        case .freePage: return "\(kind(origin)) \(row.page)"
        case .freeBlock, .unallocated: return "\(kind(origin)) of page \(row.page)"
        }
    }

    /// What a frame is that SQLite does not read; nil for one that it reads, and for other origins.
    package static func state(_ origin: RecoveredRow.Origin) -> String? {
        switch origin {
        case .interrupted: "taken back by the journal"
        case .frame(_, .uncommitted): "uncommitted"
        case .frame(_, .broken): "written in part"
        case .frame(_, .earlier): "earlier round of the log"
        default: nil
        }
    }

    /// Writes an object as one line.
    ///
    /// - Parameters:
    ///   - object: the object.
    ///   - origin: where it comes from.
    ///   - style: how values are shown, and what is beside them.
    ///   - output: takes the text.
    /// - Throws: the errors of `output`.
    package static func write(
        _ object: FoundObject, _ origin: StoreRecovery.Origin, _ style: ValueStyle, _ output: (String) throws -> Void
    ) throws {
        var head: [(String, String)] = [("origin", JSONText.string(self.origin(origin)))]
        switch origin {
        case .live: break
        case .found(let row):
            if let state = state(row.origin) { head.append(("state", JSONText.string(state))) }
            if let commit = row.commit { head.append(("commit", "\(commit)")) }
            if let frame = row.frame { head.append(("frame", "\(frame)")) }
            head += [
                ("page", "\(row.page)"), ("offset", "\(row.offset)"),
                ("confidence", JSONText.number((row.confidence * 100).rounded() / 100)),
            ]
        case .history(_, let transaction):
            head += [("change", JSONText.string("delete"))] + HistoryText.members(transaction, style)
        }
        if let entity = object.entityName {
            head.append(("entity", JSONText.string(entity)))
        } else {
            head.append(("table", JSONText.string(object.table)))
        }
        head.append(("key", object.key.map { "\($0)" } ?? "null"))
        if let version = object.version { head.append(("version", "\(version)")) }
        if let uri = object.uri { head.append((ObjectHead.name, JSONText.string(uri))) }
        try output(
            "{" + head.map { "\(JSONText.string($0.0)): \($0.1)" }.joined(separator: ", ") + ", \"properties\": {")
        let entity = object.entityName ?? object.table
        for (index, field) in object.fields.enumerated() {
            try output("\(index > 0 ? ", " : "")\(JSONText.string(field.name)): ")
            let value = style.inZone(style.shown(field.value, field.name, of: entity))
            if LongText.isLong(value) {
                try LongText.writeJSON(value, isLine: true, output)
            } else {
                try output(RowWriter.withoutLineBreaks(DumpJSON.text(of: value)))
            }
        }
        let fields = object.fields.map { (name: $0.name, value: $0.value) }
        let members = style.members(beside: fields, of: entity, marks: true)
        try output("}" + members.map { ", \(JSONText.string($0.0)): \($0.1)" }.joined() + "}\n")
    }
}

/// A plain SQLite file with what was found: a table for each entity, with the columns of `FoundText` under names that
/// begin with an underscore, and the properties under their own names. Dates are texts in ISO 8601.
package final class FoundStore {
    private let connection: Connection
    private var statements: [String: (statement: Statement, fields: [String])] = [:]
    private static let head = ["_origin", "_state", "_commit", "_frame", "_page", "_offset", "_confidence", "_key"]
    /// SQLite's tables have at most 2,000 columns.
    private static let mostColumns = 1900

    /// - Parameter url: the file to make, where nothing is.
    /// - Throws: SQLite's errors.
    package init(at url: URL) throws {
        connection = try Connection(path: url.path, mode: .create)
        try connection.execute("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN")
    }

    /// Adds an object that was found in the files; those that the store has are not added.
    ///
    /// - Throws: SQLite's errors.
    package func add(_ object: FoundObject, _ origin: StoreRecovery.Origin) throws {
        guard case .found(let row) = origin else { return }
        let name = object.entityName ?? object.table
        let (statement, fields) = try statement(name, object.fields.map(\.name))
        statement.reset()
        try statement.bind(FoundText.origin(origin), at: 1)
        try bind(FoundText.state(row.origin), at: 2, statement) { try statement.bind($0, at: 2) }
        try bind(row.commit.map { Int64($0) }, at: 3, statement) { try statement.bind($0, at: 3) }
        try bind(row.frame.map { Int64($0) }, at: 4, statement) { try statement.bind($0, at: 4) }
        try statement.bind(Int64(row.page), at: 5)
        try statement.bind(Int64(row.offset), at: 6)
        try statement.bind((row.confidence * 100).rounded() / 100, at: 7)
        try bind(object.key, at: 8, statement) { try statement.bind($0, at: 8) }
        let values = Dictionary(object.fields.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first })
        for (index, field) in fields.enumerated() {
            try bind(values[field] ?? .null, at: Int32(Self.head.count + index + 1), statement)
        }
        _ = try statement.step()
        statement.reset()
    }

    /// Ends the writing.
    ///
    /// - Throws: SQLite's errors.
    package func finish() throws {
        statements = [:]
        try connection.execute("COMMIT")
    }

    private func bind<Value>(
        _ value: Value?, at index: Int32, _ statement: Statement, _ body: (Value) throws -> Void
    ) throws {
        if let value { try body(value) } else { try statement.bindNull(at: index) }
    }

    private func bind(_ value: FieldValue, at index: Int32, _ statement: Statement) throws {
        switch value {
        case .null, .noObject, .missing, .unknown: try statement.bindNull(at: index)
        case .boolean(let value): try statement.bind(value ? 1 : 0 as Int64, at: index)
        case .integer(let value): try statement.bind(value, at: index)
        case .double(let value): try statement.bind(value, at: index)
        case .data(let data), .archive(let data): try statement.bind(data, at: index)
        case .object(let link): try statement.bind(link.key, at: index)
        default: try statement.bind(CSVText.cell(value), at: index)
        }
    }

    /// The statement for a table, which is made with the fields of its first object.
    private func statement(_ table: String, _ names: [String]) throws -> (statement: Statement, fields: [String]) {
        // SQLite compares names without case.
        let key = table.lowercased()
        if let known = statements[key] { return known }
        var seen = Set(Self.head)
        let fields = names.filter { seen.insert($0.lowercased()).inserted }.prefix(Self.mostColumns)
        let columns = (Self.head + fields).map(Self.quoted).joined(separator: ", ")
        // A name that SQLite keeps for itself, and that a file may say, is not one for a table.
        let name = key.hasPrefix("sqlite_") ? "_\(table)" : table
        try connection.execute("CREATE TABLE IF NOT EXISTS \(Self.quoted(name)) (\(columns))")
        let marks = Array(repeating: "?", count: Self.head.count + fields.count).joined(separator: ", ")
        let statement = try connection.prepare("INSERT INTO \(Self.quoted(name)) (\(columns)) VALUES (\(marks))")
        statements[key] = (statement, Array(fields))
        return (statement, Array(fields))
    }

    /// A name in quotation marks. No name has a zero byte, which would end the statement.
    private static func quoted(_ name: String) -> String {
        "\"" + TextTools.replacing(0x22, with: "\"\"", in: TextTools.replacing(0, with: "", in: name)) + "\""
    }
}
