import CompactCollections
import CoreDataModel
import Foundation
import SQLiteEngine

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
