import Foundation
import SQLiteConnection

/// A write-ahead log with which a store is damaged, and without which it is not, such as that of another store, left or
/// copied beside it. Nothing in a log says which database it is of.
enum ForeignLog {
    /// What to say of such a log.
    ///
    /// - Parameter url: the file of the store, beside its log.
    /// - Returns: the end of a sentence without its period; empty for none, and if the file itself is cut off.
    static func text(_ url: URL) -> String {
        let log = url.resolvingSymlinksInPath().path + "-wal"
        let attributes = try? FileManager.default.attributesOfItem(atPath: log)
        guard let size = (attributes?[.size] as? NSNumber)?.int64Value, size > 0,
            SQLiteHeader(of: url)?.missingBytes == nil,
            // Damage that is in the file itself does not come from the log.
            let connection = try? Connection(path: url.path, mode: .immutable),
            let names = try? connection.tableNames(), names.isSuperset(of: ["Z_METADATA", "Z_PRIMARYKEY"]),
            (try? connection.string("PRAGMA quick_check(1)")) == "ok"
        else { return "" }
        return "; without its write-ahead log “\(log)” it is readable, so that the log may be another store's: "
            + "look at a copy of the file alone"
    }
}
