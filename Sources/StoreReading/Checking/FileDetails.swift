import Foundation
import SQLGeneration
import SQLiteConnection
import SQLiteEngine

/// The facts about a store's file, in words.
package struct FileDetails {
    package private(set) var facts: [(String, String)] = []

    /// - Throws: SQLite's errors.
    package init(of url: URL) throws {
        let attributes = try? FileManager.default.attributesOfItem(atPath: url.path)
        let size = (attributes?[.size] as? NSNumber)?.int64Value ?? 0
        facts.append(("size", "\(TextTools.size(size)) (\(TextTools.grouped(size)) bytes)"))
        if let date = attributes?[.modificationDate] as? Date {
            facts.append(("last written", TextTools.iso8601(date.timeIntervalSinceReferenceDate)))
        }
        guard (try? StoreKind(of: url)) == .sqlite else { return }
        let connection = try Self.connection(url)
        func number(_ pragma: String) throws -> Int64 { try connection.integer("PRAGMA \(pragma)") ?? 0 }
        let (pages, free) = (try number("page_count"), try number("freelist_count"))
        facts.append(
            (
                "pages",
                "\(TextTools.grouped(pages)) of \(TextTools.grouped(try number("page_size"))) bytes, \(TextTools.grouped(free)) of them free"
            ))
        facts.append(("journal", try connection.string("PRAGMA journal_mode") ?? ""))
        let log = try? FileManager.default.attributesOfItem(atPath: url.path + "-wal")
        if let size = (log?[.size] as? NSNumber)?.int64Value, size > 0 {
            facts.append(("write-ahead log", TextTools.size(size)))
        }
        facts.append(("text encoding", try connection.string("PRAGMA encoding") ?? ""))

    }

    /// A connection that changes nothing, with the collations that indexes may have, and the functions of checks.
    static func connection(_ url: URL) throws -> Connection {
        var connection = try Connection(path: url.path, mode: .readOnly)
        do { _ = try connection.integer("PRAGMA schema_version") } catch let error as SQLiteError
            where error.isCannotOpen || error.isReadOnly
        {
            connection = try Connection(path: url.path, mode: .immutable)
        }
        try StoreFunctions.register(on: connection, derived: DerivedValues())
        try connection.register(function: ValueCheckSQL.isUTF8, argumentCount: 1) { arguments in
            let bytes = arguments.data(at: 0) ?? Data()
            return .integer(String(validating: bytes, as: UTF8.self) == nil ? 0 : 1)
        }
        return connection
    }
}
