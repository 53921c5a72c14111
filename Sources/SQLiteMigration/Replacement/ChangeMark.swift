import Foundation
import MigrationPlans
import SQLiteConnection
import SQLiteEngine

/// Keeps others from writing to a store while its successor is made, and detects writes before the successor replaces
/// it.
///
/// A migration that makes a new store reads the old one for some time. What another program saved meanwhile would be
/// lost when the new store replaces the old one, so writers wait until then, and find that the model has changed.
/// Between the end of this lock and the beginning of the replacement's, a waiting writer may get in first; the
/// migration then starts again.
package final class ChangeMark {
    // Confined to the migration's thread.
    private let file: StoreFile
    private let lock: StoreFile
    private let version: Int64?
    /// Whether others can read the store while somebody writes.
    let isReadableWhileLocked: Bool

    /// Thrown if the store was written to.
    package struct Change: Error {}

    /// - Throws: 134090 if somebody else keeps the store locked for longer than the timeout.
    package init(_ url: URL, timeout: Double) throws {
        let file = try StoreFile.openForReading(url, timeout: timeout)
        let lock = try StoreFile.open(url, mode: .readWrite, timeout: timeout)
        self.file = file
        self.lock = lock
        (version, isReadableWhileLocked) = try file.run("prepare the migration of") {
            try lock.connection.begin(.immediate)
            return (
                try file.connection.integer("PRAGMA data_version"),
                try file.connection.string("PRAGMA journal_mode") == "wal"
            )
        }
    }

    /// Lets others write again.
    func letWritersIn() {
        // Nothing was written in it.
        try? lock.connection.rollback()
    }

    /// - Throws: ``Change`` if the store was written to.
    func check() throws {
        let now = try file.run("look at") { try file.connection.integer("PRAGMA data_version") }
        guard now == version else { throw Change() }
    }

    /// Does work that ends with a check, and repeats it if the check finds a change.
    ///
    /// - Throws: 134090 if it finds one each time.
    package static func retrying(_ url: URL, _ work: () throws -> Void) throws {
        for _ in 1..<10 {
            do { return try work() } catch is Change {}
        }
        do { try work() } catch is Change { throw MigrationError.changed(url) }
    }
}
