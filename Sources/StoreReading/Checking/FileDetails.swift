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
        let connection = try ReadingConnection.open(url)
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
}
