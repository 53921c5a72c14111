import Foundation
import SQLiteConnection

/// Remembers a moment in the life of a store, to tell later whether anybody has written to it since.
///
/// A migration that makes a new store reads the old one for a while. What another process saves meanwhile would be lost when
/// the new store takes the place of the old one.
struct ChangeMark {
    private let file: StoreFile
    private let version: Int64?
    /// Whether others can look at the store while somebody writes.
    let isReadableWhileLocked: Bool

    init(_ url: URL, timeout: Double) throws {
        let file = try StoreFile.openForReading(url, timeout: timeout)
        self.file = file
        (version, isReadableWhileLocked) = try file.run("prepare the migration of") {
            (
                try file.connection.integer("PRAGMA data_version"),
                try file.connection.string("PRAGMA journal_mode") == "wal"
            )
        }
    }

    /// - Throws: 134090 when the store was written to.
    func check() throws {
        let now = try file.run("look at") { try file.connection.integer("PRAGMA data_version") }
        guard now == version else { throw MigrationError.changed(file.url) }
    }
}
