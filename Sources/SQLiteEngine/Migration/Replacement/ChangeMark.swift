import CoreDataModel
import Foundation
import MigrationPlans
import SQLiteConnection

/// Keeps others from writing to a store while its successor is made, and detects writes before the successor replaces
/// it.
///
/// A migration that makes a new store reads the old one for some time. What another program saved meanwhile would be
/// lost when the new store replaces the old one, so writers wait until then, and find that the model has changed.
/// Between the end of this lock and the beginning of the replacement's, a waiting writer may get in first; the
/// migration then starts again.
package final class ChangeMark {
    // Confined to the migration's thread.

    /// The store, through which it is also replaced: its connection sees the others' changes even while it keeps
    /// everybody out.
    let file: StoreFile
    private let version: UInt32

    /// Thrown if the store was written to.
    package struct Change: Error {}

    /// - Throws: 134090 if somebody else keeps the store locked for longer than the timeout.
    package init(_ url: URL, timeout: Double) throws {
        let file = try StoreFile.open(url, mode: .readWrite, timeout: timeout)
        self.file = file
        version = try file.run("prepare the migration of") {
            try file.connection.begin(.immediate)
            return try file.connection.dataVersion()
        }
    }

    /// Lets others write again.
    func letWritersIn() {
        // Nothing was written in it.
        try? file.connection.rollback()
    }

    /// Called while the connection keeps others from writing.
    ///
    /// - Throws: ``Change`` if the store was written to.
    func check() throws {
        let now = try file.run("look at") { try file.connection.dataVersion() }
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

/// Replaces a store by the migrated one that was made from it.
package enum StoreReplacement {
    /// - Parameters:
    ///   - store: the store to replace.
    ///   - migrated: the store that replaces it.
    ///   - options: the options with which the store is opened.
    ///   - mark: the moment at which the old store was read.
    /// - Throws: `ChangeMark.Change` if the old store was written to since, and the errors of SQLite and the file
    ///   system. The old store is then unchanged.
    package static func replace(
        _ store: URL, with migrated: URL, options: [AnyHashable: Any]?, since mark: ChangeMark
    ) throws {
        mark.letWritersIn()
        try StoreFiles.replace(
            at: store, from: migrated, options: options, code: CoreDataErrorCode.migration, into: mark.file
        ) { try mark.check() }
    }
}
