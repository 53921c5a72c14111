import CoreDataModel
import Foundation
import SQLiteEngine

/// Puts a migrated store in the place of the one that it was made from.
package enum StoreReplacement {
    /// - Parameters:
    ///   - store: the store to replace.
    ///   - migrated: the store that takes its place.
    ///   - options: the options that the store is opened with.
    ///   - mark: the moment when the old store was read.
    /// - Throws: `ChangeMark.Change` when the old store was written to since, and what SQLite and the file system report. The old
    ///   store is as it was then.
    package static func replace(
        _ store: URL, with migrated: URL, options: [AnyHashable: Any]?, since mark: ChangeMark
    ) throws {
        mark.letWritersIn()
        if !mark.isReadableWhileLocked { try mark.check() }
        try StoreFiles.replace(at: store, from: migrated, options: options, code: CoreDataErrorCode.migration) {
            if mark.isReadableWhileLocked { try mark.check() }
        }
    }
}
