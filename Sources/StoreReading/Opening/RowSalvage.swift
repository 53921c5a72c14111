import Foundation
import SQLGeneration
import SQLiteConnection
import SQLiteEngine

/// Copies what can be read of a damaged database. Rows on pages that cannot be read are left out; indexes are made
/// anew.
struct RowSalvage {
    private struct Entry {
        let type: String
        let name: String
        let sql: String
    }

    private let connection: Connection
    /// What was left out, in sentences without their final periods.
    private(set) var losses: [String] = []

    /// - Parameters:
    ///   - url: the database.
    ///   - connection: an empty database, which gets the copy.
    /// - Throws: SQLite's error for a database whose catalogue of tables cannot be read, or a copy that cannot be
    ///   written.
    init(of url: URL, into connection: Connection) throws {
        self.connection = connection
        let source = try Connection(path: url.path, mode: .readWrite)
        for connection in [source, connection] {
            // SQLite reads no row of a file that is shorter than it says, unless its catalogue may be mended.
            try connection.execute("PRAGMA writable_schema = ON")
        }
        try takeForm(of: source)
        let attachment = try connection.prepare("ATTACH ? AS damaged")
        try attachment.bind(url.path, at: 1)
        try attachment.run()
        let entries = try entries()
        // Without a transaction, in which SQLite would write nothing more after a damaged page.
        for entry in entries where entry.type == "table" {
            if try make(entry) { try copyRows(of: entry.name) }
        }
        for entry in entries where entry.type != "table" { try make(entry) }
        try connection.run(RowSalvageSQL.copyVirtualTables)
        try connection.execute("DETACH damaged; PRAGMA writable_schema = OFF")
    }

    /// What has to be said before the first table is made.
    private func takeForm(of source: Connection) throws {
        for setting in ["page_size", "encoding", "auto_vacuum"] {
            let value = try source.string("PRAGMA \(setting)") ?? ""
            try connection.execute("PRAGMA main.\(setting) = \"\(value)\"")
        }
    }

    private func entries() throws -> [Entry] {
        let statement = try connection.prepare(RowSalvageSQL.entries.sqlite.text)
        var entries: [Entry] = []
        while try statement.step() {
            entries.append(
                Entry(type: statement.string(at: 0), name: statement.string(at: 1), sql: statement.string(at: 2)))
        }
        return entries
    }

    /// Makes a table, an index, a trigger or a view.
    ///
    /// - Returns: false for one that cannot be made: a value is there twice, a collation is unknown, or its statement
    ///   is damaged.
    @discardableResult
    private mutating func make(_ entry: Entry) throws -> Bool {
        do { try connection.execute(entry.sql) } catch let error as SQLiteError
            where error.isConstraint || error.isInStatement
        {
            losses.append("the \(entry.type) “\(entry.name)” cannot be made: \(error.message)")
            return false
        }
        return true
    }

    // MARK: Rows

    private mutating func copyRows(of table: String) throws {
        // Without those that are computed.
        let columns = try connection.columnNames(ofTable: table)
        guard try hasKeys(table) else { return try copyFirstRows(of: table, columns) }
        var start = Int64.min
        while true {
            let (last, count, isEnd) = try readRows(of: table, from: start)
            if count > 0 { try connection.run(RowSalvageSQL.copy(table, columns, from: start, count: count)) }
            // No key comes after the greatest.
            if isEnd || last == .max { return }
            let bad = last.map { $0 + 1 } ?? start
            let next = try nextReadable(in: table, after: bad)
            let first = bad == .min ? "" : " from \(bad)"
            losses.append(
                "of the table “\(table)”, the rows\(first)\(next.map { " to \($0 - 1)" } ?? "") cannot be read, and are left out"
            )
            guard let next else { return }
            start = next
        }
    }

    /// Whether the rows of a table have keys by which reading can go on after damaged ones.
    private func hasKeys(_ table: String) throws -> Bool {
        do { _ = try connection.prepare(RowSalvageSQL.rows(of: table).sqlite.text) } catch let error as SQLiteError
            where error.isInStatement
        {
            return false
        }
        return true
    }

    /// Copies the rows before the first damaged one, in the order of the table.
    private mutating func copyFirstRows(of table: String, _ columns: [String]) throws {
        let statement = try connection.prepare(RowSalvageSQL.allRows(of: table).sqlite.text)
        var (count, isWhole) = (0, true)
        do { while try statement.step() { count += 1 } } catch let error as SQLiteError where error.isCorrupt {
            isWhole = false
        }
        statement.reset()
        if count > 0 { try connection.run(RowSalvageSQL.copy(table, columns, count: count)) }
        if !isWhole {
            losses.append(
                "of the table “\(table)”, the rows \(count == 0 ? "" : "after the first \(count) ")cannot be read, and are left out"
            )
        }
    }

    /// Reads rows from a key on, as long as their keys ascend.
    ///
    /// - Returns: the key of the last one that can be read, how many can be, and whether there are no more.
    private func readRows(
        of table: String, from start: Int64, atMost limit: Int = .max
    ) throws -> (last: Int64?, count: Int, isEnd: Bool) {
        let statement = try connection.statement(RowSalvageSQL.rows(of: table).sqlite.text)
        defer { statement.reset() }
        try statement.bind(start, at: 1)
        var (last, count): (Int64?, Int) = (nil, 0)
        do {
            while count < limit, try statement.step() {
                let key = statement.integer(at: 0)
                // A row of zeros, in what a page lacks, or one of another table.
                guard key >= start, last.map({ $0 < key }) ?? true else { return (last, count, false) }
                (last, count) = (key, count + 1)
            }
            return (last, count, true)
        } catch let error as SQLiteError where error.isCorrupt { return (last, count, false) }
    }

    /// The least key beyond a damaged row from which rows can be read again, if one key's being readable means that
    /// later ones are; nil if there is none.
    private func nextReadable(in table: String, after key: Int64) throws -> Int64? {
        // Nothing is known of the first row of a table.
        var (bad, step): (Int64, Int64) = (key == .min ? 0 : key, 1)
        func isReadable(_ key: Int64) throws -> Bool { try readRows(of: table, from: key, atMost: 1).isEnd }
        while true {
            let (candidate, isTooLarge) = bad.addingReportingOverflow(step)
            if isTooLarge { return nil }
            if try isReadable(candidate) {
                var good = candidate
                while good - bad > 1 {
                    let middle = bad + (good - bad) / 2
                    if try isReadable(middle) { good = middle } else { bad = middle }
                }
                return good
            }
            (bad, step) = (candidate, step << 1)
            if step <= 0 { return nil }
        }
    }
}
