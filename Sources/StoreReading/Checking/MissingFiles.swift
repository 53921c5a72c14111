import Foundation
import SQLiteEngine

/// The values of a store whose files are gone.
package enum MissingFiles {
    /// `1 of 3 files with values is missing`, for a store in a file; nil if there are all.
    package static func text(of store: URL) throws -> String? {
        text(of: try ExternalDataSummary(database: store, store: store))
    }

    static func text(of summary: ExternalDataSummary) -> String? {
        guard summary.missing > 0 else { return nil }
        return "\(summary.missing) of \(TextTools.count(summary.values, "file")) with values "
            + "\(summary.missing == 1 ? "is" : "are") missing"
    }
}
