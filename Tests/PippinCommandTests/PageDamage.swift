import Foundation
import TestSupport
import Testing

/// Makes the first page of a table, and of each of its indexes, no page of either.
func damage(_ table: String, in store: URL) throws {
    try execute("PRAGMA wal_checkpoint(TRUNCATE)", in: store)
    let size = try #require(try plainNumber("PRAGMA page_size", in: store))
    var bytes = try Data(contentsOf: store)
    let pages = "SELECT rootpage FROM sqlite_master WHERE tbl_name = '\(table)' AND type IN ('table', 'index')"
    for page in try plainNumbers(pages, in: store) { bytes[(page - 1) * Int(size)] = 0xFF }
    try bytes.write(to: store)
}
