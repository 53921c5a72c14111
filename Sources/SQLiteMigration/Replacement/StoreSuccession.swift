import Foundation
import SQLiteEngine

/// Makes the successor of a store, and puts it in the store's place: all of it, or nothing.
package enum StoreSuccession {
    /// Nobody else writes to the store meanwhile: whoever wants to waits, and finds another version of the model then.
    ///
    /// - Parameters:
    ///   - url: the store.
    ///   - make: makes the successor in a folder that is gone afterwards, and returns where it is; `nil` when none is needed any
    ///     more. Called again where somebody has written to the store in the moment before its replacement.
    /// - Throws: 134090 when somebody else is migrating the store, or keeps it locked; what the closure throws, and what SQLite and
    ///   the file system report. The store is as it was then.
    package static func run(at url: URL, _ make: (_ folder: URL) throws -> URL?) throws {
        let timeout = StoreSettings.defaultTimeout
        try ChangeMark.retrying(url) {
            try MigrationWorkspace.with(url, timeout: timeout) { workspace in
                let mark = try ChangeMark(url, timeout: timeout)
                guard let made = try make(workspace.folder) else { return }
                try StoreReplacement.replace(url, with: made, options: nil, since: mark)
            }
        }
    }
}
