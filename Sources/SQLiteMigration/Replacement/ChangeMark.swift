import Foundation
import MigrationPlans
import SQLiteConnection
import SQLiteEngine

/// Keeps others from writing to a store while its successor is made, and makes sure that nobody has when that takes its place.
///
/// A migration that makes a new store reads the old one for a while. What another program saved meanwhile would be lost when the
/// new store takes the place of the old one: writers wait until it is there, and find that the model is another one now. Between
/// the end of that lock and the one of the replacement is a moment in which somebody who waited can be first; then the migration
/// begins anew.
package final class ChangeMark {
    // Confined to the thread of the migration.
    private let file: StoreFile
    private let lock: StoreFile
    private let version: Int64?
    /// Whether others can look at the store while somebody writes.
    let isReadableWhileLocked: Bool

    /// Says that the store was written to.
    package struct Change: Error {}

    /// - Throws: 134090 when somebody else keeps the store locked for longer than the timeout.
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

    /// - Throws: ``Change`` when the store was written to.
    func check() throws {
        let now = try file.run("look at") { try file.connection.integer("PRAGMA data_version") }
        guard now == version else { throw Change() }
    }

    /// Does work that ends with a check, anew where that finds a change.
    ///
    /// - Throws: 134090 when it finds one each time.
    package static func retrying(_ url: URL, _ work: () throws -> Void) throws {
        for _ in 1..<10 {
            do { return try work() } catch is Change {}
        }
        do { try work() } catch is Change { throw MigrationError.changed(url) }
    }
}
