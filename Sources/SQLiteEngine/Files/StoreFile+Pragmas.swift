import CompactCollections
import CoreDataModel
import Foundation
import Ordering
import SQLGeneration
import SQLiteConnection
import StoreEngine

extension StoreFile {
    /// Sets the journal mode. SQLite does not wait here for another process that does the same at this moment, so the
    /// statement is repeated.
    func setJournalMode(_ mode: String, timeout: Double) throws {
        let end = Date(timeIntervalSinceNow: timeout)
        while true {
            do { return try connection.execute("PRAGMA journal_mode = \(mode)") } catch let error as SQLiteError
                where error.isBusy && Date() < end
            { usleep(5_000) }
        }
    }

    /// Sets the developer's pragmas on the connection, except those that shape a new file.
    func apply(_ pragmas: [String: String]) throws {
        try run("set the pragmas of", fallback: CoreDataErrorCode.persistentStoreOpen) {
            try connection.execute("PRAGMA synchronous = NORMAL")
            for (name, value) in pragmas.ordered(by: { $0.key < $1.key })
            where !["page_size", "auto_vacuum"].contains(name) {
                guard let name = Self.word(name), let value = Self.word(value) else { continue }
                try connection.execute("PRAGMA \(name) = \(value)")
            }
        }
    }

    static func number(_ text: String?) -> Int? { text.flatMap { Int($0) } }

    /// A pragma's name or value, if it is a plain word or number, so that nothing else can get into the SQL.
    static func word(_ text: String?) -> String? {
        guard let text, !text.isEmpty,
            text.utf8.allSatisfy({ byte in
                byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
                    || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
            })
        else { return nil }
        return text
    }
}
